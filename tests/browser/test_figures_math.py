"""fig-math.js, fig-dice.js and fig-experiment.js: the figures' numbers, computed here anew."""

import numpy as np
import pytest

from tests.browser.figures import P, Q, by_hand, call

pytestmark = pytest.mark.browser

PAIRS = [
    (P, Q),
    ([0.5, 0.3, 0.2], [0.5, 0.3, 0.2]),
    ([1.0, 0.0, 0.0], [0.0, 0.5, 0.5]),  # they agree on nothing
    ([0.25, 0.25, 0.25, 0.25], [0.7, 0.1, 0.2, 0.0]),
]
RUNS = 100_000
# Of p and q: the chance that each symbol is accepted, and what is redrawn from.
RULES = {
    "right": lambda p, q: (ratio(p, q), residual(p, q)),
    "redraw-from-p": lambda p, q: (ratio(p, q), p),
    "only-if-likelier": lambda p, q: (((p >= q) & (p > 0)).astype(float), residual(p, q)),
    "always": lambda p, q: (np.ones(len(p)), residual(p, q)),
}
OUTCOME = """async ({ p, q, name }) => {
  const { outcome, RULES } = await import("./page/fig-math.js");
  return outcome(p, q, RULES.find((rule) => rule.name === name));
}"""
TOLERANT = """async ({ p, q, beta }) => {
  const { outcome, tolerant } = await import("./page/fig-math.js");
  return outcome(p, q, tolerant(beta));
}"""
EXPERIMENT = """async ({ p, q, name, runs, seed }) => {
  const [{ RULES }, { Experiment }, { dice }] = await Promise.all(
    ["math", "experiment", "dice"].map((part) => import(`./page/fig-${part}.js`)));
  const rule = RULES.find((each) => each.name === name);
  const experiment = new Experiment(p, q, rule, dice(seed));
  experiment.run(1);
  experiment.run(runs - 1);
  const { history, accepted, redrawn } = experiment;
  return { history, accepted, redrawn, runs: experiment.runs, distance: experiment.distance };
}"""


def ratio(p, q):
    return np.minimum(1, np.divide(p, q, out=(p > 0).astype(float), where=q > 0))


def residual(p, q):
    left = np.maximum(0, p - q)
    return left / left.sum() if left.sum() > 0 else p


def law(name, p, q):
    """The exact distribution of what comes out under a rule."""
    p, q = np.array(p), np.array(q)
    accept, redraw = RULES[name](p, q)
    return by_hand(p, q, lambda drafted: accept[drafted], redraw)


def test_the_rules_are_those_named_here(blank):
    listed = """async () => (await import("./page/fig-math.js")).RULES.map(
      ({ name, right }) => [name, right])"""
    assert blank.evaluate(listed) == [[name, name == "right"] for name in RULES]


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_overlap_ratio_and_residual(blank, p, q):
    assert call(blank, "fig-math", "alphaOf", p, q) == pytest.approx(np.minimum(p, q).sum())
    assert call(blank, "fig-math", "acceptRatios", p, q) == pytest.approx(
        ratio(np.array(p), np.array(q)).tolist()
    )
    assert call(blank, "fig-math", "residual", p, q) == pytest.approx(
        residual(np.array(p), np.array(q)).tolist()
    )


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_what_comes_out_under_each_rule(blank, p, q, name):
    found = blank.evaluate(OUTCOME, {"p": p, "q": q, "name": name})
    assert found["out"] == pytest.approx(law(name, p, q).tolist(), abs=1e-12)
    assert found["rate"] == pytest.approx(sum(found["accepted"]))
    if name == "right":
        assert found["out"] == pytest.approx(p, abs=1e-12)


@pytest.mark.parametrize("beta", [0, 0.1, 0.35, 1])
def test_a_tolerance_costs_what_it_gains(blank, beta):
    found = blank.evaluate(TOLERANT, {"p": P, "q": Q, "beta": beta})
    p, q = np.array(P), np.array(Q)
    accept = np.minimum(1, ratio(p, q) + beta)
    expected = by_hand(p, q, lambda drafted: accept[drafted], residual(p, q))
    assert found["out"] == pytest.approx(expected.tolist(), abs=1e-12)
    away = call(blank, "fig-math", "distance", found["out"], P)
    assert away == pytest.approx(np.abs(expected - p).sum() / 2)
    # What chapter 10 lets its reader find out: it is one for one.
    assert away == pytest.approx(found["rate"] - np.minimum(p, q).sum())


@pytest.mark.parametrize("name", RULES)
def test_a_hundred_thousand_runs_settle_where_the_rule_leads(blank, name):
    found = blank.evaluate(EXPERIMENT, {"p": P, "q": Q, "name": name, "runs": RUNS, "seed": 1})
    counted = np.add(found["accepted"], found["redrawn"]) / RUNS
    assert found["runs"] == RUNS
    assert counted.sum() == pytest.approx(1)

    def within(expected):
        sigma = np.sqrt(np.multiply(expected, np.subtract(1, expected)) / RUNS)
        return bool((np.abs(counted - expected) <= 4 * sigma + 1e-12).all())

    assert within(law(name, P, Q))
    assert within(np.array(P)) == (name == "right")
    assert found["distance"] == pytest.approx(np.abs(counted - P).sum() / 2)
    noted = [point["runs"] for point in found["history"]]
    assert noted == sorted(set(noted))
    assert noted[0] == 1
    assert 0.9 * RUNS < noted[-1] <= RUNS
    assert len(noted) < 300  # evenly spread where the axis is logarithmic


def test_each_way_of_coming_out_has_its_own_share(blank):
    found = blank.evaluate(EXPERIMENT, {"p": P, "q": Q, "name": "right", "runs": RUNS, "seed": 2})
    p, q = np.array(P), np.array(Q)
    for way, share in (("accepted", np.minimum(p, q)), ("redrawn", np.maximum(0, p - q))):
        sigma = np.sqrt(share * (1 - share) / RUNS)
        assert (np.abs(np.array(found[way]) / RUNS - share) <= 4 * sigma + 1e-12).all()


def test_chance_is_as_far_from_p_as_draws_are(blank):
    draws = np.random.default_rng(0).multinomial(1000, P, size=4000) / 1000
    mean = (np.abs(draws - P).sum(1) / 2).mean()
    assert call(blank, "fig-math", "chanceDistance", P, 1000) == pytest.approx(mean, rel=0.03)


def test_a_false_alarm_is_rarer_than_one_in_a_thousand():
    """figure-proof.js calls 4 times the mean distance more than chance."""
    draws = np.random.default_rng(0).multinomial(RUNS, P, size=100_000) / RUNS
    away = np.abs(draws - P).sum(1) / 2
    assert (away > 4 * away.mean()).mean() < 1e-3


def test_dice_are_even_and_repeat(blank):
    roll = """async ([seed, count]) => {
      const random = (await import("./page/fig-dice.js")).dice(seed);
      return Array.from({ length: count }, random);
    }"""
    first, again, other = (blank.evaluate(roll, [seed, 20_000]) for seed in (7, 7, 8))
    assert first == again != other
    counts, _ = np.histogram(first, 20, (0, 1))
    assert ((counts - 1000) ** 2 / 1000).sum() < 50  # chi-square, 19 degrees: 43.8 is 1 in 1000
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 0.03


def test_seeds_that_follow_one_another_are_strangers(blank):
    shares = """async ([seed, count, bins]) => {
      const random = (await import("./page/fig-dice.js")).dice(seed);
      const counts = Array(bins).fill(0);
      for (let i = 0; i < count; i += 1) counts[Math.floor(bins * random())] += 1;
      return counts.map((each) => each / count);
    }"""
    bins, count = 10, 1000
    found = np.array([blank.evaluate(shares, [seed, count, bins]) for seed in range(40)])
    away = np.abs(found[1:] - found[:-1]).sum(1).mean() / 2
    chance = call(blank, "fig-math", "chanceDistance", [1 / bins] * bins, count)
    assert away == pytest.approx(2**0.5 * chance, rel=0.15)  # two histograms differ by chance


def test_no_symbol_of_probability_zero_is_drawn(blank):
    for probabilities, u, symbol in (
        ([0, 1, 0], 0, 1),
        ([0.5, 0, 0.5], 0.5, 2),
        ([0.3, 0.7, 0], 1 - 2**-53, 1),
    ):
        assert call(blank, "fig-dice", "symbolAt", probabilities, u) == symbol


def test_a_value_that_is_set_leaves_a_distribution(blank):
    set_to = lambda *args: call(blank, "fig-math", "withValue", *args)  # noqa: E731
    assert set_to(P, 0, 0.2) == pytest.approx([0.2, 0.48, 0.32])
    assert set_to([1, 0, 0], 0, 0.5) == pytest.approx([0.5, 0.25, 0.25])
    assert set_to(P, 1, 7) == pytest.approx([0, 1, 0])


@pytest.mark.parametrize("alpha", [0, 0.5, 0.88, 1])
@pytest.mark.parametrize("gamma", [1, 4, 16])
def test_the_speed_up_is_the_formula(blank, alpha, gamma):
    c, slope = 0.1, 0.05
    costs = {"alpha": alpha, "gamma": gamma, "c": c, "slope": slope}
    tokens = gamma + 1 if alpha == 1 else (1 - alpha ** (gamma + 1)) / (1 - alpha)
    assert call(blank, "fig-math", "tokensPerRound", alpha, gamma) == pytest.approx(tokens)
    expected = tokens / (gamma * c + 1 + slope * gamma)
    assert call(blank, "fig-math", "speedup", costs) == pytest.approx(expected)


def test_the_best_window_is_none_where_a_guess_costs_what_it_brings(blank):
    best = lambda **costs: call(blank, "fig-math", "bestGamma", costs, 16)  # noqa: E731
    assert best(alpha=0.5, c=0.4, slope=0.1) == 0  # exactly on the border
    assert best(alpha=0.5, c=0.3, slope=0.1) == 1
    assert best(alpha=0.99, c=1, slope=0) == 0
    assert best(alpha=0.99, c=0.01, slope=0.01) == 16
