"""A run as a figure for a 16:9 slide."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

from app.cells import sentence_starts
from app.figure_file import HEIGHT, WIDTH, Format, render_figure
from app.figure_graphs import draw_acceptance, draw_rounds, draw_rtf, progress
from app.figure_grid import draw_grid, draw_key
from app.figure_numbers import big_numbers
from app.figure_style import BODY, CELLS, FAINT, PAPER, RULE, SMALL, TITLE
from app.figure_words import draw_words, drawable
from app.report import name_draft, name_gamma, name_rule
from core.metrics import measure
from core.trace import Trace

MARGIN, LEFT, RIGHT, BOTTOM = 0.4, 0.85, 0.95, 0.52  # inches
TOP, WORDS, ABOVE_GRID, BETWEEN = 5.83, 0.62, 0.05, 0.36  # inches


def render(trace: Trace, format: Format, baseline_tokens_per_s: float | None = None) -> bytes:
    """The file's content. Cells are shapes unless they are too many to tell apart.

    baseline_tokens_per_s: measured on the run's computer, if it was.
    """

    def draw(figure: Figure) -> None:
        _headline(figure, trace, big_numbers(trace, baseline_tokens_per_s))
        _panels(figure, trace)

    return render_figure(draw, format)


def _panels(figure: Figure, trace: Trace) -> None:
    """Words, token grid and graphs from top to bottom, over one time axis."""
    found = progress(trace)
    words = _axes(figure, trace, TOP - WORDS, WORDS)
    words.axis("off")
    words.set_ylim(0, 1)
    draw_key(words, trace)
    draw_words(words, trace)

    # What is drawn, and how high it is in proportion to the others.
    panels = [
        (1.75, lambda axes: draw_grid(axes, trace)),
        (1.0, lambda axes: draw_rounds(axes, trace)),
        (0.8, lambda axes: draw_rtf(axes, found)),
    ]
    if trace.gamma:
        panels.append((1.0, lambda axes: draw_acceptance(axes, found)))
    top = TOP - WORDS - ABOVE_GRID
    room = top - BOTTOM - BETWEEN * (len(panels) - 1)
    unit = room / sum(share for share, _ in panels)
    for share, draw in panels:
        axes = _axes(figure, trace, top - share * unit, share * unit)
        for start in sentence_starts(trace)[1:-1]:
            axes.axvline(start / trace.frame_rate, color=RULE, linewidth=0.8, zorder=0)
        draw(axes)
        axes.tick_params(axis="x", labelbottom=False)
        top -= share * unit + BETWEEN
    axes.tick_params(axis="x", labelbottom=True)
    axes.set_xlabel("sound, s", size=SMALL, labelpad=2)


def _axes(figure: Figure, trace: Trace, bottom: float, height: float) -> Axes:
    """Axes over all of the sound; in inches."""
    width = WIDTH - LEFT - RIGHT
    axes = figure.add_axes((LEFT / WIDTH, bottom / HEIGHT, width / WIDTH, height / HEIGHT))
    axes.set_xlim(0, max(sentence_starts(trace)[-1], 1) / trace.frame_rate)
    return axes


def _headline(figure: Figure, trace: Trace, numbers: Sequence[tuple[str, str]]) -> None:
    """What was run, whether it is lossless, and the numbers."""
    name = "Speculative decoding" if trace.gamma else "Autoregressive baseline"
    title = _write(figure, MARGIN, 6.72, name, size=18, weight="bold")
    if trace.gamma:
        _badge(title, trace.lossless)
    for y, line in zip((6.42, 6.2), _settings(trace), strict=True):
        _write(figure, MARGIN, y, drawable(line), size=BODY, color=FAINT)
    for n, (label, value) in enumerate(reversed(numbers)):
        x = WIDTH - MARGIN - n * 1.4
        _write(figure, x, 6.62, value, size=20, weight="bold", ha="right")
        _write(figure, x, 6.36, label, size=SMALL, color=FAINT, ha="right")


def _settings(trace: Trace) -> tuple[str, str]:
    """Two lines; what was left as it comes is not mentioned."""
    decoding = [
        f"voice {trace.voice}",
        *([name_draft(trace)] if trace.gamma else []),
        f"rule {name_rule(trace)}",
        name_gamma(trace),
        trace.device,
    ]
    sampling = [f"temperature {trace.temperature:g}", f"seed {trace.seed}"]
    if trace.top_k:
        sampling.append(f"top-k {trace.top_k}")
    if trace.top_p < 1:
        sampling.append(f"top-p {trace.top_p:g}")
    if trace.rate != 1:
        sampling.append(f"rate {trace.rate:g}")
    sampling.append(f"{measure(trace).tokens_per_s:.0f} tokens/s")
    return " · ".join(decoding), " · ".join(sampling)


def _badge(title: Text, lossless: bool) -> None:
    """Beside the title."""
    colour = CELLS["bonus" if lossless else "rejected"][0]
    badge = Annotation(
        "lossless" if lossless else "not lossless",
        (1, 0.5),
        (14, 0),
        xycoords=title,
        textcoords="offset points",
        va="center",
        size=TITLE,
        weight="bold",
        color=PAPER,
        bbox={"boxstyle": "round,pad=0.35", "facecolor": colour, "edgecolor": colour},
    )
    title.figure.add_artist(badge)


def _write(figure: Figure, x: float, y: float, text: str, **look: Any) -> Text:
    """Text on the figure; x and y in inches from the lower left."""
    return figure.text(x / WIDTH, y / HEIGHT, text, **look)
