"""The Listen tab's form: what a test consists of."""

import gradio as gr

from app.controls import WIDTH
from app.listen.design import AB, ABX, KINDS, MOST_TRIALS
from app.listen.verdict import least_trials
from app.listen.ways import BASELINE, all_ways

TRIALS = 16
TEXTS = (
    "A small model guesses ahead, and a large one checks the guesses.",
    "Why does the moon look larger when it is close to the horizon?",
    "The train to the coast leaves at half past nine in the morning.",
    "She had not expected the letter to arrive so soon.",
)


def test_form() -> list[gr.components.Component]:
    """Kind, first and second way, trials, texts; and the buttons that prepare and stop."""
    ways = [(way.title, way.name) for way in all_ways().values()]
    least = {kind: least_trials(kind) for kind in KINDS}
    with gr.Row():
        kind = gr.Radio(
            [(title, name) for name, title in KINDS.items()],
            value=ABX,
            label="Question",
            min_width=WIDTH,
        )
        first = gr.Dropdown(ways, value=BASELINE, label="One way", min_width=WIDTH)
        second = gr.Dropdown(ways, value="lossless", label="The other way", min_width=WIDTH)
        trials = gr.Number(
            TRIALS,
            label="Trials",
            info=f"Fixed beforehand: {least[ABX]} (AB {least[AB]}) to {MOST_TRIALS}.",
            min_width=WIDTH,
        )
    texts = gr.Textbox(
        "\n".join(TEXTS),
        label="Texts",
        info="One a line. With fewer texts than trials they come again, spoken anew. Recorded "
        "speech brings its own texts, and at most a trial for each of them.",
        lines=4,
        max_lines=10,
        elem_id="listen-texts",
    )
    return [kind, first, second, trials, texts]
