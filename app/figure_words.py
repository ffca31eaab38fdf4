"""The figure's words, above the frames in which they are spoken; they never overlap."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.font_manager import FontProperties, findfont, get_font

from app.cells import sentence_starts
from app.figure_style import FAINT, FONT
from core.trace import Trace

SIZES = (15.0, 13.5, 12.0, 11.0, 10.0, 9.0)  # points, tried in turn
GAP = 0.06  # inches between neighbours
BLOCK = 1.15  # inches: where single words find no room, so much of the text shares a block
LINES = 3  # of a block
LINE_HEIGHT = 1.22

Width = Callable[[str, float], float]
"""Inches of a text at a size in points."""


@dataclass(frozen=True)
class Label:
    """Text that is spoken from start to end, in seconds of sound."""

    text: str
    start: float
    end: float


def draw_words(axes: Axes, trace: Trace) -> None:
    """Each word over its frames; where they would collide, blocks of words over theirs."""
    width = _ruler(axes)
    inches = axes.get_window_extent().width / axes.figure.dpi
    scale = inches / (axes.get_xlim()[1] - axes.get_xlim()[0])  # inches per second
    sentences = spoken_words(trace)
    words = list(chain.from_iterable(sentences))
    for size in SIZES:
        if _fits(words, size, scale, inches, width):
            _draw_lines(axes, words)
            for word in words:
                middle = (word.start + word.end) / 2
                axes.text(middle, 0.22, word.text, size=size, ha="center", va="baseline")
            return
    blocks = list(_blocks(sentences, BLOCK / scale))
    _draw_lines(axes, blocks)
    for block in blocks:
        lines = wrap(block.text, (block.end - block.start) * scale - GAP, SIZES[-1], width)
        text = "\n".join(lines)
        axes.text(block.start, 0.2, text, size=SIZES[-1], va="baseline", linespacing=LINE_HEIGHT)


def spoken_words(trace: Trace) -> list[list[Label]]:
    """The words of each sentence, each from the first to the last of its phonemes; without any, the
    sentence as a whole."""
    found = []
    for sentence, first in zip(trace.sentences, sentence_starts(trace), strict=False):
        if not sentence.phonemes:  # nobody knows when which word is spoken
            span = first / trace.frame_rate, (first + sentence.frames) / trace.frame_rate
            found.append([Label(drawable(sentence.text), *span)] if sentence.frames else [])
            continue
        edges = [at / trace.frame_rate for at in accumulate(sentence.durations, initial=first)]
        spans: dict[int, tuple[float, float]] = {}
        for word, (start, end) in zip(sentence.word_index, pairwise(edges), strict=True):
            if word >= 0:
                spans[word] = spans.get(word, (start, end))[0], end
        found.append([Label(drawable(sentence.words[word]), *at) for word, at in spans.items()])
    return found


def drawable(text: str) -> str:
    """What the font can draw, and an outline for what it cannot."""
    font = get_font(findfont(FONT))
    return "".join(
        c if c.isprintable() and font.get_char_index(ord(c)) else "\N{WHITE VERTICAL RECTANGLE}"
        for c in text
    )


def wrap(text: str, room: float, size: float, width: Width) -> list[str]:
    """Lines that fit into `room` inches, at most LINES; what does not fit becomes an ellipsis."""
    lines: list[str] = []
    words = text.split()
    for n, word in enumerate(words):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width(longer, size) <= room:
            lines[-1] = longer
        elif len(lines) < LINES and width(word, size) <= room:
            lines.append(word)
        else:
            return [*lines[:-1], _cut(" ".join((*lines[-1:], *words[n:])), room, size, width)]
    return lines


def _cut(text: str, room: float, size: float, width: Width) -> str:
    """As much as fits with an ellipsis after it: whole words, or a part of one, or nothing."""
    low, high = 0, len(text)  # of text[:low] it is known that it fits
    while low < high:
        middle = (low + high + 1) // 2
        if width(f"{text[:middle].rstrip()}…", size) <= room:
            low = middle
        else:
            high = middle - 1
    fitting = text[:low]
    if low < len(text) and not text[low].isspace() and " " in fitting.strip():
        fitting = fitting[: fitting.rindex(" ")]
    return f"{fitting.rstrip()}…" if low else ""


def _fits(words: Sequence[Label], size: float, scale: float, inches: float, width: Width) -> bool:
    """Whether words centred over their frames keep clear of one another and of the ends."""
    free = 0.0
    for word in words:
        half = width(word.text, size) / 2
        middle = (word.start + word.end) / 2 * scale
        if middle - half < free or middle + half > inches:
            return False
        free = middle + half + GAP
    return True


def _blocks(sentences: Sequence[Sequence[Label]], seconds: float) -> Iterator[Label]:
    """Neighbouring words together, each block about so long; better it ends with a sentence."""
    least = seconds * 0.6
    held: list[Label] = []
    for words in sentences:
        for word in words:
            held.append(word)
            length, rest = word.end - held[0].start, words[-1].end - word.end
            if length >= (seconds if rest else least) and not 0 < rest < least:
                yield _join(held)
                held = []
    if held:
        yield _join(held)


def _join(words: Sequence[Label]) -> Label:
    return Label(" ".join(word.text for word in words), words[0].start, words[-1].end)


def _draw_lines(axes: Axes, labels: Sequence[Label]) -> None:
    """Under each label a line as long as it is spoken."""
    axes.hlines(
        [0.0] * len(labels),
        [label.start for label in labels],
        [label.end for label in labels],
        colors=FAINT,
        linewidth=1.5,
        clip_on=False,
    )


def _ruler(axes: Axes) -> Width:
    """Measures text as it will be drawn."""
    renderer = FigureCanvasAgg(axes.figure).get_renderer()
    dpi = axes.figure.dpi

    def width(text: str, size: float) -> float:
        font = FontProperties(size=size)
        return renderer.get_text_width_height_descent(text, font, ismath=False)[0] / dpi

    return width
