"""Chapters: Markdown files with figures in them, which a teacher can write."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from tomlkit import parse
from tomlkit.exceptions import TOMLKitError

from core.errors import ForespeakError

CHAPTERS = "[0-9][0-9]-*.md"
FIGURE = "figure"

Block = dict[str, Any]
"""{"html": text} or {"figure": name, "options": {...}}, for the page."""


@dataclass(frozen=True)
class Lesson:
    """A chapter; name: its file's, without ending."""

    name: str
    title: str
    blocks: list[Block]


def read_lessons(folder: Path, figures: set[str]) -> list[Lesson]:
    """All chapters in the order of their files; a broken one says what is wrong in its place.

    figures: the names of those that there are.
    """
    return [_read(path, figures) for path in sorted(folder.glob(CHAPTERS))]


def _read(path: Path, figures: set[str]) -> Lesson:
    try:
        title, body = _split(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, ForespeakError) as error:
        reason = (
            str(error) if isinstance(error, ForespeakError) else "It is no readable UTF-8 text."
        )
        return Lesson(
            path.stem, path.stem, [_trouble(f"The chapter {path.name} is broken. {reason}")]
        )
    return Lesson(path.stem, title, list(_blocks(body, figures)))


def _split(text: str) -> tuple[str, str]:
    """The title, which is the first line, and the rest."""
    first, _, body = text.partition("\n")
    if not first.startswith("# ") or not first[2:].strip():
        raise ForespeakError("Its first line must be its title: “# ” and a few words.")
    return first[2:].strip(), body


def _blocks(body: str, figures: set[str]) -> Iterator[Block]:
    # No raw HTML, and no pictures from elsewhere: what a chapter holds is text, and our figures.
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    pending: list[Token] = []

    def text() -> Iterator[Block]:
        if pending:
            yield {"html": markdown.renderer.render(pending, markdown.options, {})}
            pending.clear()

    for token in markdown.parse(body):
        if token.type == "fence" and token.info.split()[:1] == [FIGURE]:
            if token.level:
                astray = _trouble("A figure must stand by itself, not in a list or quote.")
                pending.append(Token("html_block", "", 0, content=astray["html"]))
                continue
            yield from text()
            yield _figure(token, figures)
        else:
            pending.append(token)
    yield from text()


def _figure(fence: Token, figures: set[str]) -> Block:
    """The figure of a fence: ```figure NAME, with options in TOML."""
    name = fence.info.split(maxsplit=1)[1:]
    if not name or name[0] not in figures:
        wanted = f"no figure “{name[0]}”" if name else "no name after “figure”"
        return _trouble(f"There is {wanted}: choose one of {', '.join(sorted(figures))}.")
    try:
        options = parse(fence.content).unwrap()
        json.dumps(options, allow_nan=False)
    except TOMLKitError as error:
        return _trouble(f"The options of the figure “{name[0]}” are no TOML: {error}.")
    except (TypeError, ValueError):
        return _trouble(
            f"The options of the figure “{name[0]}” may be texts, numbers, true, false and lists."
        )
    return {"figure": name[0], "options": options}


def _trouble(text: str) -> Block:
    return {"html": f'<p class="trouble" role="alert">{escape(text)}</p>'}
