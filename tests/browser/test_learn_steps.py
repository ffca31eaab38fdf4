"""Step mode: every number and bar is that of the recording, computed here once more in numpy."""

import io
import wave

import numpy as np
import pytest

from core.ideas import was_rejected
from tests.browser.lessons import (
    SEEN,
    SHOWN,
    STEPS,
    actions,
    change,
    distributions,
    go_to,
    partly_accepted,
    recorded,
    served_lessons,
    settled,
    share,
    step_mode,
    visited,
)

pytestmark = pytest.mark.browser
RESIDUAL = f"Array.from({STEPS}.picture.left.shown.series.residual)"
HEARD = """
window.heard = [];
const start = AudioBufferSourceNode.prototype.start;
AudioBufferSourceNode.prototype.start = function () {
  window.heard.push(this.buffer.duration);
  start.call(this);
};
"""


@pytest.fixture(scope="module")
def recording():
    return recorded()


@pytest.fixture(scope="module")
def url(tmp_path_factory, recording):
    with served_lessons(tmp_path_factory.mktemp("lessons"), recording) as address:
        yield address


@pytest.fixture
def page(browser, url):
    with visited(browser, url, HEARD) as page:
        step_mode(page)
        yield page


@pytest.fixture(scope="module")
def rejected(recording):
    return partly_accepted(recording)


def expected_actions(round_):
    drafted = len(round_.draft_tokens)
    tested = [("test", row) for row in range(min(round_.accepted + 1, drafted))]
    if round_.accepted < drafted:
        last = [("residual", round_.accepted), ("corrected", round_.accepted)]
    else:
        last = [("bonus" if drafted else "plain", drafted)]
    drafts = [("draft", row) for row in range(drafted)]
    return [*drafts, ("verify", 0), *tested, *last, ("rollback", round_.accepted)]


def expected_words(round_, action, p, q):
    """What must be read at an action, and the marked value on its bars."""
    kind, row = action
    token = (*round_.draft_tokens, round_.next_token)[row]
    if kind == "draft":
        return [f"guesses token {token}", f"is {share(q[row, token])}"]
    if kind == "test":
        chance = min(1.0, p[row, token] / q[row, token])
        stood = row < round_.accepted
        return [
            f"Token {token} is {'accepted' if stood else 'rejected'}.",
            f"min(1, p/q) = {share(chance)}",
            f"drawn is {share(round_.draws[row])}: {'below' if stood else 'not below'}",
            f"α = {share(np.minimum(p[row], q[row]).sum())}",
        ]
    if kind in ("corrected", "bonus", "plain"):
        return [str(round_.next_token), share(round_.next_prob)]
    if kind == "rollback":
        full, kept = len(round_.draft_tokens) + 1, round_.accepted + 1
        before = round_.position
        return [f"from {before} to {before + full} positions", f"{before + kept} positions"]
    return []


def test_every_action_of_every_round_shows_what_happened(page, recording):
    for n, round_ in enumerate(recording.trace.rounds):
        p, q = distributions(recording, n)
        go_to(page, n)
        assert actions(page) == expected_actions(round_)
        for i, (kind, row) in enumerate(expected_actions(round_)):
            text = page.inner_text(".steps .step")
            for words in expected_words(round_, (kind, row), p, q):
                assert words in text, (n, kind, row)
            shown = page.evaluate(SHOWN)
            wanted = {"q": q[row]} if row < len(q) else {}
            wanted |= {} if kind == "draft" else {"p": p[row]}
            assert shown.keys() == wanted.keys()
            for name, values in wanted.items():
                np.testing.assert_allclose(shown[name], values, atol=1e-6)
            if kind == "residual":
                left = np.maximum(p[row] - q[row], 0)
                np.testing.assert_allclose(page.evaluate(RESIDUAL), left / left.sum(), atol=1e-5)
            where = f"Round {n + 1} of {len(recording.trace.rounds)}, action {i + 1} of "
            assert page.inner_text(".steps .where").startswith(where)
            page.evaluate(f"{STEPS}.step(1)")


def test_the_tokens_of_a_round_end_as_the_trace_has_them(page, recording):
    for n, round_ in enumerate(recording.trace.rounds):
        go_to(page, n, action=len(expected_actions(round_)) - 1)
        states = page.locator(".steps .chip").evaluate_all(
            "(all) => all.map((c) => c.classList[1])"
        )
        drafted, accepted = len(round_.draft_tokens), round_.accepted
        if accepted < drafted:
            wanted = ["corrected", *["discarded"] * (drafted - accepted - 1), "open"]
        else:
            wanted = ["bonus" if drafted else "plain"]
        assert states == ["accepted"] * accepted + wanted


def test_back_shows_exactly_what_was_there(page, recording):
    count = sum(len(expected_actions(round_)) for round_ in recording.trace.rounds[:3])
    seen = []
    for _ in range(count):
        seen.append(page.evaluate(SEEN))
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"!{STEPS}.waiting")
    for earlier in reversed(seen):
        page.keyboard.press("ArrowLeft")
        page.wait_for_function(f"!{STEPS}.waiting")
        assert page.evaluate(SEEN) == earlier
    assert page.is_disabled(".steps button.back")


def test_the_last_action_of_all_is_the_end(page, recording):
    page.keyboard.press("End")
    last = len(recording.trace.rounds) - 1
    page.wait_for_function(f"{STEPS}.view.round === {last}")
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    assert page.is_disabled(".steps button.on")
    assert page.inner_text(".steps .where").startswith(f"Round {last + 1} of {last + 1}")


def test_a_token_of_the_round_can_be_looked_at(page, recording):
    go_to(page, 1, action=3)  # all three are drafted
    p, q = distributions(recording, 1)
    page.click(".steps .chip >> nth=1")
    np.testing.assert_allclose(page.evaluate(SHOWN)["q"], q[1], atol=1e-6)
    np.testing.assert_allclose(page.evaluate(SHOWN)["p"], p[1], atol=1e-6)
    assert page.get_attribute(".steps .chip >> nth=1", "aria-current") == "true"


@pytest.mark.parametrize("rule", ["block", "vadusa", "typical"])
def test_what_is_read_agrees_with_what_is_decided(page, recording, rule):
    page.select_option(".whatif select", rule)
    for n in range(len(recording.trace.rounds) - 1):
        go_to(page, n)
        page.evaluate(f"{STEPS}.action = {STEPS}.actions.length - 1; {STEPS}.step(-1)")
        states = page.locator(".steps .chip").evaluate_all(
            "(all) => all.map((c) => c.classList[1])"
        )
        assert states.count("accepted") == page.evaluate(f"{STEPS}.view.accepted")
        assert str(page.evaluate(f"{STEPS}.view.next_token")) in page.inner_text(".steps .headline")


def test_the_rejected_idea_and_what_was_kept_can_be_heard(page, recording, rejected):
    row = recording.trace.rounds[rejected].accepted
    go_to(page, rejected)
    assert not page.is_visible(".steps .hearings")  # not before anything is rejected
    go_to(
        page,
        rejected,
        action=expected_actions(recording.trace.rounds[rejected]).index(("test", row)),
    )
    sounds = {}
    for name, label in (("rejected", "Hear the rejected idea"), ("kept", "Hear what was kept")):
        with page.expect_response(f"**/rounds/{rejected}/{name}.wav") as response:
            page.locator(".steps").get_by_role("button", name=label).click()
        with wave.open(io.BytesIO(response.value.body())) as file:
            sounds[name] = file.readframes(file.getnframes())
            seconds = file.getnframes() / file.getframerate()
        page.wait_for_function(f"Math.abs(heard.at(-1) - {seconds}) < 1e-3")
    assert sounds["rejected"] != sounds["kept"]
    assert page.evaluate("heard.length") == 2
    pressed = ".steps .hearings [aria-pressed=true]"
    assert page.locator(pressed).count() == 1  # the second one silenced the first
    page.locator(pressed).click()
    assert page.locator(pressed).count() == 0
    change(page, "temperature", 0.1)  # these are the sounds of what happened
    page.wait_for_function(f"!{STEPS}.view.is_recorded")
    assert not page.is_visible(".steps .hearings")


def test_no_sound_is_offered_where_nothing_was_rejected(page, recording):
    full = [n for n, round_ in enumerate(recording.trace.rounds) if not was_rejected(round_)]
    for action in range(len(expected_actions(recording.trace.rounds[full[0]]))):
        go_to(page, full[0], action)
        assert not page.is_visible(".steps .hearings")


def test_a_sound_that_fails_says_why(page, rejected):
    page.route("**/rejected.wav", lambda route: route.fulfill(status=400, body="Not today."))
    go_to(page, rejected)
    while not page.is_visible(".steps .hearings"):
        page.keyboard.press("ArrowRight")
    page.locator(".steps").get_by_role("button", name="Hear the rejected idea").click()
    page.get_by_text("Not today.").wait_for()


def test_the_keyboard_alone_goes_everywhere(page):
    keys = page.keyboard
    go_to(page, 1)
    keys.press("ArrowRight")
    assert page.evaluate(f"{STEPS}.action") == 1
    page.focus(".steps button.on")
    keys.press("Enter")
    assert page.evaluate(f"{STEPS}.action") == 2
    keys.press("Shift+ArrowRight")
    page.wait_for_function(f"{STEPS}.view.round === 2 && {STEPS}.action === 0")
    keys.press("Shift+ArrowLeft")
    page.wait_for_function(f"{STEPS}.view.round === 1")
    page.focus(".whatif .temperature")
    keys.press("ArrowLeft")  # belongs to the slider
    settled(page, "Decided anew")
    assert page.evaluate(f"[{STEPS}.action, {STEPS}.whatIf.settings.temperature]") == [0, 0.85]
    page.focus(".steps input.round")
    keys.press("ArrowRight")
    page.wait_for_function(f"{STEPS}.view.round === 2")
