"""The chapters that come with the program: each can be read, and every figure in them works."""

import re

import pytest

from app.learn.lessons import read_lessons
from core.recording import Recording
from core.voices.base import ASSETS
from tests.browser.conftest import MODULES

LESSONS = ASSETS / "lessons"
FIGURES = {path.stem.removeprefix("figure-") for path in MODULES.glob("figure-*.js")}
MOST_WORDS = 180
SAME_SENTENCE = ("example", "example-baseline")
CHAPTERS = read_lessons(LESSONS, FIGURES)


def figures(chapter):
    return [block for block in chapter.blocks if "figure" in block]


def words(chapter):
    text = " ".join(re.sub(r"<[^>]*>", "", block.get("html", "")) for block in chapter.blocks)
    return text.split()


def test_every_figure_can_be_mounted():
    for name in FIGURES:
        script = (MODULES / f"figure-{name}.js").read_text(encoding="utf-8")
        assert re.search(r"^export (async )?function mount\(", script, re.MULTILINE), name


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.name)
def test_a_chapter_is_short_and_has_a_figure_and_something_to_try(chapter):
    html = "".join(block.get("html", "") for block in chapter.blocks)
    assert "trouble" not in html
    assert figures(chapter)
    assert "<strong>Try it.</strong>" in html
    assert len(words(chapter)) <= MOST_WORDS


def test_there_are_ten():
    assert len(CHAPTERS) == 10
    assert len({chapter.title for chapter in CHAPTERS}) == 10


def test_recordings_and_rounds_that_chapters_name_are_there():
    for chapter in CHAPTERS:
        for figure in figures(chapter):
            for option in ("recording", "baseline"):
                name = figure["options"].get(option)
                if name:
                    trace = Recording.load(LESSONS / f"{name}.safetensors").trace
                    assert (trace.gamma == 0) == (option == "baseline")
                    assert figure["options"].get("round", 0) < len(trace.rounds)


def test_the_passes_are_of_one_sentence():
    traces = [Recording.load(LESSONS / f"{name}.safetensors").trace for name in SAME_SENTENCE]
    assert len({trace.sentences[0].text for trace in traces}) == 1


def test_the_guide_tells_of_every_figure():
    guide = (LESSONS / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", guide, re.MULTILINE)) == FIGURES


@pytest.mark.browser
@pytest.mark.parametrize("name", sorted(FIGURES))
def test_the_guide_tells_of_every_option(blank, name):
    guide = (LESSONS / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", guide, re.MULTILINE))
    told = rows["speedup"] if rows[name] == "the same" else rows[name]
    options = blank.evaluate(
        "async (name) => Object.keys((await import(`./page/figure-${name}.js`)).OPTIONS)", name
    )
    assert set(re.findall(r"`(\w+)`", told)) == set(options)


@pytest.mark.browser
def test_every_chapter_opens_on_the_page(page):
    """With the figures that come with it, and nothing that cannot be shown."""
    page.get_by_role("tab", name="Learn").dispatch_event("click")
    page.wait_for_selector(".learn .chapter", state="attached")
    for index, chapter in enumerate(CHAPTERS):
        page.locator(".learn nav button").nth(index).click()
        current = page.locator(f"#chapter-{chapter.name}")
        drawn = current.locator("figure :is(svg, canvas)")
        drawn.first.wait_for()
        assert current.locator("figure").count() == len(figures(chapter))
        for figure in current.locator("figure").all():
            figure.locator(":is(svg, canvas)").first.wait_for()
        faults = current.locator(".fault, .trouble").all_inner_texts()
        assert [text for text in faults if text.strip()] == []
