"""The page: layout and wiring."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from starlette.routing import Route

from app.bench.handlers import BenchHandlers, Boards
from app.bench.routes import build_routes as bench_routes
from app.bench.tab import bench_form, open_button
from app.controls import EXAMPLES, character_count, settings_controls, speaker_controls, text_box
from app.handlers import LIVE_TAB, NO_RUN, Handlers
from app.learn.handlers import LearnHandlers
from app.learn.recordings import Recordings
from app.learn.routes import build_routes as learn_routes
from app.listen.handlers import ListenHandlers
from app.listen.routes import build_routes as listen_routes
from app.listen.store import Store, default_folder
from app.listen.tab import test_form
from app.routes import build_routes
from app.runs import Runs
from app.studio import Studio

ASSETS = Path(__file__).parents[1] / "assets"
OLD = 3600  # seconds after which files that were uploaded or downloaded are deleted

# Enter in the text presses the button of the tab that shows.
PRESS = """() => {
  const shown = ["race", "speak", "record"].map((id) => document.getElementById(id));
  shown.find((button) => button?.offsetParent)?.click();
}"""
LISTEN_TAB = "listen"
# The address of a listening test leads to its tab.
TURN_TO_TEST = """() => {
  const asked = new URLSearchParams(location.search).has("listen");
  return asked ? { __type__: "update", selected: "listen" } : { __type__: "update" };
}"""
# The value never enters the template: it only tells the module which run to follow. The address
# is without a password that somebody typed into it: scripts are not fetched with one.
MOUNT = """
import(new URL("forespeak/page/{module}.js", location.origin + location.pathname))
  .then((page) => page.mount(element, {{ props, watch }}));
"""
QUIET: dict[str, Any] = {
    "queue": False,
    "show_progress": "hidden",
    "api_visibility": "private",
}
CALLS = 8  # of the API that may wait for their turn at once; further ones wait to be heard


@dataclass(frozen=True)
class Page:
    """What Gradio serves: its blocks, and the routes that the page's scripts ask."""

    blocks: gr.Blocks
    routes: list[Route]

    def close(self) -> None:
        """Stop serving."""
        self.blocks.close(verbose=False)


def build_page(
    studio: Studio,
    voice: str,
    traces: Path = ASSETS / "traces",
    lessons: Path = ASSETS / "lessons",
    tests: Path | None = None,
    lan: str | None = None,
) -> Page:
    """The page over a studio; voice: the one it begins with; traces: the folder of its saved
    runs; lessons: that of its chapters and what they show; tests: that of its listening tests, by
    default one of the user's; lan: the page's address on the local network."""
    runs, scripts = Runs(), ASSETS / "page"
    recordings = Recordings(studio, runs, lessons)
    saved = {path.stem: path for path in sorted(traces.glob("*.json"))}
    handlers = Handlers(studio, runs, saved)
    store = Store(tests or default_folder())
    listening = ListenHandlers(studio, runs, store, lan)
    learning = LearnHandlers(runs, recordings)
    boards = Boards()
    comparing = BenchHandlers(studio, runs, boards)
    blocks = _lay_out(handlers, listening, learning, comparing, voice, list(saved))
    routes = build_routes(studio, voice, runs, scripts)
    routes += learn_routes(studio, voice, recordings, lessons, scripts)
    routes += listen_routes(store, lan)
    routes += bench_routes(boards)
    return Page(blocks, routes)


def _lay_out(
    handlers: Handlers,
    listening: ListenHandlers,
    learning: LearnHandlers,
    comparing: BenchHandlers,
    voice: str,
    traces: list[str],
) -> gr.Blocks:
    # Without analytics_enabled=False Gradio would report to its makers at every start.
    with gr.Blocks(
        title="Forespeak", analytics_enabled=False, fill_width=True, delete_cache=(OLD, OLD)
    ) as page:
        gr.HTML(
            "<h1>Forespeak</h1><p>A small draft guesses the next codec tokens, the target checks "
            "them in one pass: the same distribution, sooner.</p>",
            elem_id="heading",
        )
        # What opens takes a row of its own: see the style sheet.
        with gr.Row(elem_id="ask"):
            with gr.Column(scale=6, min_width=300):
                text = text_box()
                character_count(text)
            with gr.Column(scale=2, min_width=150), _folded("Settings"):
                order = [text, *settings_controls(voice)]
                speakers = speaker_controls()
                who, draft, *_, temperature, top_p = order[1:7]
                chosen = gr.State(voice)
            with gr.Column(scale=2, min_width=150), _folded("Examples"):
                gr.Examples([[example] for example in EXAMPLES], text, label="Texts")
                saved, open_saved, open_trace = _saved_runs(traces)
        with gr.Tabs(elem_id="tabs") as tabs:
            with gr.Tab("Live", id=LIVE_TAB):
                speak, live = _stage("live", "Speak", "speak", "stop")
            with gr.Tab("Race", id="race"):
                start_race, race = _stage("race", "Race", "race", "stop-race")
            with gr.Tab("Listen", id=LISTEN_TAB, elem_id="listen-tab"):
                with gr.Column(elem_id="listen-form"):  # listeners do not see it
                    test = test_form()
                prepare, listen = _stage("listen", "Prepare", "prepare", "stop-prepare")
            with gr.Tab("Learn", id="learn"):
                start_record, learn = _stage("learn", "Record my sentence", "record", "stop-record")
            with gr.Tab("Bench", id="bench", elem_id="bench-tab"):
                compared = bench_form()
                open_bench = open_button()
                compare, bench = _stage("bench", "Compare", "bench", "stop-bench")
        # Answered at once, so nothing waits in Gradio's own queue; whose turn it is to speak is
        # decided in the run. Stop is a route, which the page's scripts ask themselves.
        speak.click(handlers.speak, [*speakers, *order], live, api_name="run", **QUIET)
        start_race.click(handlers.race, order, race, **QUIET)
        prepare.click(listening.prepare, [*test, *order[1:]], listen, **QUIET)
        start_record.click(learning.record, order, learn, **QUIET)
        compare.click(comparing.start, [*compared, *order[1:]], bench, **QUIET)
        open_bench.upload(comparing.open, open_bench, bench, **QUIET)
        open_saved.click(handlers.replay_saved, saved, [live, tabs], **QUIET)
        open_trace.upload(handlers.replay_file, open_trace, [live, tabs], **QUIET)
        text.submit(None, js=PRESS, **QUIET)
        loud = QUIET | {"queue": True}  # only the queue carries messages
        draws = [temperature, top_p]
        who.select(handlers.choose, [who, chosen, draft], [who, chosen, draft, *draws], **loud)
        page.load(handlers.voices, None, who, **QUIET)
        page.load(handlers.outputs, None, speakers, **QUIET)
        page.load(None, None, tabs, js=TURN_TO_TEST, **QUIET)
        _api(handlers, order)
    return page


def _folded(label: str) -> gr.Accordion:
    return gr.Accordion(label, open=False, elem_id=label.lower(), elem_classes="folded")


def _stage(module: str, label: str, start_id: str, stop_id: str) -> tuple[gr.Button, gr.HTML]:
    """The buttons of a tab and where its module draws; the button that starts a run, and that."""
    with gr.Row(elem_classes="start"):
        start = gr.Button(label, variant="primary", elem_id=start_id)
        gr.Button("Stop", elem_id=stop_id)
    return start, _module(module)


def _module(name: str) -> gr.HTML:
    """Where one of the page's scripts draws."""
    return gr.HTML(
        NO_RUN, html_template="", js_on_load=MOUNT.format(module=name), elem_id=f"{name}-stage"
    )


def _saved_runs(traces: list[str]) -> tuple[gr.Dropdown, gr.Button, gr.UploadButton]:
    """Traces that came with the program, by name, and a way to open others."""
    saved = gr.Dropdown(
        [(name.replace("-", " "), name) for name in traces],
        value=traces[0] if traces else None,
        label="Saved run",
        info="Shown as it was measured, without any model.",
        elem_id="saved",
    )
    with gr.Row():
        open_saved = gr.Button("Open", elem_id="open-saved", interactive=bool(traces))
        open_trace = gr.UploadButton(
            "Open a trace file…", file_types=[".json"], elem_id="open-trace"
        )
    return saved, open_saved, open_trace


def _api(handlers: Handlers, order: list[gr.components.Component]) -> None:
    """The endpoint /speak: hidden components say what comes back."""
    wav = gr.Audio(visible=False, label="WAV")
    trace = gr.JSON(visible=False, label="Trace")
    metrics = gr.JSON(visible=False, label="Metrics")
    gr.Button(visible=False).click(
        handlers.synthesize, order, [wav, trace, metrics], api_name="speak", concurrency_limit=CALLS
    )
