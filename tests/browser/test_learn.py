"""The Learn tab's frame: chapters, keys, print, faults; with no model at all."""

import pytest

from tests.browser.lessons import LEARN, STEPS, learn, recorded, served_lessons, visited

pytestmark = pytest.mark.browser
TITLE = ".learn .pages > .current h2 >> nth=0"
WIDE = "document.documentElement.scrollWidth"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with served_lessons(tmp_path_factory.mktemp("lessons"), recorded()) as address:
        yield address


@pytest.fixture
def page(browser, url):
    with visited(browser, url) as page:
        learn(page)
        yield page


def test_one_chapter_at_a_time_by_list_buttons_and_keys(page):
    assert page.inner_text(TITLE) == "First things"
    shown = page.locator(".learn .pages > *:visible")
    page.get_by_role("button", name="Second things", exact=True).click()
    assert page.inner_text(TITLE) == "Second things"
    assert shown.count() == 1
    assert page.inner_text(".learn nav [aria-current]") == "Second things"
    page.get_by_role("button", name="The chapter before").click()
    assert page.inner_text(TITLE) == "First things"
    assert page.is_disabled(".learn button.previous")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(TITLE) == "Second things"
    page.keyboard.press("ArrowRight")
    assert page.evaluate(f"{LEARN}.stepping")
    page.keyboard.press("Shift+ArrowLeft")  # within step mode
    assert page.evaluate(f"{LEARN}.stepping")


def test_the_end_of_a_chapter_leads_to_the_next_one(page):
    page.click(".learn .current .onwards button")
    assert page.inner_text(TITLE) == "Second things"
    assert page.evaluate("document.activeElement.matches('.chapter.current')")


def test_keys_leave_alone_who_types(page):
    page.focus("#text textarea")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(TITLE) == "First things"


def test_a_chapter_is_its_file_without_raw_html(page):
    text = page.inner_text(".learn .chapter.current")
    assert "<b>Not bold</b>, and code." in text
    assert page.locator(".learn .chapter.current em").inner_text() == "small"
    assert page.locator(".learn .chapter.current b", has_text="Not bold").count() == 0


def test_figures_of_a_step_show_their_part_and_lead_to_step_mode(page):
    first, second, _ = page.locator(".learn .chapter.current figure.step").all()
    assert "guesses token" in first.locator(".headline:visible").inner_text()
    first.get_by_role("button", name="Next").click()
    first.get_by_role("button", name="Next").click()
    assert first.get_by_role("button", name="Next").is_disabled()  # γ is 3
    assert "Guess 3 of 3" in first.locator(".reason:visible").inner_text()
    assert "Guess 1 of 3" in second.locator(".reason:visible").inner_text()
    first.get_by_role("button", name="Open in step mode").click()
    page.wait_for_selector(".steps.current .chip")
    assert page.inner_text(".steps .where") == page.evaluate(
        f"`Round 2 of ${{{STEPS}.rounds}}, action 1 of ${{{STEPS}.actions.length}}`"
    )


def test_a_pass_is_looked_at_place_by_place(page):
    """Verify is one action about all places: Back and Next lead through them, as a press does."""
    figure = page.locator(".learn .chapter.current figure.step").nth(2)
    following, before = (figure.get_by_role("button", name=name) for name in ("Next", "Back"))
    looked = figure.locator(".chip[aria-current=true] .place >> nth=0")
    assert before.is_disabled()
    for name in ("guess 1", "guess 2", "guess 3", "free"):
        assert looked.inner_text() == name
        if name != "free":
            following.click()
    assert following.is_disabled()
    name = figure.locator("canvas >> nth=0").get_attribute("aria-label")
    assert "p: " in name
    assert "q: " not in name  # nobody guessed it
    before.click()
    assert looked.inner_text() == "guess 3"
    figure.locator(".chip").nth(0).focus()
    page.keyboard.press("Enter")
    assert looked.inner_text() == "guess 1"
    assert figure.locator(".chip").nth(0).evaluate("(chip) => chip === document.activeElement")
    assert "Press a token to see its bars." in figure.inner_text()


def test_what_a_figure_lacks_is_said_in_its_place(page):
    page.keyboard.press("ArrowRight")
    faults = page.locator(".learn .chapter.current .fault")
    faults.nth(1).wait_for()
    wrong, lost = (fault.inner_text() for fault in faults.all())
    assert "show must be one of draft, verify, accept, residual, all." in wrong
    assert "There is no such recording" in lost


def test_a_server_that_is_gone_is_said(browser, url):
    page = browser.new_page()
    page.goto(url)
    page.wait_for_selector("#tabs [role=tab]")
    page.route("**/learn/lessons", lambda route: route.abort())
    learn(page)
    page.wait_for_function("document.querySelector('.learn .status').dataset.state === 'failed'")
    assert "The server does not answer" in page.inner_text(".learn .status")
    page.close()


def test_recording_without_a_voice_says_so(page):
    page.click("#record")
    page.wait_for_function("document.querySelector('.learn .status').dataset.state === 'failed'")
    assert page.inner_text(".learn > .status") == "There is no voice here."
    assert page.is_enabled("#record")


def test_every_control_and_picture_has_a_name(page):
    page.evaluate(f"Promise.all({LEARN}.pages.map((each) => each.open()))")
    parts = ".learn :is(button, input, select, canvas, [role=img], figure.step):not([hidden])"
    for part in page.locator(parts).all():
        named = part.get_attribute("aria-label") or part.text_content()
        assert named.strip(), part.evaluate("(element) => element.outerHTML")


def test_a_telephone_shows_it_without_scrolling_sideways(browser, url):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(url)
    learn(page)
    for place in range(3):
        page.evaluate(f"{LEARN}.show({place})")
        assert page.evaluate(WIDE) <= 390
    page.wait_for_selector(".steps.current .chip")
    for _ in range(page.evaluate(f"{STEPS}.actions.length")):
        assert page.evaluate(WIDE) <= 390
        page.click(".steps .on")
    page.select_option(".learn .pager select", "Second things")
    assert page.inner_text(TITLE) == "Second things"
    page.close()


def test_presenter_mode_shows_only_the_lesson(page):
    page.keyboard.press("p")
    assert page.is_visible(".learn .chapter.current")
    assert not page.is_visible(".learn nav")
    inside = "document.elementFromPoint(innerWidth / 2, 8).closest('.learn') !== null"
    assert page.evaluate(inside)
    page.keyboard.press("Escape")
    assert page.is_visible(".learn nav")


def test_all_chapters_are_printed_on_white_paper(browser, url):
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(f"{url}?__theme=dark")
    learn(page)
    page.evaluate("""window.print = () => {
      const widths = [...document.querySelectorAll(".chapter canvas")].map((c) => c.width);
      window.printed = { figures: widths.length, widest: Math.max(...widths) };
    }""")
    page.click(".learn button.print")
    page.wait_for_function("window.printed")
    assert page.evaluate("printed.figures") >= 2
    assert page.evaluate("printed.widest") <= 720  # drawn for paper, not for the screen
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".learn .chapter:visible").count() == 2
    drafts, whole = page.locator(".learn figure.step").all()[:2]
    told = drafts.locator(".reason:visible").all_inner_texts()
    assert [text.split(",")[0] for text in told] == [f"Guess {n} of 3" for n in (1, 2, 3)]
    kinds = whole.locator(".step:visible").evaluate_all("(all) => all.map((e) => e.dataset.kind)")
    assert (kinds.count("draft"), kinds.count("verify"), kinds.count("rollback")) == (3, 1, 1)
    for hidden in ("#ask", "#heading", ".learn .toolbar", ".learn nav", ".steps"):
        assert page.locator(f"{hidden}:visible").count() == 0
    assert not page.evaluate("document.body.classList.contains('dark')")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.evaluate("document.body.classList.contains('dark')")
    assert page.is_visible("#ask")
    page.close()
