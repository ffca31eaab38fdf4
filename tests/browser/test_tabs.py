"""Several tabs, of the browser and of the page: one model and one ear, so they take turns."""

import numpy as np
import pytest

from tests.browser.pages import (
    LIVE,
    LONG,
    finish,
    held_pcm,
    live_header,
    speak,
    still_speaks,
    synthesized,
    visit,
    wait_for_sound,
    wait_for_status,
)

pytestmark = pytest.mark.browser


def test_two_tabs_take_turns_and_hear_only_their_own_sound(browser, url, page):
    other = visit(browser, url)
    first, second = "\n".join(["one after another"] * 8), "the second one"
    speak(page, first)
    wait_for_sound(page)
    speak(other, second)
    wait_for_status(other, "2nd in the queue")
    assert other.get_attribute(".live .status", "data-state") == "queued"
    finish(other)
    finish(page)
    for tab, text in ((page, first), (other, second)):
        pcm, _ = synthesized(text, live_header(tab))
        np.testing.assert_array_equal(held_pcm(tab), pcm)
    other.close()


def test_a_closed_tab_ends_its_run_and_lets_the_next_one_speak(browser, url, voice, page):
    other = visit(browser, url)
    speak(other, LONG)
    wait_for_sound(other)
    speak(page, "hello")
    wait_for_status(page, "2nd in the queue")
    other.close()
    finish(page)
    assert not still_speaks(voice)


def test_a_test_that_is_prepared_goes_on_while_the_page_speaks(page):
    """It makes no sound."""
    speak(page, LONG)
    wait_for_sound(page)
    page.get_by_role("tab", name="Listen").click()
    page.fill("#listen-form input[type=number]", "12")
    page.click("#prepare")
    page.wait_for_function("document.querySelector('.listen progress')?.value > 2")
    assert page.evaluate(f"{LIVE}.player.state") == "playing"
    page.get_by_role("tab", name="Live").click()
    page.click("#stop")
    speak(page, "hello")
    finish(page)
    page.get_by_role("tab", name="Listen").click()
    wait_for_status(page, "The test is ready.", ".listen", 20_000)


def test_a_race_silences_live_and_ends_its_run(page, voice):
    speak(page, LONG)
    wait_for_sound(page)
    page.get_by_role("tab", name="Race").click()
    page.fill("#text textarea", "hello")
    page.click("button#race")
    assert page.evaluate(f"{LIVE}.player.state") == "paused"
    wait_for_status(page, "Done.", ".race >", 20_000)
    assert not still_speaks(voice)
    page.click("#stop-race")
    assert page.inner_text(".race > .status") == "Done."
