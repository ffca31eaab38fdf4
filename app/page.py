"""The page: layout and wiring."""

from pathlib import Path

import gradio as gr

from app.handlers import Handlers, PlayerValue
from app.sounds import Sounds
from app.studio import Studio
from core.engine import MAX_GAMMA
from core.verify import RULES

ASSETS = Path(__file__).parents[1] / "assets"
EXAMPLES = (
    "A small model guesses ahead, and a large one checks the guesses.",
    "Why does the moon look larger when it is close to the horizon?",
    "Dr. Smith paid $3.12 for 1/2 a pie at 9:30 on St. John's Street.",
    "It was the best of times, it was the worst of times. It was the age of wisdom, "
    "it was the age of foolishness.",
)
LONGEST_TEXT = 20_000  # characters
HOLD = """() => {
  document.querySelector("#speak").disabled = true; // at once; the update takes a while
  return {__type__: "update", interactive: false};
}"""
RELEASE = "() => ({__type__: 'update', interactive: true})"
COUNT_CHARACTERS = "text => `${[...text].length.toLocaleString()} characters`"

PRESS_SPEAK = "() => document.querySelector('#speak').click()"


def build_page(studio: Studio) -> gr.Blocks:
    """The page over one engine; everything it shows comes from `Handlers`."""
    handlers = Handlers(studio, sounds := Sounds())
    # Without analytics_enabled=False Gradio would report to its makers at every start.
    with gr.Blocks(title="Forespeak", analytics_enabled=False, fill_width=True) as page:
        gr.HTML(
            "<h1>Forespeak</h1><p>Speech by lossless speculative decoding: a small draft guesses "
            "the next codec tokens, the target checks the guesses in one pass.</p>",
            elem_id="heading",
        )
        # In one column, on a phone, this is also the order from top to bottom.
        with gr.Row():
            with gr.Column(scale=3):
                text = gr.Textbox(
                    EXAMPLES[0], label="Text", lines=3, max_lines=12, max_length=LONGEST_TEXT
                )
                count = gr.HTML(f"{len(EXAMPLES[0])} characters", elem_id="count")
                with gr.Row():
                    speak = gr.Button(
                        "Speak", variant="primary", elem_id="speak", interactive=False
                    )
                    stop = gr.Button("Stop", elem_id="stop")
                player = _player(sounds)
                gr.Examples([[example] for example in EXAMPLES], text, label="Examples")
            with gr.Column(scale=2):
                controls = _controls()
                metrics = gr.HTML(elem_id="metrics")
        # Listeners on one id take turns: there is one model and one processor.
        model = {"concurrency_id": "model", "concurrency_limit": 1}
        quiet = {"show_progress": "hidden", "api_visibility": "private"}
        # Disabled in the browser, before the server hears of it: a second press must not queue.
        press = speak.click(None, None, speak, js=HOLD, **quiet)
        run = press.then(
            handlers.speak,
            [text, *controls],
            [player, metrics],
            api_name="run",  # /speak is the public one below
            **model,
            **quiet,
        )
        run.then(None, None, speak, js=RELEASE, **quiet)
        stop.click(handlers.stop, None, player, cancels=run, queue=False, **quiet)
        stop.click(None, None, speak, js=RELEASE, **quiet)
        text.submit(None, js=PRESS_SPEAK, **quiet)
        text.change(None, text, count, js=COUNT_CHARACTERS, **quiet)
        page.load(handlers.greet, None, [player, speak], **quiet)
        _api(handlers, [text, *controls], model)
    return page


def _controls() -> list[gr.components.Component]:
    """Settings, in the order in which the handlers take them."""
    with gr.Row():
        gamma = gr.Slider(0, MAX_GAMMA, 4, step=1, label="γ (0: baseline)")
        temperature = gr.Slider(0, 2, 0.8, step=0.05, label="Temperature")
    with gr.Row():
        rule = gr.Dropdown(list(RULES), value="lossless", label="Rule")
        seed = gr.Number(0, label="Seed", precision=0)
        rate = gr.Slider(0.5, 2, 1, step=0.05, label="Speaking rate")
    return [gamma, temperature, rule, seed, rate]


def _player(sounds: Sounds) -> gr.HTML:
    """The player of assets/player.js: Web Audio, for Gradio's own would need ffmpeg."""

    def sound(wanted: tuple[str, int]) -> list[str]:
        run, first = wanted
        return sounds.fetch(run, first)

    value: PlayerValue = {"status": "", "kind": "busy"}
    return gr.HTML(
        value,
        html_template=(ASSETS / "player.html").read_text(encoding="utf-8"),
        js_on_load=(ASSETS / "player.js").read_text(encoding="utf-8"),
        server_functions=[sound],
        elem_id="player",
    )


def _api(handlers: Handlers, inputs: list[gr.components.Component], model: dict) -> None:
    """The endpoint /speak: hidden components say that a WAV file and a JSON object come back."""
    wav = gr.Audio(visible=False, label="WAV")
    metrics = gr.JSON(visible=False, label="Metrics")
    hidden = gr.Button(visible=False)
    hidden.click(handlers.synthesize, inputs, [wav, metrics], api_name="speak", **model)
