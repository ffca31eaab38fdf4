"""The figures over a few symbols: accept, residual, proof, tolerance; and the formula's two."""

import re

import numpy as np
import pytest

from tests.browser.conftest import MODULES
from tests.browser.figures import MACHINE, P, Q, drag, mount, percents, rows, said

pytestmark = pytest.mark.browser

SYMBOLS = {"p": P, "q": Q}
ALPHA = 0.7  # of P and Q
WRONG = ("Wrong: redraw from p", "Wrong: only if p ≥ q", "Wrong: accept always")
ARROWS = """() => {
  window.heard = [];
  document.addEventListener("keydown", ({ key }) => heard.push(key));
}"""


def alternatives(page) -> list[str]:
    """What the drawings say to those who do not see them."""
    return page.evaluate("() => [...document.querySelectorAll('svg')].map((e) => e.ariaLabel)")


def test_the_accept_test_of_each_symbol(blank):
    mount(blank, "accept", SYMBOLS)
    found = rows(blank)
    assert percents([found[name][0] for name in "ABC"]) == P
    assert [float(found[name][2]) for name in "ABC"] == [1, 1, 0.4]
    assert percents([found[name][3] for name in "ABC"]) == [0.3, 0.2, 0.2]
    assert "70.0 %" in said(blank)
    assert "A: p 50 %, q 30 %" in alternatives(blank)[0]


def test_a_guess_is_accepted_below_its_ratio_and_so_often(blank):
    mount(blank, "accept", {**SYMBOLS, "seed": 5})
    ratios = {"A": 1, "B": 1, "C": 0.4}
    accepted = 0
    for count in range(1, 21):
        blank.get_by_role("button", name="Draft a token and test it").click()
        drafted, number, verdict = re.match(
            r"The draft said (.)\. The number (\S+) is .*: (\w+)\.", said(blank)
        ).groups()
        stands = verdict == "accepted"
        assert stands == (float(number) < ratios[drafted]) or number == "0.40"
        accepted += stands
        assert f"So far {accepted} of {count} accepted" in said(blank)
    for _ in range(30):
        blank.get_by_role("button", name="Test 100 more").click()
    stood, tests = map(int, re.search(r"So far (\d+) of (\d+)", said(blank)).groups())
    assert tests == 3020
    assert abs(stood / tests - ALPHA) < 4 * (ALPHA * (1 - ALPHA) / tests) ** 0.5


def test_a_slider_sets_a_value_and_the_others_make_room(blank):
    mount(blank, "accept", SYMBOLS)
    drag(blank, "q of A", 50)
    found = rows(blank)
    assert percents([found[name][1] for name in "ABC"]) == pytest.approx([0.5, 0.143, 0.357])
    assert blank.get_by_role("slider", name="q of A").get_attribute("aria-valuetext") == "50 %"
    blank.get_by_role("button", name="Perfect draft").click()
    assert "100.0 %" in said(blank)
    blank.get_by_role("button", name="Start over").click()
    assert "70.0 %" in said(blank)


def test_a_bar_can_be_dragged(blank):
    mount(blank, "accept", SYMBOLS)
    area = blank.locator("svg").first.bounding_box()
    column = (area["width"] - 54) / 3
    x = area["x"] + 54 + 1.75 * column  # right half of B: its q
    bottom, top = area["y"] + 230 - 26, area["y"] + 22
    blank.mouse.move(x, bottom - 0.2 * (bottom - top))
    blank.mouse.down()
    blank.mouse.move(x, bottom - 0.6 * (bottom - top))
    blank.mouse.up()
    blank.mouse.move(x, bottom)
    assert percents([rows(blank)["B"][1]]) == pytest.approx([0.6], abs=0.011)


def test_the_arrow_keys_of_a_slider_turn_no_page(blank):
    mount(blank, "accept", SYMBOLS)
    blank.evaluate(ARROWS)
    slider = blank.get_by_role("slider", name="p of A")
    slider.focus()
    blank.keyboard.press("ArrowRight")
    blank.keyboard.press("Tab")
    assert slider.input_value() == "51"
    assert blank.evaluate("heard") == ["Tab"]


def test_the_residual_is_what_is_missing(blank):
    mount(blank, "residual", SYMBOLS)
    found = rows(blank)
    p, q = np.array(P), np.array(Q)
    left = np.maximum(0, p - q)
    for column, expected in enumerate((left, np.maximum(0, q - p), left / left.sum())):
        shares = percents([found[name][column] for name in "ABC"])
        assert shares == pytest.approx(expected.tolist(), abs=6e-4)
    assert said(blank).count("30.0 %") == 2
    assert "A 66.7 %, B 33.3 %, C 0.0 %" in alternatives(blank)[1]


def test_a_perfect_draft_leaves_nothing_to_redraw(blank):
    mount(blank, "residual", SYMBOLS)
    blank.get_by_role("button", name="Perfect draft").click()
    assert said(blank).startswith("q is p: nothing is refused")
    assert percents(rows(blank)["A"]) == [0, 0, 0]


@pytest.mark.parametrize(
    ("rule", "out"),
    [
        ("Right rule", P),
        ("Wrong: redraw from p", [0.45, 0.29, 0.26]),
        ("Wrong: only if p ≥ q", [0.633, 0.367, 0]),
        ("Wrong: accept always", Q),
    ],
)
def test_the_proof_settles_on_p_under_the_right_rule_only(blank, rule, out):
    mount(blank, "proof", {**SYMBOLS, "runs": 100_000})
    blank.get_by_role("radio", name=rule).check()
    found = rows(blank)
    accepted, redrawn, calculated = (
        percents([found[name][column] for name in "ABC"]) for column in range(3)
    )
    assert calculated == pytest.approx(out, abs=6e-4)
    assert np.add(accepted, redrawn) == pytest.approx(calculated, abs=2e-3)
    assert ("exactly" in said(blank)) == (out == P)
    blank.get_by_role("button", name="Run it 100,000 times").click()
    blank.wait_for_function("document.querySelector('.fig-says').textContent.startsWith('After')")
    counted = np.array(percents([rows(blank)[name][4] for name in "ABC"]))
    sigma = np.sqrt(np.multiply(out, np.subtract(1, out)) / 1e5)
    assert (np.abs(counted - out) <= 4 * sigma + 6e-4).all()
    assert ("it settles on p" in said(blank)) == (out == P)
    assert ("settles elsewhere" in said(blank)) == (out != P)
    away = float(re.search(r"is (\S+) % away", said(blank))[1]) / 100
    assert away == pytest.approx(np.abs(counted - P).sum() / 2, abs=2e-4)


@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("rule", WRONG)
def test_no_wrong_rule_is_called_right_after_a_few_tokens(blank, rule, seed):
    mount(blank, "proof", {**SYMBOLS, "runs": 100, "seed": seed})
    blank.get_by_role("radio", name=rule).check()
    blank.get_by_role("button", name="Run it 100 times").click()
    blank.wait_for_function("document.querySelector('.fig-says').textContent.startsWith('After')")
    assert "settles on p" not in said(blank)
    assert ("too few tokens to tell" in said(blank)) != ("settles elsewhere" in said(blank))


def test_a_rule_that_is_wrong_elsewhere_may_settle_on_p(blank):
    mount(blank, "proof", {"p": P, "q": P, "runs": 100})
    blank.get_by_role("radio", name="Wrong: accept always").check()
    blank.get_by_role("button", name="Run it 100 times").click()
    blank.wait_for_function("document.querySelector('.fig-says').textContent.startsWith('After')")
    assert "it settles on p" in said(blank)


def test_the_experiment_can_be_paused_and_another_rule_forgets_it(blank):
    mount(blank, "proof", {**SYMBOLS, "runs": 10**6})
    blank.get_by_role("button", name="Run it").focus()
    blank.keyboard.press("Enter")
    counting = "document.querySelectorAll('.fig-title')[1].textContent.startsWith('Counted in')"
    blank.wait_for_function(counting)
    blank.keyboard.press("Enter")
    before = blank.locator(".fig-title").nth(1).inner_text()
    assert before.startswith("Counted in")
    blank.wait_for_timeout(100)
    assert blank.locator(".fig-title").nth(1).inner_text() == before
    assert blank.get_by_role("button", name="Run it").is_visible()
    blank.get_by_role("radio", name="Right rule").focus()
    blank.keyboard.press("ArrowDown")
    assert blank.get_by_role("radio", name="Wrong: redraw from p").is_checked()
    assert blank.locator(".fig-title").nth(1).inner_text() == "Nothing counted yet"


@pytest.mark.parametrize("beta", [0, 0.2, 1])
def test_what_a_tolerance_gains_and_costs(blank, beta):
    mount(blank, "tolerance", {**SYMBOLS, "gamma": 4, "c": 0.1, "slope": 0.05})
    drag(blank, "β, the tolerance", beta)
    rate = 0.5 + 0.5 * min(1, 0.4 + beta)  # A and B are always accepted, C with p/q + β
    tokens = sum(rate**i for i in range(5))
    found = {name: cells[1] for name, cells in rows(blank).items()}
    assert percents([found["guesses accepted"]]) == pytest.approx([rate], abs=6e-4)
    assert float(found["tokens per round, γ 4"]) == pytest.approx(tokens, abs=0.006)
    assert float(found["predicted speed-up"][:-1]) == pytest.approx(tokens / 1.6, abs=0.006)
    away = percents([found["distance from the target"]])
    assert away == pytest.approx([rate - ALPHA], abs=6e-4)
    assert ("Not lossless" in said(blank)) == (beta > 0)
    assert ("Of 100 tested places" in said(blank)) == (beta > 0)


def test_the_speed_up_of_the_sliders_and_of_this_machine(blank):
    mount(blank, "speedup", {"alpha": 0.5, "gamma": 2, "c": 0.1, "slope": 0.1}, machine=MACHINE)
    assert "emits 1.75 tokens" in said(blank)
    assert "1.25×" in said(blank)  # 1.75 / (0.2 + 1.2)
    drag(blank, "α, a guess is accepted", 0.9)
    assert "1.94×" in said(blank)  # 2.71 / 1.4
    blank.get_by_role("button", name="This machine's numbers").click()
    expected = sum(0.8**i for i in range(5)) / (4 * 0.2 + 1.7)
    assert said(blank).count(f"{expected:.2f}×") >= 2  # by the sliders, and as the machine's
    assert "γ 4" in said(blank)
    assert (blank.locator(".fig-machine").count(), blank.locator(".fig-run").count()) == (1, 0)


def test_what_a_run_measured_stands_beside_what_was_predicted(blank):
    measured = {"gamma": 3, "speedup": 1.37}
    mount(blank, "speedup", machine={**MACHINE, "measured": measured})
    assert "Its latest run, with γ 3, was measured at 1.37×." in said(blank)
    assert "that predicts" in said(blank)
    assert (blank.locator(".fig-machine").count(), blank.locator(".fig-run").count()) == (1, 1)
    # where no γ pays, there is none to predict with
    mount(blank, "speedup", machine={**MACHINE, "gamma": 0, "measured": measured})
    assert "1.37×" in said(blank)
    assert (blank.locator(".fig-machine").count(), blank.locator(".fig-run").count()) == (0, 1)
    assert blank.get_by_role("button", name="This machine's numbers").is_disabled()


def test_what_is_measured_later_is_there_when_the_figure_is_seen_again(blank):
    mount(blank, "speedup", machine=MACHINE)
    assert blank.locator(".fig-run").count() == 0
    blank.evaluate("machine.measured = { gamma: 4, speedup: 1.5 }")
    blank.evaluate("document.querySelector('figure').hidden = true")
    blank.wait_for_timeout(100)
    blank.evaluate("document.querySelector('figure').hidden = false")
    blank.locator(".fig-run").wait_for(state="attached")


def test_a_machine_that_has_measured_nothing_has_no_point(blank):
    mount(blank, "speedup", {})
    assert blank.get_by_role("button", name="This machine's numbers").is_disabled()
    assert blank.locator(".fig-machine").count() == 0


OVERLAPS = """() => {
  const found = (selector) => [...document.querySelectorAll(`svg ${selector}`)];
  const names = found(".fig-value");
  const all = [...names, ...found(":is(.fig-here, .fig-machine, .fig-run)")];
  const touch = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return names.flatMap((name, i) => all.slice(i + 1)
    .filter((other) => touch(name.getBoundingClientRect(), other.getBoundingClientRect()))
    .map((other) => `${name.textContent} and ${other.textContent || "a point"}`));
}"""


@pytest.mark.parametrize("gamma", [1, 4, 15])
@pytest.mark.parametrize("figure", ["speedup", "pays"])
def test_names_cover_neither_one_another_nor_a_point(blank, figure, gamma):
    """Near what the machine predicts and measured, wherever that is; and on a telephone."""
    costs = {"alpha": 0.86, "gamma": gamma, "c": 0.05, "slope": 0.02}
    v = [1 + 0.02 * n for n in range(17)]
    own = {"alpha": 0.88, "c": 0.06, "v": v, "gamma": gamma, "tokens_per_s": 150.0}
    blank.add_style_tag(content=(MODULES.parent / "learn.css").read_text(encoding="utf-8"))
    for width in (1000, 360):
        blank.set_viewport_size({"width": width, "height": 800})
        for speedup in (1.6, 2.4, 3.5):
            measured = {"gamma": gamma, "speedup": speedup}
            mount(blank, figure, costs, machine={**own, "measured": measured})
            assert blank.locator(".fig-machine").count() == 1
            assert blank.evaluate(OVERLAPS) == []


def test_the_cost_of_a_round_is_that_of_the_formula(blank):
    mount(blank, "speedup", {"alpha": 0.5, "gamma": 2, "c": 0.1, "slope": 0.1})
    assert "It costs γ · c + v = 0.20 + 1.20 = 1.40 passes" in said(blank)
    assert "d, each further token in a pass" in blank.inner_text(
        ".fig-costs"
    )  # v is the whole pass


def test_where_drafting_does_not_pay(blank):
    mount(blank, "pays", {"alpha": 0.5, "gamma": 1, "c": 0.39, "slope": 0.1}, machine=MACHINE)
    assert "faster than the baseline" in said(blank)
    drag(blank, "c, cost of a guess", 0.42)  # the border is c = α - slope
    assert "slower than the baseline" in said(blank)
    assert "no γ pays" in said(blank)
    assert "slower" in alternatives(blank)[0]


@pytest.mark.parametrize("name", ["accept", "residual", "proof", "tolerance"])
@pytest.mark.parametrize(
    "options", [{"p": [0.5, 0.4], "q": [0.5, 0.5]}, {"p": [0.5, 0.5], "q": Q}, {"p": [1], "q": [1]}]
)
def test_what_is_no_pair_of_distributions_is_refused_in_words(blank, name, options):
    with pytest.raises(Exception, match=r"must (be numbers|have the same)"):
        mount(blank, name, options)


def test_a_cost_out_of_range_is_refused_in_words(blank):
    with pytest.raises(Exception, match=r"c must be a number from 0 to 1\.2"):
        mount(blank, "pays", {"c": 3})
