"""The comparison as a figure for a slide: how fast, and how far from the target; by codebook."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from app.bench.columns import counted, draft_title, gamma_title, letter, rule_title
from app.figure_file import HEIGHT, WIDTH, Format, render_figure
from app.figure_style import BODY, CELLS, FAINT, INK, PAPER, RULE, SMALL, key, title
from core.matrix.results import Header
from core.matrix.summary import Row, distance_of, front
from core.verify import RULES

LOSSLESS, RELAXED = CELLS["accepted"][0], CELLS["rejected"][0]
BOTTOM, TOP = 0.85, 5.75  # inches
EXACT, FAR, BOOKS = (0.75, 2.75), (3.75, 4.55), (9.0, 3.4)  # inches: left and width of the panels
ROOM = 1350  # points of type size times characters that the headline has room for
MARK = 190  # points², with room for a letter
FILLS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")
HATCHES = ("", "///", "...", "xx")


def render(header: Header, rows: Sequence[Row], format: Format) -> bytes:
    """The file's content: of the temperature of which most was measured."""
    temperature = _most_measured(rows)
    shown = [row for row in rows if row.cell.temperature == temperature]

    def draw(figure: Figure) -> None:
        _headline(figure, header, shown, temperature)
        exact, far, books = (_axes(figure, *place) for place in (EXACT, FAR, BOOKS))
        best = front(shown, distance_of)
        _draw_exact(exact, [row for row in shown if row.cell.lossless], best)
        _draw_far(far, [row for row in shown if not row.cell.lossless], best)
        top = max((row.speedup.q3 for row in shown), default=1) * 1.12
        for axes in (exact, far):
            axes.set_ylim(0, top)
            axes.axhline(1, color=FAINT, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
        _draw_books(books, header, shown)

    return render_figure(draw, format)


def _most_measured(rows: Sequence[Row]) -> float:
    counts: dict[float, int] = {}
    for row in rows:
        counts[row.cell.temperature] = counts.get(row.cell.temperature, 0) + row.sentences
    return max(counts, key=counts.__getitem__, default=0.0)


def _axes(figure: Figure, left: float, width: float) -> Axes:
    place = left / WIDTH, BOTTOM / HEIGHT, width / WIDTH, (TOP - BOTTOM) / HEIGHT
    return figure.add_axes(place)


def _headline(figure: Figure, header: Header, rows: Sequence[Row], temperature: float) -> None:
    lossless = [r for r in rows if r.cell.lossless and not r.cell.is_baseline]
    found = "Nothing was measured"
    if lossless:
        best = max(lossless, key=lambda row: row.speedup.median)
        found = f"{best.speedup.median:.2f}x without changing the distribution: {_name(best)}"
    most = max((row.sentences for row in rows), default=0)
    where = f"voice {header.voice} · temperature {temperature:g} · medians and quartiles over "
    where += f"{counted(most, 'sentence')} · {header.device}, {counted(header.threads, 'thread')}"
    size = min(18, ROOM / len(found))
    figure.text(0.4 / WIDTH, 6.72 / HEIGHT, found, size=size, weight="bold", color=INK)
    figure.text(0.4 / WIDTH, 6.4 / HEIGHT, where, size=BODY, color=FAINT)


def _name(row: Row) -> str:
    if row.cell.is_baseline:
        return "baseline"
    gamma = gamma_title(row.cell)
    return f"{draft_title(row.cell)}, {rule_title(row.cell)}, γ {gamma}"


def _draw_exact(axes: Axes, rows: Sequence[Row], best: Sequence[Row]) -> None:
    """Rules at no distance: a column each."""
    title(axes, "● lossless")
    names = [rule.name for rule in RULES.values() if rule.lossless]
    letters = sorted({letter(row.cell) for row in rows})
    for row in rows:
        beside = (letters.index(letter(row.cell)) - (len(letters) - 1) / 2) * 0.8 / len(letters)
        _mark(axes, names.index(row.cell.rule) + beside, row, "o", best)
    titles = [RULES[name].title.replace(" ", "\n", 1) for name in names]
    axes.set_xticks(range(len(names)), titles)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_ylabel("speed-up against the baseline", size=SMALL)


def _draw_far(axes: Axes, rows: Sequence[Row], best: Sequence[Row]) -> None:
    """Relaxed rules, by their distance; the front as a line."""
    title(axes, "◆ not lossless")
    for row in rows:
        _mark(axes, row.distance.median, row, "D", best)
    line = [row for row in best if not row.cell.lossless]
    places = [row.distance.median for row in line], [row.speedup.median for row in line]
    axes.plot(*places, color=INK, linewidth=1.2, zorder=1)
    for row in line:
        axes.annotate(
            rule_title(row.cell),
            (row.distance.median, row.speedup.median),
            (0, 13),
            textcoords="offset points",
            ha="center",
            size=SMALL,
        )
    axes.tick_params(axis="y", labelleft=False)
    axes.set_xlim(0, max((row.distance.q3 for row in rows), default=0.1) * 1.15)
    axes.set_xlabel(
        "distance from the target: mean total variation, over all tokens\n"
        "M draft model, F feature-fed, H heads, R repetition, B baseline; "
        "line and bold rims: Pareto front",
        size=SMALL,
    )


def _mark(axes: Axes, x: float, row: Row, shape: str, best: Sequence[Row]) -> None:
    colour = LOSSLESS if row.cell.lossless else RELAXED
    speed = row.speedup
    axes.plot([x, x], [speed.q1, speed.q3], color=colour, linewidth=2, zorder=2)
    rim, width = (INK, 2.2) if row in best else (PAPER, 0.8)
    axes.scatter(
        [x], [speed.median], s=MARK, marker=shape, color=colour, edgecolors=rim, linewidths=width,
        zorder=3,
    )  # fmt: skip
    axes.annotate(
        letter(row.cell), (x, speed.median), ha="center", va="center", size=SMALL - 1,
        color=PAPER, weight="bold", zorder=4,
    )  # fmt: skip


def _draw_books(axes: Axes, header: Header, rows: Sequence[Row]) -> None:
    """What each codebook's guesses are worth, of one rule."""
    rule = next((row.cell.rule for row in rows if not row.cell.is_baseline), None)
    mine = [row for row in rows if row.cell.rule == rule and not row.cell.is_baseline]
    drafts = list({row.cell.draft: row for row in mine}.values())[: len(FILLS)]
    title(axes, "accepted of tested, by codebook")
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    if not drafts:
        return
    width = 0.8 / len(drafts)
    places = np.arange(header.codebooks)
    entries = {}
    for number, row in enumerate(drafts):
        heights = [spread.median if spread else 0 for spread in row.per_codebook]
        ends = [(s.q1, s.q3) if s else (0, 0) for s in row.per_codebook]
        spans = np.abs(np.array(ends).T - heights)
        bars = axes.bar(
            places + (number - (len(drafts) - 1) / 2) * width, heights, 0.9 * width, yerr=spans,
            color=FILLS[number], hatch=HATCHES[number], edgecolor=PAPER,
            error_kw={"elinewidth": 1.2, "ecolor": INK},
        )  # fmt: skip
        entries[letter(row.cell)] = bars
    key(axes, entries)
    axes.set_xticks(places, [f"codebook {q}" for q in places])
    axes.grid(axis="y", color=RULE)
    axes.set_xlabel(RULES[rule].title, size=SMALL)
