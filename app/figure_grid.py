"""The figure's token grid: a row per codebook, a column per frame."""

from collections.abc import Sequence
from math import ceil

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D

from app.cells import Place, ends, places_by_kind
from app.figure_style import BODY, CELLS, INK, PAPER, SMALL, key, title
from core.trace import Trace

MOST_NAMED = 10  # rows that have room for their numbers
SMALLEST_MARKED = 4.0  # points; in cells below this a marker would be a blot
LOWER, UPPER, WHOLE = (0.5, 1.0), (0.0, 0.5), (0.0, 1.0)  # parts of a cell; y points down


def draw_grid(axes: Axes, trace: Trace) -> None:
    """Every cell in its kind's colour and, where there is room, with its kind's marker."""
    places = places_by_kind(trace)
    width, height = _cell_points(axes, trace)
    marked = width >= SMALLEST_MARKED
    for kind, cells in places.items():
        if cells:
            _draw_cells(axes, kind, cells, trace.frame_rate, marked)
            if marked and CELLS[kind][1]:
                _draw_markers(axes, kind, cells, trace.frame_rate, min(width, height / 2) * 0.42)
    axes.set_ylim(trace.num_codebooks, 0)
    draw_ends(axes, trace)
    rows = range(0, trace.num_codebooks, ceil(trace.num_codebooks / MOST_NAMED))
    axes.set_yticks([q + 0.5 for q in rows], [str(q) for q in rows], size=BODY)
    axes.tick_params(axis="y", length=0)
    axes.set_ylabel("codebook", size=SMALL)


def draw_ends(axes: Axes, trace: Trace) -> None:
    """A line where a sentence ended itself, and what it is."""
    for frame in ends(trace):
        x = frame / trace.frame_rate
        axes.axvline(x, color=INK, linewidth=2.5, gid="end", clip_on=False)
        axes.annotate("end ", (x, 1.02), xycoords=("data", "axes fraction"), ha="right", size=SMALL)


def draw_key(axes: Axes, trace: Trace) -> None:
    """What the cells mean, and how many of each there are."""
    title(axes, "tokens")
    places = places_by_kind(trace)
    key(axes, {f"{len(cells)} {kind}": _handle(kind) for kind, cells in places.items() if cells})


def _cell_points(axes: Axes, trace: Trace) -> tuple[float, float]:
    """A cell's width and height in points."""
    frames = (axes.get_xlim()[1] - axes.get_xlim()[0]) * trace.frame_rate
    box = axes.get_window_extent()
    points = 72 / axes.figure.dpi
    return box.width * points / frames, box.height * points / trace.num_codebooks


def _part(kind: str) -> tuple[float, float]:
    """The part of the cell that a kind fills: what was rejected stands above its correction."""
    return {"rejected": UPPER, "corrected": LOWER}.get(kind, WHOLE)


def _draw_cells(
    axes: Axes, kind: str, cells: Sequence[Place], frame_rate: float, marked: bool
) -> None:
    frame, codebook = np.array(cells, dtype=float).T
    top, bottom = _part(kind)
    left, right = frame / frame_rate, (frame + 1) / frame_rate
    x = np.stack((left, right, right, left), 1)
    y = np.stack((codebook + top, codebook + top, codebook + bottom, codebook + bottom), 1)
    axes.add_collection(
        PolyCollection(
            np.stack((x, y), 2),
            facecolors=CELLS[kind][0],
            edgecolors=PAPER if marked else "none",
            linewidths=0.5 if marked else 0,
            antialiaseds=marked,  # narrow cells would show seams,
            rasterized=not marked,  # in an SVG as well
            gid=kind,
        ),
        autolim=False,
    )


def _draw_markers(
    axes: Axes, kind: str, cells: Sequence[Place], frame_rate: float, size: float
) -> None:
    _, marker, face, edge = CELLS[kind]
    frame, codebook = np.array(cells, dtype=float).T
    axes.scatter(
        (frame + 0.5) / frame_rate,
        codebook + sum(_part(kind)) / 2,
        s=size**2,
        marker=marker,
        linewidths=max(0.7, size / 5),
        **_marker_colours(marker, face, edge),
        gid=f"{kind}-markers",
    )


def _marker_colours(marker: str, face: str, edge: str) -> dict[str, str]:
    """Line markers have no face, and matplotlib warns of one."""
    return {"c": edge} if marker in "x_" else {"facecolors": face, "edgecolors": edge}


def _handle(kind: str) -> tuple[Line2D, ...]:
    """A cell as the legend shows it: the marker on its colour."""
    colour, marker, face, edge = CELLS[kind]
    square = Line2D([], [], ls="", marker="s", ms=11, mfc=colour, mec=colour)
    if not marker:
        return (square,)
    return square, Line2D([], [], ls="", marker=marker, ms=5.5, mfc=face, mec=edge, mew=1.3)
