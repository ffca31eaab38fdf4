"""Several tabs on one page: one model, so they take turns."""

import numpy as np
import pytest

from tests.browser.pages import (
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
