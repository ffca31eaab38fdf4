"""What if: other settings for a recorded round, decided anew; computed here once more in numpy."""

import numpy as np
import pytest

from core.verify import RULES
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


@pytest.fixture(scope="module")
def recording():
    return recorded()


@pytest.fixture(scope="module")
def url(tmp_path_factory, recording):
    with served_lessons(tmp_path_factory.mktemp("lessons"), recording) as address:
        yield address


@pytest.fixture
def page(browser, url):
    with visited(browser, url) as page:
        step_mode(page)
        yield page


@pytest.fixture(scope="module")
def rejected(recording):
    return partly_accepted(recording)


def test_another_temperature_is_decided_from_the_recorded_logits(page, recording, rejected):
    go_to(page, rejected)
    before = page.evaluate(SEEN)
    for temperature in (0.3, 1.5):
        change(page, "temperature", temperature)
        settled(page, "Decided anew")
        page.wait_for_function(f"!{STEPS}.view.is_recorded")
        p, q = distributions(recording, rejected, temperature)
        page.wait_for_function(f"Math.abs({STEPS}.view.q[0][0] - {q[0, 0]}) < 1e-6")
        np.testing.assert_allclose(page.evaluate(SHOWN)["q"], q[0], atol=1e-6)
        round_ = recording.trace.rounds[rejected]
        for row, token in enumerate(round_.draft_tokens):  # with the numbers drawn in the run
            if row >= len(round_.draws):
                break
            stands = round_.draws[row] < min(1, p[row, token] / q[row, token])
            assert page.evaluate(f"{STEPS}.view.rows[{row}].accepted") == stands
            if not stands:
                break
    page.click(".whatif .again")
    settled(page, "All is as it was recorded")
    assert page.evaluate(SEEN) == before


def test_top_p_and_rule_can_be_tried(page, recording):
    go_to(page, 1, action=4)
    change(page, "top_p", 0.5)
    page.wait_for_function(f"Array.from({STEPS}.view.p[0]).includes(0)")
    page.click(".whatif .again")
    page.select_option(".whatif select", "same-seed")
    page.wait_for_function(f"{STEPS}.view.rows[0]?.own != null")
    assert "the target draws" in page.inner_text(".steps .reason")
    page.select_option(".whatif select", "ssd")
    settled(page, "Decided anew")
    page.wait_for_function(f"{STEPS}.view.rows[0].accept != null")
    assert "This rule is not lossless." in page.inner_text(".whatif .note")
    p, q = distributions(recording, 1)
    token = recording.trace.rounds[1].draft_tokens[0]
    change(page, "tolerance", 0.1)
    wanted = min(1, min(1, p[0, token] / q[0, token]) + 0.1)
    page.wait_for_function(f"Math.abs({STEPS}.view.rows[0].accept - {wanted}) < 1e-5")
    assert share(wanted) in page.inner_text(".steps .reason")


def test_at_temperature_0_a_guess_that_cannot_be_is_called_so(page, recording):
    """q of what was guessed is 0 wherever it is not the draft's likeliest."""
    unlikely = [
        n
        for n, logits in enumerate(recording.draft_logits)
        if len(logits) and logits[0].argmax() != recording.trace.rounds[n].draft_tokens[0]
    ]
    go_to(page, unlikely[0], action=len(recording.trace.rounds[unlikely[0]].draft_tokens) + 1)
    change(page, "temperature", 0)
    settled(page, "Decided anew from the recorded logits. At temperature 0")
    page.wait_for_function(f"!{STEPS}.waiting && {STEPS}.view.q[0].includes(1)")
    assert actions(page)[page.evaluate(f"{STEPS}.action")] == ("test", 0)
    assert "With these settings the draft cannot guess" in page.inner_text(".steps .reason")


def test_what_a_rule_is_stands_beside_it_and_is_never_cut_off(page):
    page.set_viewport_size({"width": 390, "height": 844})
    claim = page.locator(".whatif .claim")
    for name, rule in RULES.items():
        page.select_option(".whatif select", name)
        assert claim.inner_text() == ("lossless" if rule.lossless else "not lossless")
        box = claim.evaluate("(each) => [each.scrollWidth, each.clientWidth]")
        assert box[0] <= box[1] or box[1] == 0  # inline elements have no width to be cut by
    assert claim.bounding_box()["x"] + claim.bounding_box()["width"] <= 390


def test_guesses_that_were_drawn_otherwise_say_nothing_of_a_rule(page):
    go_to(page, 1)
    page.select_option(".whatif select", "same-seed")
    settled(page, "Decided anew")
    note = page.inner_text(".whatif .note")
    assert "whether the recorded ones stand says nothing of how often this rule accepts" in note
    recorded, instead = page.evaluate(f"[{STEPS}.view.draft_tokens[0], {STEPS}.view.drafted_as[0]]")
    would = f"{recorded}, too." if instead == recorded else f"{instead}, not {recorded}."
    assert f"There it would have guessed {would}" in note
    assert actions(page) == [("draft", 0), ("verify", 0), ("test", 0)]
    page.select_option(".whatif select", "block")  # draws as the run did
    page.wait_for_function(f"{STEPS}.view.rows[0]?.own === null")
    assert "says nothing" not in page.inner_text(".whatif .note")
    assert len(actions(page)) > 3


def test_another_temperature_would_have_been_drafted_from_another_q(page):
    noted = set()
    for n in range(4):
        go_to(page, n)
        change(page, "temperature", 1.5)
        page.wait_for_function(f"!{STEPS}.waiting && !{STEPS}.view.is_recorded")
        same = page.evaluate(f"{STEPS}.view.same_draft")
        note = page.inner_text(".whatif .note")
        assert ("would have drawn from this other q, too" in note) != same
        noted.add(same)
    assert False in noted


TOLERANT = [(rule.name, rule.tolerance) for rule in RULES.values() if rule.tolerance]


@pytest.mark.parametrize(("rule", "tolerance"), TOLERANT, ids=[name for name, _ in TOLERANT])
def test_every_tolerance_goes_in_its_own_steps(page, rule, tolerance):
    page.select_option(".whatif select", rule)
    slider = page.locator(".whatif .tolerance")
    step, least, most = (float(slider.get_attribute(name)) for name in ("step", "min", "max"))
    assert (step, least, most) == (tolerance.step, tolerance.least, tolerance.most)
    slider.focus()
    page.keyboard.press("ArrowLeft")
    wanted = tolerance.value - tolerance.step
    assert page.evaluate(f"{STEPS}.whatIf.settings.tolerance") == pytest.approx(wanted)
    shown = page.inner_text(".whatif label:has(.tolerance) output")
    assert shown == (f"{wanted:.0f}" if float(step).is_integer() else f"{wanted:.2f}")


WHAT_IF = """async ({ trace, rules }) => {
  const { WhatIf } = await import("./page/step-whatif.js");
  window.whatIf = new WhatIf(() => {});
  document.body.replaceChildren(whatIf.element);
  whatIf.begin(trace, rules);
}"""
BETA = {"letter": "β", "value": 0.2, "least": 0, "most": 1, "step": 0.05}
EPSILON = {"letter": "ε", "value": 0.1, "least": 0, "most": 1, "step": 0.05}


def what_if(page, **recorded):
    trace = {"temperature": 0.8, "top_p": 1, "rule": "ssd", "tolerance": 0.5, **recorded}
    rules = [
        {"name": name, "title": name, "lossless": False, "tolerance": tolerance}
        for name, tolerance in (("ssd", BETA), ("typical", EPSILON))
    ]
    page.evaluate(WHAT_IF, {"trace": trace, "rules": rules})


def test_the_tolerance_of_the_run_is_another_rules_number(blank):
    what_if(blank)
    blank.select_option("select", "typical")
    change(blank, "tolerance", 0.5)  # the run's, but of ssd
    assert blank.evaluate("whatIf.settings") == {"rule": "typical", "tolerance": 0.5}
    assert blank.inner_text("label:has(.tolerance) output") == "0.50"
    blank.select_option("select", "ssd")
    assert blank.evaluate("whatIf.settings") == {}
    change(blank, "tolerance", 0.4)
    change(blank, "tolerance", 0.5)
    assert blank.evaluate("whatIf.settings") == {}


@pytest.mark.parametrize("temperature", [0, 0.8, 2, 3.5, 5])
def test_the_slider_stands_where_its_label_says(blank, temperature):
    what_if(blank, temperature=temperature)
    assert float(blank.input_value(".temperature")) == temperature
    assert blank.inner_text("label:has(.temperature) output") == f"{temperature:.2f}"
