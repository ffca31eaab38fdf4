"""A result as a figure for a slide: chance against what was found, and each listener's share."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import binom

from app.figure_file import HEIGHT, WIDTH, Format, render_figure
from app.figure_style import BODY, CELLS, FAINT, INK, PAPER, RULE, SMALL, key, title
from app.listen.ballots import Head
from app.listen.design import ABX
from app.listen.verdict import CHANCE, Verdict, critical
from app.listen.ways import title_of

MARGIN, LEFT, GAP, BOTTOM, TOP = 0.4, 0.95, 1.5, 0.75, 5.75  # inches
CHANCE_WIDTH = 5.6  # inches of the left panel
ROOM = 1500  # points of type size times characters that the headline has room for
LABELLED = 24  # listeners that have room for their names
FOUND, BY_CHANCE, REGION = CELLS["accepted"][0], RULE, CELLS["rejected"][0]


def render(head: Head, verdicts: Mapping[str, Verdict], format: Format) -> bytes:
    """The file's content. verdicts: by listener; the last one is what the figure is about."""

    def draw(figure: Figure) -> None:
        (*_, main) = verdicts.values()
        _headline(figure, head, main)
        _draw_chance(_axes(figure, LEFT, CHANCE_WIDTH), main)
        start = LEFT + CHANCE_WIDTH + GAP
        _draw_shares(_axes(figure, start, WIDTH - MARGIN - start), head, verdicts)

    return render_figure(draw, format)


def _axes(figure: Figure, left: float, width: float) -> Axes:
    """Axes between bottom and top; in inches."""
    return figure.add_axes((left / WIDTH, BOTTOM / HEIGHT, width / WIDTH, (TOP - BOTTOM) / HEIGHT))


def _headline(figure: Figure, head: Head, main: Verdict) -> None:
    count = main.count
    what = "right" if head.kind == ABX else f"for {title_of(head.first)}"
    neither = f", {count.ties} for neither" if count.ties else ""
    pair = f"{title_of(head.first)} against {title_of(head.second)}"
    largest = min(18, ROOM / len(pair))
    found = f"{count.right} of {count.of} {what}{neither} · {_p(main.p)}"
    _write(figure, 6.72, pair, size=largest, weight="bold", color=INK)
    _write(figure, 6.38, found, size=BODY + 3, color=INK)
    _write(figure, 6.12, _settings(head), size=BODY, color=FAINT)


def _write(figure: Figure, y: float, text: str, **look: Any) -> None:
    """A line from the left margin on; y in inches from below."""
    figure.text(MARGIN / WIDTH, y / HEIGHT, text, **look)


def _settings(head: Head) -> str:
    kind = "ABX, one-sided" if head.kind == ABX else "AB, two-sided"
    return (
        f"{kind} · {head.trials} trials each · voice {head.voice} · temperature "
        f"{head.temperature:g} · top-p {head.top_p:g} · γ {head.gamma} · rate {head.rate:g}"
    )


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _draw_chance(axes: Axes, verdict: Verdict) -> None:
    """The null distribution, what of it is significant, and what was found."""
    of, right = verdict.count.of, verdict.count.right
    title(axes, "what guessing gives" if verdict.kind == ABX else "what no preference gives")
    counts = np.arange(of + 1)
    probabilities = binom.pmf(counts, of, CHANCE)
    least = critical(verdict.kind, of)
    region = np.zeros(of + 1, bool)
    if least is not None:
        region |= counts >= least
        if verdict.kind != ABX:
            region |= counts <= of - least
    common = axes.bar(counts, probabilities, 0.85, color=BY_CHANCE, edgecolor=FAINT, linewidth=0.5)
    rare = axes.bar(
        counts[region],
        probabilities[region],
        0.85,
        color=PAPER,
        edgecolor=REGION,
        hatch="////",
        linewidth=0.8,
    )
    found = axes.axvline(right, color=FOUND, linewidth=2.5)
    axes.annotate(
        str(right),
        (right, 1),
        (5 if right < of * 0.9 else -5, -4),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="left" if right < of * 0.9 else "right",
        va="top",
        size=BODY,
        weight="bold",
        color=FOUND,
    )
    axes.set_ylim(0, probabilities.max() * 1.15)
    likely = counts[probabilities > probabilities.max() / 1000]
    axes.set_xlim(min(likely[0], right) - 0.7, max(likely[-1], right) + 0.7)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.set_xlabel("right answers" if verdict.kind == ABX else "votes for the first", size=SMALL)
    key(axes, {"by chance": common, "significant": rare, "found": found})


def _draw_shares(axes: Axes, head: Head, verdicts: Mapping[str, Verdict]) -> None:
    """The share of each listener and of all, with its interval, against chance."""
    what = "right answers" if head.kind == ABX else "votes for the first"
    title(axes, f"share of {what}, 95% interval")
    axes.axvline(CHANCE, color=FAINT, linewidth=1, linestyle=(0, (4, 3)))
    rows = [(name, verdict) for name, verdict in verdicts.items() if verdict.count.of]
    for row, (_, verdict) in enumerate(rows):
        low, high = verdict.interval
        main = row == len(rows) - 1
        colour, width = (FOUND, 3) if main else (INK, 1.4)
        axes.plot([low, high], [row, row], color=colour, linewidth=width, solid_capstyle="butt")
        share = verdict.count.right / verdict.count.of
        axes.plot(share, row, "D" if main else "o", color=colour, markersize=9 if main else 6)
        if main or len(rows) <= LABELLED:
            axes.annotate(
                f"{share:.0%}",
                (share, row),
                (0, 7),
                textcoords="offset points",
                ha="center",
                size=SMALL,
                color=colour,
            )
    shown = range(len(rows)) if len(rows) <= LABELLED else [len(rows) - 1]
    axes.set_yticks(list(shown), [rows[row][0] for row in shown])
    axes.set_ylim(max(len(rows), 1) - 0.4, -0.9)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.set_xlabel("dashed: by chance", size=SMALL)
