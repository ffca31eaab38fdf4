"""What comes out on paper: as a PDF, in which no chapter may be cut off."""

import pytest

from tests.browser.lessons import LEARN, learn, recorded, served_lessons

pytestmark = pytest.mark.browser
LONG = "A paragraph that takes some room.\n\n" * 40
FIGURE = '```figure step\nrecording = "shipped"\nround = 0\n```\n\n'
TITLES = ["First", "Second", "Third", "Fourth"]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lessons")
    with served_lessons(folder, recorded()) as address:
        for number, title in enumerate(TITLES, 1):
            text = f"# {title}\n\n{(LONG + FIGURE) * 2}The end of {title}.\n"
            (folder / f"{number:02}-{title.lower()}.md").write_text(text)
        yield address


def test_every_chapter_is_on_paper_to_its_end(browser, url, tmp_path):
    """The browser's own paper: its breaks make all longer than it is on the screen."""
    pypdfium2 = pytest.importorskip("pypdfium2")
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(f"{url}?__theme=dark")
    learn(page)
    page.evaluate(f"Promise.all({LEARN}.chapters.map((chapter) => chapter.open()))")
    page.pdf(path=tmp_path / "paper.pdf", format="A4")
    sheets = pypdfium2.PdfDocument(tmp_path / "paper.pdf")
    text = " ".join(sheet.get_textpage().get_text_range() for sheet in sheets)
    sheets.close()
    for title in TITLES:
        assert f"The end of {title}." in text
    for other in ("Record my sentence", "Use via API", "Next"):
        assert other not in text
    assert page.is_visible("#record")  # afterwards all is as it was
    page.close()
