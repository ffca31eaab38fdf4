"""The keyboard: full control, and none of it while somebody types."""

import pytest

from tests.browser.pages import (
    LIVE,
    LONG,
    finish,
    speak,
    still_speaks,
    wait_for_sound,
    wait_for_status,
)

pytestmark = pytest.mark.browser
PRESENTER = "document.body.classList.contains('presenter')"


@pytest.fixture
def spoken(page):
    """A page on which a run was heard, with the focus nowhere."""
    speak(page, "hello there and then some more of this")
    finish(page)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("End")
    wait_for_status(page, "Done.")
    return page


def position(page):
    return page.evaluate(f"{LIVE}.position")


def test_space_arrows_home_and_end(spoken):
    page, keys = spoken, spoken.keyboard
    duration = page.evaluate(f"{LIVE}.duration")
    frame = page.evaluate(f"{LIVE}.run.secondsPerFrame")
    assert position(page) == pytest.approx(duration)
    keys.press("ArrowLeft")
    assert position(page) == pytest.approx(duration - frame, abs=1e-3)
    keys.press("Shift+ArrowLeft")
    assert position(page) == pytest.approx(duration - frame - 1, abs=1e-3)
    keys.press("ArrowRight")
    assert position(page) == pytest.approx(duration - 1, abs=1e-3)
    keys.press("Home")
    assert position(page) == 0
    keys.press(" ")
    page.wait_for_function(f"{LIVE}.player.state === 'playing' && {LIVE}.position > 0")
    keys.press(" ")
    assert page.evaluate(f"{LIVE}.player.state") == "paused"


def test_zoom_and_fit(spoken):
    scale = f"{LIVE}.view.secondsPerPixel"
    before = spoken.evaluate(scale)
    spoken.keyboard.press("+")
    assert spoken.evaluate(scale) < before
    spoken.keyboard.press("-")
    assert spoken.evaluate(scale) == pytest.approx(before)
    spoken.keyboard.press("f")
    width = f"{LIVE}.board.clientWidth"
    assert (
        spoken.evaluate(f"{LIVE}.view.span({width})") >= spoken.evaluate(f"{LIVE}.planned") - 1e-6
    )


def test_none_of_it_in_a_text_field_or_on_a_button(spoken):
    at = position(spoken)
    spoken.focus("#text textarea")
    spoken.keyboard.type(" p?f+")
    spoken.keyboard.press("ArrowLeft")
    spoken.keyboard.press("Home")
    assert spoken.input_value("#text textarea").endswith(" p?f+")
    assert not spoken.evaluate(PRESENTER)
    assert not spoken.is_visible("dialog.keys")
    assert position(spoken) == at
    spoken.focus(".live .zoom-in")
    spoken.keyboard.press(" ")
    assert spoken.evaluate(f"{LIVE}.player.state") != "playing"


def test_help_lists_the_keys_and_closes(spoken):
    spoken.keyboard.press("?")
    assert "Presenter mode" in spoken.inner_text("dialog.keys:visible")
    spoken.keyboard.press("p")
    assert not spoken.evaluate(PRESENTER)
    spoken.keyboard.press("Escape")
    assert not spoken.is_visible(".live dialog.keys")
    spoken.click(".live button.help")
    assert spoken.is_visible(".live dialog.keys")


def test_presenter_mode_shows_only_tokens_graphs_numbers_and_the_legend(spoken):
    spoken.keyboard.press("p")
    assert spoken.evaluate(PRESENTER)
    assert spoken.is_visible(".live canvas.grid")
    assert spoken.is_visible(".live .numbers")
    assert spoken.is_visible(".live .legend")  # who came later has to know what the colours mean
    bottom = "document.querySelector('.live .legend').getBoundingClientRect().bottom - innerHeight"
    assert spoken.evaluate(bottom) <= 0
    top = "document.elementFromPoint(innerWidth / 2, 8).closest('.live') !== null"
    assert spoken.evaluate(top)
    assert spoken.evaluate("document.documentElement.scrollWidth") <= 1280
    spoken.keyboard.press("Escape")
    assert not spoken.evaluate(PRESENTER)


def test_what_presenter_mode_covers_is_out_of_reach(spoken):
    outside = "document.querySelector('#text textarea').closest('[inert]') !== null"
    where = "document.activeElement.closest('.live') ? 'live' : document.activeElement.localName"
    spoken.keyboard.press("p")
    focused = set()
    for _ in range(12):
        spoken.keyboard.press("Tab")
        focused.add(spoken.evaluate(where))
    assert focused <= {"live", "body"}
    assert "live" in focused
    assert spoken.evaluate(outside)
    spoken.keyboard.press("Escape")
    assert not spoken.evaluate(outside)
    spoken.focus("#text textarea")
    assert spoken.evaluate("document.activeElement.matches('textarea')")


def test_presenter_mode_shows_what_went_wrong(page):
    page.keyboard.press("p")
    assert not page.is_visible(".live .status")
    for state in ("failed", "blocked"):
        page.evaluate(f"document.querySelector('.live .status').dataset.state = '{state}'")
        assert page.is_visible(".live .status")
        box = page.locator(".live .status").bounding_box()
        assert box["y"] >= 0
        top = f"document.elementFromPoint({box['x'] + 30}, {box['y'] + box['height'] / 2})"
        assert page.evaluate(f"{top}.matches('.status')")


def test_escape_closes_what_is_open_before_it_stops(page):
    speak(page, LONG)
    wait_for_sound(page, 1)
    page.evaluate("document.activeElement.blur()")
    page.evaluate(f"{LIVE}.toolbar.exports.offer('x', 0)")
    page.click(".live .exports summary")
    page.keyboard.press("Escape")
    assert not page.is_visible(".live .exports a")
    page.focus(".live .board")
    page.keyboard.press("Enter")
    assert page.is_visible(".live .inspect")
    page.keyboard.press("p")
    page.keyboard.press("Escape")
    assert not page.is_visible(".live .inspect")
    assert page.evaluate(f"{PRESENTER} && {LIVE}.playing")
    page.keyboard.press("Escape")
    assert page.evaluate(f"!{PRESENTER} && {LIVE}.playing")
    page.keyboard.press("Escape")
    wait_for_status(page, "Stopped.")


def test_escape_stops_the_run(page, voice):
    speak(page, LONG)
    wait_for_sound(page)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("p")
    page.keyboard.press("Escape")
    assert page.evaluate(f"!{PRESENTER} && {LIVE}.playing")
    page.keyboard.press("Escape")
    wait_for_status(page, "Stopped.")
    assert not still_speaks(voice)


def test_tokens_are_read_by_keyboard(spoken):
    spoken.keyboard.press("Home")
    spoken.focus(".live .board")
    spoken.keyboard.press("Enter")
    assert "codebook 0, frame 0" in spoken.inner_text(".live .inspect")
    spoken.keyboard.press("ArrowDown")
    assert "codebook 1, frame 0" in spoken.inner_text(".live .inspect")
    spoken.keyboard.press("ArrowRight")
    spoken.keyboard.press("Enter")
    assert "codebook 1, frame 1" in spoken.inner_text(".live .inspect")


def test_every_control_has_a_name(spoken):
    for control in spoken.locator(".live :is(button, input, summary, .board, .board canvas)").all():
        named = control.get_attribute("aria-label") or control.inner_text()
        assert named.strip()
