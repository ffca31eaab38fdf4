"""The controls that Live and Race share, in the order in which `Order.from_controls` takes them."""

import gradio as gr

from app.handlers import DEFAULT_OUTPUT
from app.orders import ADAPTIVE, AUTOMATIC, LONGEST_TEXT
from app.voices import draft_choices, offer, voice_choices
from core.engine import MAX_GAMMA
from core.sampling import Sampling
from core.verify import RULES, Rule
from core.voices.catalog import recommended_sampling

EXAMPLES = (
    "A small model guesses ahead, and a large one checks the guesses.",
    "Why does the moon look larger when it is close to the horizon?",
    "Dr. Smith paid $3.12 for 1/2 a pie at 9:30 on St. John's Street.",
    "It was the best of times, it was the worst of times. It was the age of wisdom, "
    "it was the age of foolishness.",
)
WIDTH = 210  # pixels that a control needs at least: five in a row of the settings, one on a phone
COUNT_CHARACTERS = "text => `${[...text].length.toLocaleString()} characters`"


def text_box() -> gr.Textbox:
    """The text to speak."""
    return gr.Textbox(
        EXAMPLES[0],
        label="Text",
        show_label=False,  # for screen readers: it would cost a line of the stage
        container=False,
        placeholder="Type what to say",
        lines=1,
        max_lines=6,
        max_length=LONGEST_TEXT,
        elem_id="text",
    )


def character_count(text: gr.Textbox) -> None:
    """How long the text is, as it is typed."""
    count = gr.HTML(f"{len(EXAMPLES[0])} characters", elem_id="count")
    text.change(
        None, text, count, js=COUNT_CHARACTERS, show_progress="hidden", api_visibility="private"
    )


def rule_title(rule: Rule) -> str:
    """Its title, and what it costs."""
    return rule.title if rule.lossless else f"{rule.title} (not lossless)"


def settings_controls(voice: str) -> list[gr.components.Component]:
    """Everything of an order but its text."""
    with gr.Row(elem_classes="settings"):
        who, *guesses, tolerance = _guessing(voice)
        return [who, *guesses, *_speaking(recommended_sampling(voice)), tolerance]


def _guessing(voice: str) -> list[gr.components.Component]:
    """Voice, draft, rule, γ; and, where it is looked for, the tolerance."""
    drafts = draft_choices(offer(voice))
    return [
        gr.Dropdown(
            voice_choices(),
            value=voice,
            label="Voice",
            info="Who speaks.",
            min_width=WIDTH,
            elem_id="voice",
        ),
        gr.Dropdown(
            drafts,
            value=drafts[0][1],
            label="Draft",
            info="Who guesses ahead; the baseline has nobody.",
            min_width=WIDTH,
        ),
        gr.Dropdown(
            [(rule_title(rule), rule.name) for rule in RULES.values()],
            value="lossless",
            label="Rule",
            info="How the target verifies the guesses.",
            min_width=WIDTH,
        ),
        gr.Dropdown(
            [AUTOMATIC, ADAPTIVE, *range(1, MAX_GAMMA + 1)],
            value=AUTOMATIC,
            label="γ",
            info="Guesses per round; automatic: for this computer, adaptive: for each round.",
            min_width=WIDTH,
        ),
        gr.Textbox(  # a number field cannot be empty
            "",
            label="Tolerance",
            info="How far to go beyond lossless.",
            placeholder="the rule's own",
            min_width=WIDTH,
        ),
    ]


def _speaking(sampling: Sampling) -> list[gr.components.Component]:
    """Temperature, top-p, seed, speaking rate; to begin with, as `sampling` says."""
    return [
        gr.Slider(
            0,
            2,
            sampling.temperature,
            step=0.05,
            label="Temperature",
            info="0 takes the likeliest token, more varies.",
            min_width=WIDTH,
        ),
        gr.Slider(
            0.05,
            1,
            sampling.top_p,
            step=0.05,
            label="Top-p",
            info="Keeps the likeliest tokens up to this mass.",
            min_width=WIDTH,
        ),
        gr.Number(
            0,
            label="Seed",
            info="Same seed, same settings: same sound.",
            min_width=WIDTH,
        ),
        gr.Slider(
            0.5,
            2,
            1,
            step=0.05,
            label="Speaking rate",
            info="1 is the natural pace.",
            min_width=WIDTH,
        ),
    ]


def speaker_controls() -> list[gr.components.Component]:
    """The loudspeakers of the computer that serves the page."""
    with gr.Row(elem_classes="settings"):
        return [
            gr.Checkbox(
                False,
                label="Play on this computer's speakers",
                info="Live only: for a stage whose browser is elsewhere; it stays silent then.",
                elem_id="speakers",
            ),
            gr.Dropdown(
                [("default", DEFAULT_OUTPUT)],
                value=DEFAULT_OUTPUT,
                label="Speakers",
                info="Which of this computer's outputs.",
                elem_id="output",
            ),
        ]
