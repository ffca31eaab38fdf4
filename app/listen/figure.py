"""A result as a figure for a slide: chance against what was found, and each listener's share."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from scipy.stats import binom

from app.figure_file import HEIGHT, WIDTH, Format, render_figure
from app.figure_style import BODY, CELLS, FAINT, INK, PAPER, RULE, SMALL, key, title
from app.listen.ballots import Head
from app.listen.design import ABX
from app.listen.verdict import CHANCE, PAIRS, Verdict, critical
from app.listen.words import probability

MARGIN, LEFT, GAP, BOTTOM, TOP = 0.4, 0.95, 1.5, 0.75, 5.75  # inches
CHANCE_WIDTH = 5.6  # inches of the left panel
ROOM = 1500  # points of type size times characters that the headline has room for
LABELLED = 24  # sessions that have room for their names
FOUND, BY_CHANCE, REGION = CELLS["accepted"][0], RULE, CELLS["rejected"][0]


def render(head: Head, verdicts: Mapping[str, Verdict], format: Format) -> bytes:
    """The file's content. verdicts: by session; the last one is what the figure is about."""

    def draw(figure: Figure) -> None:
        (*_, main) = verdicts.values()
        _headline(figure, head, main)
        _draw_chance(_axes(figure, LEFT, CHANCE_WIDTH), main)
        start = LEFT + CHANCE_WIDTH + GAP
        _draw_shares(_axes(figure, start, WIDTH - MARGIN - start), verdicts)

    return render_figure(draw, format)


def _axes(figure: Figure, left: float, width: float) -> Axes:
    """Axes between bottom and top; in inches."""
    return figure.add_axes((left / WIDTH, BOTTOM / HEIGHT, width / WIDTH, (TOP - BOTTOM) / HEIGHT))


def _headline(figure: Figure, head: Head, main: Verdict) -> None:
    count = main.count
    what = "right" if head.kind == ABX else f"for {head.first_title}"
    unit = f" {main.unit}" if main.unit == PAIRS else ""
    neither = f", {count.ties} for neither" if count.ties else ""
    pair = f"{head.first_title} against {head.second_title}"
    largest = min(18, ROOM / len(pair))
    found = f"{count.right} of {count.of}{unit} {what}{neither} · {probability(main.p)}"
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


def _draw_chance(axes: Axes, verdict: Verdict) -> None:
    """The null distribution, what of it is significant, and what was found."""
    of, right = verdict.count.of, verdict.count.right
    title(axes, "what guessing gives" if verdict.kind == ABX else "what no preference gives")
    counts, probabilities = _likely(of)
    rare = _significant(verdict, counts)
    # One outline for all counts, however many votes there are.
    edges = np.append(counts, counts[-1] + 1) - 0.5
    common = axes.stairs(probabilities, edges, fill=True, color=BY_CHANCE)
    look = {"facecolor": PAPER, "edgecolor": REGION, "hatch": "////", "linewidth": 0.8}
    region = axes.stairs(np.where(rare, probabilities, 0), edges, fill=True, **look)
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
    axes.set_xlim(min(counts[0], right) - 0.7, max(counts[-1], right) + 0.7)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.set_xlabel(_what(verdict), size=SMALL)
    key(axes, {"by chance": common, "significant": region, "found": found})


def _what(verdict: Verdict) -> str:
    return "right answers" if verdict.kind == ABX else f"{verdict.unit} for the first"


def _likely(of: int) -> tuple[np.ndarray, np.ndarray]:
    """The counts that are to be seen beside the likeliest one, and their probabilities."""
    counts = np.arange(of + 1)
    probabilities = binom.pmf(counts, of, CHANCE)
    seen = probabilities > probabilities.max() / 1000
    return counts[seen], probabilities[seen]


def _significant(verdict: Verdict, counts: np.ndarray) -> np.ndarray:
    """Which of the counts are."""
    of, least = verdict.count.of, critical(verdict.kind, verdict.count.of)
    if least is None:
        return np.zeros(len(counts), bool)
    return (counts >= least) | ((counts <= of - least) & (verdict.kind != ABX))


def _draw_shares(axes: Axes, verdicts: Mapping[str, Verdict]) -> None:
    """The share of each session and of all, with its interval, against chance."""
    (*_, main) = verdicts.values()
    title(axes, f"share of {_what(main)}, 95% interval")
    axes.axvline(CHANCE, color=FAINT, linewidth=1, linestyle=(0, (4, 3)))
    rows = [(name, verdict) for name, verdict in verdicts.items() if verdict.count.of]
    # One drawing for all sessions, however many there are.
    spans = [[(v.interval[0], row), (v.interval[1], row)] for row, (_, v) in enumerate(rows)]
    shares = [verdict.count.right / verdict.count.of for _, verdict in rows]
    last = len(rows) - 1 if main.count.of else len(rows)
    for part, colour, width, mark, size in (
        (slice(0, last), INK, 1.4, "o", 6),
        (slice(last, None), FOUND, 3, "D", 9),
    ):
        axes.add_collection(LineCollection(spans[part], colors=colour, linewidths=width))
        places = np.arange(len(rows))[part]
        axes.plot(shares[part], places, mark, color=colour, markersize=size)
    shown = range(len(rows)) if len(rows) <= LABELLED else [len(rows) - 1]
    for row in shown:
        axes.annotate(
            f"{shares[row]:.0%}",
            (shares[row], row),
            (0, 7),
            textcoords="offset points",
            ha="center",
            size=SMALL,
            color=FOUND if row == last else INK,
        )
    axes.set_yticks(list(shown), [rows[row][0] for row in shown])
    axes.set_ylim(max(len(rows), 1) - 0.4, -0.9)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.set_xlabel("dashed: by chance", size=SMALL)
