"""Chapters: Markdown in, blocks out; whatever a teacher writes, the page shows something."""

import pytest

from app.learn.lessons import Lesson, read_lessons
from core.voices.base import ASSETS

FIGURES = {"step", "proof"}


def lesson(tmp_path, text: str | bytes, name: str = "01-a.md") -> Lesson:
    content = text if isinstance(text, bytes) else text.encode()
    (tmp_path / name).write_bytes(content)
    (found,) = read_lessons(tmp_path, FIGURES)
    return found


def trouble(found: Lesson) -> str:
    """The text of the one block that says what is wrong."""
    (block,) = [b for b in found.blocks if 'class="trouble"' in b.get("html", "")]
    assert 'role="alert"' in block["html"]
    return block["html"]


def test_a_chapter(tmp_path):
    figure = "```figure step\nrecording = 'example'\nround = 3\n```"
    found = lesson(tmp_path, f"# Drafts & *more*\n\nSome **text**.\n\n{figure}\n\nMore.\n")
    assert (found.name, found.title) == ("01-a", "Drafts & *more*")
    before, figure, after = found.blocks
    assert before == {"html": "<p>Some <strong>text</strong>.</p>\n"}
    assert figure == {"figure": "step", "options": {"recording": "example", "round": 3}}
    assert after == {"html": "<p>More.</p>\n"}


def test_a_file_from_windows(tmp_path):
    found = lesson(tmp_path, b"\xef\xbb\xbf# T\r\n\r\n```figure step\r\nround = 1\r\n```\r\n")
    assert (found.title, found.blocks) == ("T", [{"figure": "step", "options": {"round": 1}}])


def test_options_are_plain_values(tmp_path):
    body = "p = [0.5, 0.5]\nshow = true\nname = '<b>'\n[deep]\nx = 1\n"
    found = lesson(tmp_path, f"# T\n```figure proof\n{body}```\n")
    (figure,) = found.blocks
    options = {"p": [0.5, 0.5], "show": True, "name": "<b>", "deep": {"x": 1}}
    assert figure["options"] == options
    assert {type(value) for value in figure["options"].values()} == {list, bool, str, dict}


def test_a_figure_needs_no_options(tmp_path):
    assert lesson(tmp_path, "# T\n```figure proof\n```\n").blocks == [
        {"figure": "proof", "options": {}}
    ]


def test_chapters_come_in_the_order_of_their_files_and_nothing_else_does(tmp_path):
    for name in ("02-b.md", "10-c.md", "01-a.md", "README.md", "draft.md", "03-x.txt"):
        (tmp_path / name).write_text(f"# {name}\n")
    assert [found.name for found in read_lessons(tmp_path, FIGURES)] == ["01-a", "02-b", "10-c"]


def test_other_code_stays_code(tmp_path):
    (block,) = lesson(tmp_path, "# T\n```python\nfigure = 1\n```\n").blocks
    assert block["html"].startswith('<pre><code class="language-python">figure = 1')


def test_tables(tmp_path):
    (block,) = lesson(tmp_path, "# T\n| a | b |\n|---|---|\n| 1 | 2 |\n").blocks
    assert "<td>2</td>" in block["html"]


@pytest.mark.parametrize(
    ("text", "forbidden"),
    [
        ("<script>alert(1)</script>", "<script"),
        ("<img src=x onerror=alert(1)>", "<img"),
        ("a <b onclick=x>b</b>", "<b "),
        ("<!-- x -->", "<!--"),
        ("![x](https://example.org/x.png)", "<img"),
        ("[x](javascript:alert(1))", "href"),
        ("[x](data:text/html,x)", "href"),
        ('[x](/a "\\"><script>")', "<script"),
        ("```<script>\nx\n```", "<script"),
        ('```"onclick=x\nx\n```', '""onclick'),
        ("```figure <script>\n```", "<script"),
        ("```figure step\n<script>\n```", "<script"),
        ("```figure step\nx = <img src=x>\n```", "<img"),
    ],
)
def test_hostile_text_stays_text(tmp_path, text, forbidden):
    blocks = lesson(tmp_path, f"# T\n\n{text}\n").blocks
    assert blocks
    assert not any(forbidden in block.get("html", "") for block in blocks)


def test_a_hostile_title_is_passed_on_as_text(tmp_path):
    """The page shows it through textContent."""
    assert lesson(tmp_path, "# <b>x</b>\n").title == "<b>x</b>"


@pytest.mark.parametrize("text", ["", "\n# Late\n", "No title\n", "#\n", "# \n", "## Second\n"])
def test_a_chapter_without_a_title_says_so_in_its_place(tmp_path, text):
    found = lesson(tmp_path, text, "07-<x>.md")
    assert (found.name, found.title) == ("07-<x>", "07-<x>")
    assert "07-&lt;x&gt;.md is broken. Its first line must be its title" in trouble(found)


def test_what_is_no_text_says_so(tmp_path):
    assert "no readable UTF-8" in trouble(lesson(tmp_path, b"# T\n\xff\xfe\n"))


def test_a_folder_says_so(tmp_path):
    (tmp_path / "01-a.md").mkdir()
    (found,) = read_lessons(tmp_path, FIGURES)
    assert "no readable" in trouble(found)


@pytest.mark.parametrize(
    ("fence", "said"),
    [
        ("```figure unheard-of\n```", "no figure “unheard-of”: choose one of proof, step."),
        ("```figure\n```", "no name after “figure”: choose one of proof, step."),
        ("```figure step\nround = \n```", "The options of the figure “step” are no TOML"),
        ("```figure step\nday = 2020-01-01\n```", "may be texts, numbers"),
        ("```figure step\nx = nan\n```", "may be texts, numbers"),
        ("- a\n\n  ```figure step\n  ```", "must stand by itself"),
        ("> ```figure step\n> ```", "must stand by itself"),
    ],
)
def test_a_broken_figure_says_so_and_the_rest_is_shown(tmp_path, fence, said):
    found = lesson(tmp_path, f"# T\n\nBefore.\n\n{fence}\n\nAfter.\n")
    assert said in trouble(found)
    html = "".join(block["html"] for block in found.blocks)
    assert "<p>Before.</p>" in html
    assert "<p>After.</p>" in html


def test_no_folder_is_no_chapters(tmp_path):
    assert read_lessons(tmp_path / "nowhere", FIGURES) == []


def test_an_unfinished_fence_ends_with_the_chapter(tmp_path):
    assert lesson(tmp_path, "# T\n```figure step\nround = 1\n").blocks == [
        {"figure": "step", "options": {"round": 1}}
    ]


def test_the_shipped_chapters_have_no_trouble():
    figures = {path.stem.removeprefix("figure-") for path in (ASSETS / "page").glob("figure-*.js")}
    lessons = read_lessons(ASSETS / "lessons", figures)
    assert len(lessons) >= 10
    for found in lessons:
        assert not any('class="trouble"' in block.get("html", "") for block in found.blocks)
        assert any("figure" in block for block in found.blocks), found.name
