"""Figures for a 16:9 slide, as files: size, paper, and one at a time."""

from collections.abc import Callable
from io import BytesIO
from threading import Lock
from typing import Literal

from matplotlib import style
from matplotlib.figure import Figure

from app.figure_style import PAPER, RC

Format = Literal["png", "svg"]

WIDTH, HEIGHT, DPI = 12.8, 7.2, 150  # inches; 1920 x 1080 pixels

_matplotlib = Lock()  # it has settings, which are global, and caches that threads must not share


def render_figure(draw: Callable[[Figure], None], format: Format) -> bytes:
    """The file's content; equal drawings give equal files. In an SVG text is text."""
    file = BytesIO()
    with _matplotlib, style.context(("default", RC)):
        figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DPI, facecolor=PAPER)
        draw(figure)
        metadata = {"Date": None} if format == "svg" else None
        figure.savefig(file, format=format, dpi=DPI, metadata=metadata)
    return file.getvalue()
