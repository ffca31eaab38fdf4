"""A student's own sentence, through the real page with the fake voice."""

import pytest

from tests.browser.lessons import STEPS, learn
from tests.browser.pages import LONG, speak, synthesized, wait_for_sound, wait_for_status

pytestmark = pytest.mark.browser
HOSTILE = "<img src=x onerror='window.hacked = 1'> ${window.hacked = 1} {{hacked}} & co"


def record(page, text):
    page.fill("#text textarea", text)
    learn(page)
    page.click("#record")


def test_a_sentence_of_ones_own_is_spoken_and_stepped_through(page):
    record(page, "my own words\nand not these")
    page.wait_for_selector(".steps.current .chip")
    shown = page.evaluate(f"{STEPS}.trace")
    _, trace = synthesized("my own words", shown)
    assert [round_["draft_tokens"] for round_ in shown["rounds"]] == [
        list(round_.draft_tokens) for round_ in trace.rounds
    ]
    assert page.inner_text(".steps .sentence") == "my own words"
    page.wait_for_function("document.querySelector('.learn .status').dataset.state === 'done'")
    assert page.is_enabled("#record")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(f"{STEPS}.action") == 1


def test_own_ideas_are_made_to_be_heard(page):
    record(page, "a somewhat longer sentence to reject something of")
    page.wait_for_selector(".steps.current .chip")
    rejected = page.evaluate(
        f"{STEPS}.trace.rounds.findIndex((r) => r.accepted < r.draft_tokens.length)"
    )
    page.evaluate(f"{STEPS}.turn({rejected})")
    page.wait_for_function(f"{STEPS}.view.round === {rejected}")
    while not page.is_visible(".steps .hearings"):
        page.keyboard.press("ArrowRight")
    with page.expect_response("**/rejected.wav") as response:
        page.locator(".steps").get_by_role("button", name="Hear the rejected idea").click()
    assert response.value.body()[:4] == b"RIFF"


def test_text_stays_text(page):
    record(page, HOSTILE)
    page.wait_for_selector(".steps.current .chip")
    assert page.inner_text(".steps .sentence") == HOSTILE
    assert page.locator(".learn img").count() == 0
    assert page.evaluate("window.hacked") is None


def test_several_recordings_can_be_chosen_from(page):
    record(page, "the first one")
    page.wait_for_selector(".steps.current .chip")
    page.fill("#text textarea", HOSTILE)
    page.click("#record")
    page.wait_for_function(f"{STEPS}.view && {STEPS}.trace.sentences[0].text.startsWith('<img')")
    assert HOSTILE in page.inner_text(".steps select")
    page.select_option(".steps select", label="the first one")
    page.wait_for_function(f"{STEPS}.trace?.sentences[0].text === 'the first one'")
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize("text", ["", "fail"])
def test_what_cannot_be_recorded_says_why(page, text):
    record(page, text)
    page.wait_for_function("document.querySelector('.learn .status').dataset.state === 'failed'")
    said = page.inner_text(".learn > .status")
    assert said.startswith("The fake voice failed" if text else "There is nothing to say")
    assert page.is_enabled("#record")


def test_recording_silences_live(page):
    speak(page, LONG)
    wait_for_sound(page)
    record(page, "hello")
    page.wait_for_selector(".steps.current .chip")
    wait_for_status(page, "Stopped.")
