"""How the figure looks: colours (Okabe-Ito, safe for colour-blind readers), type, panels."""

from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.axes import Axes

# Those of the page: assets/page/colours.js.
INK, FAINT, RULE, PAPER = "#18181b", "#5c5c66", "#dbdbe0", "#ffffff"
DRAFT, VERIFY = "#a8447f", "#8a8a96"
LINES = (
    ("#27272a", "-"),
    ("#a8447f", (0, (9, 4))),
    ("#a86400", (0, (2, 3))),
    ("#1d6fa5", (0, (9, 3, 2, 3))),
)

# Kind: face, marker, marker's face, marker's edge. Accepted is the cell itself, a solid square.
CELLS = {
    "accepted": ("#0072b2", "", "", ""),
    "rejected": ("#d55e00", "x", PAPER, PAPER),
    "corrected": ("#f0e442", "o", "none", INK),
    "bonus": ("#009e73", "D", PAPER, PAPER),
    "plain": ("#56b4e9", "_", INK, INK),
}

FONT = "DejaVu Sans"  # comes with matplotlib
SMALL, BODY, TITLE = 9.5, 10.5, 11.5  # points

RC = {
    "font.family": "sans-serif",  # an SVG falls back on its viewer's
    "font.sans-serif": [FONT],
    "font.size": BODY,
    "text.color": INK,
    "text.parse_math": False,  # users' texts hold dollar signs
    "axes.edgecolor": FAINT,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "ytick.major.size": 2.5,
    "xtick.major.size": 3,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "forespeak",  # equal traces give equal files
}


def line(number: int) -> tuple[str, Any]:
    """Colour and dashes of a line, which no other of the first sixteen has."""
    turns, place = divmod(number, len(LINES))
    return LINES[place][0], LINES[(place + turns) % len(LINES)][1]


def title(axes: Axes, text: str) -> None:
    """A panel's title, above its left end."""
    axes.annotate(
        text, (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points", size=BODY
    )


def key(axes: Axes, entries: dict[str, object]) -> None:
    """A legend in one line above a panel's right end."""
    axes.legend(
        list(entries.values()),
        list(entries),
        loc="lower right",
        bbox_to_anchor=(1, 1),
        borderaxespad=0.1,
        ncols=len(entries),
        frameon=False,
        fontsize=BODY,
        handlelength=1,
        handletextpad=0.4,
        columnspacing=1.3,
    )


def at_end(axes: Axes, labels: Iterable[tuple[float, str, Any]]) -> None:
    """Labels (y in data units, text, colour) beside a panel's right end, clear of one another."""
    labels = sorted(labels, key=lambda label: label[0])
    for y, (_, text, colour) in zip(_apart(axes, [y for y, *_ in labels]), labels, strict=True):
        axes.annotate(
            text,
            (1, y),
            (6, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            size=SMALL,
            color=colour,
            annotation_clip=False,
        )


def _apart(axes: Axes, heights: Sequence[float]) -> list[float]:
    """Rising heights, moved where lines of text at them would overlap."""
    low, high = axes.get_ylim()
    inches = axes.get_window_extent().height / axes.figure.dpi
    gap = SMALL * 1.25 / 72 / inches * (high - low)
    moved: list[float] = []
    for y in heights:
        moved.append(max(y, moved[-1] + gap) if moved else y)
    for n in reversed(range(len(moved))):
        moved[n] = min(moved[n], moved[n + 1] - gap if n + 1 < len(moved) else high)
    return moved
