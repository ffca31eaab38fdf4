"""Relaxed rules: accept exactly as their papers say, are biased, and are not where that is said."""

import math
from collections import defaultdict
from itertools import product

import pytest
import torch
from torch import Tensor

from core.codec.groups import AcousticGroups
from core.errors import ForespeakError
from core.rules.exact import residual
from core.verify import RULES, Rule, find_rule
from tests.core.exactness import BIASED, EXACT, bias, pair
from tests.fakes import Branches, EnumeratedNoise, every_path

RELAXED = [rule for rule in RULES.values() if not rule.lossless]
P = torch.tensor([0.5, 0.3, 0.2, 0.0], dtype=torch.float64)
Q = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
# Two codebooks of four entries in a line; for their size, the second one's lie further apart.
LINES = torch.tensor([[0.0, 1, 2, 3], [-3.0, -1, 1, 3]], dtype=torch.float64)[..., None]
GROUPS = AcousticGroups(LINES)
ALIKE = 1.01 / LINES[0].pow(2).mean().sqrt().item()  # a radius that takes in the neighbours


def heard(rule: Rule) -> Rule:
    return rule.hearing(GROUPS) if rule.acoustic else rule


def first_token(rule: Rule, position: int = 0) -> Tensor:
    """What one place emits [V], over all drafts and all numbers."""

    def run(branches: Branches) -> int:
        rng = EnumeratedNoise(branches).at(position)
        drafted = rule.draw(rng, 0, Q)
        accepted, following = rule.verify([drafted], Q[None], torch.stack((P, P)), rng)
        return drafted if accepted else following

    said: dict[int, float] = defaultdict(float)
    for weight, token in every_path(run):
        said[token] += weight
    return torch.tensor([said[token] for token in range(len(P))], dtype=torch.float64)


def emitted(accept: Tensor, redraw: Tensor) -> Tensor:
    """In closed form: accept [V], redraw [V rejected, V]."""
    return Q * accept + (Q * (1 - accept)) @ redraw


def without(token: int) -> Tensor:
    left = P.clone()
    left[token] = 0
    return left / left.sum()


@pytest.mark.parametrize("beta", [0.0, 0.2, 0.7, 1.0])
def test_ssd_accepts_with_the_ratio_and_beta(beta: float) -> None:
    accept = ((P / Q).clamp(max=1) + beta).clamp(max=1)
    wanted = emitted(accept, residual(P, Q).expand(4, 4))
    assert torch.allclose(first_token(find_rule("ssd", beta)), wanted, atol=EXACT)


@pytest.mark.parametrize("tau", [1, 2, 3])
def test_vadusa_accepts_what_is_among_samples_of_the_target(tau: int) -> None:
    """Against the samples themselves: the draft if it is among them, else the first of them."""
    wanted = torch.zeros(4, dtype=torch.float64)
    for drafted in range(4):
        for samples in product(range(4), repeat=tau):
            weight = Q[drafted] * math.prod(float(P[token]) for token in samples)
            wanted[drafted if drafted in samples else samples[0]] += weight
    assert torch.allclose(first_token(find_rule("vadusa", tau)), wanted, atol=EXACT)


@pytest.mark.parametrize("epsilon", [0.0, 0.09, 0.2, 0.6, 1.0])
def test_typical_accepts_above_a_threshold_of_the_entropy(epsilon: float) -> None:
    entropy = -sum(p * math.log(p) for p in (0.5, 0.3, 0.2))
    threshold = min(epsilon, math.sqrt(epsilon) * math.exp(-entropy))
    accept = (threshold < P).double()
    assert torch.allclose(
        first_token(find_rule("typical", epsilon)), emitted(accept, P.expand(4, 4)), atol=EXACT
    )


@pytest.mark.parametrize("position", [0, 1, 2, 3])
def test_pcg_draws_a_group_of_the_token_and_tests_that(position: int) -> None:
    """Against the paper's steps one by one, with the groups of the position's own codebook."""
    near = {0: 1, 1: 0}[position % 2]  # the second codebook's neighbours are too far apart
    members = [[j for j in range(4) if abs(i - j) <= near] for i in range(4)]
    holding = [[i for i in range(4) if j in members[i]] for j in range(4)]

    def coarse(probabilities: Tensor) -> list[float]:
        return [sum(float(probabilities[j]) / len(holding[j]) for j in group) for group in members]

    of_p, of_q = coarse(P), coarse(Q)
    left = [max(0.0, p - q) for p, q in zip(of_p, of_q, strict=True)]
    wanted = torch.zeros(4, dtype=torch.float64)
    said_group = [0.0] * 4
    for drafted, group in ((j, i) for j in range(4) for i in holding[j]):
        weight = float(Q[drafted]) / len(holding[drafted])
        accept = min(1.0, of_p[group] / of_q[group])
        wanted[drafted] += weight * accept
        said_group[group] += weight * accept
        for other in range(4):
            chance = weight * (1 - accept) * left[other] / (sum(left) or 1)
            said_group[other] += chance
            for token in members[other]:
                share = float(P[token]) / len(holding[token])
                wanted[token] += chance * share / of_p[other] if of_p[other] else 0
    assert said_group == pytest.approx(of_p, abs=EXACT)  # exact for groups, as the paper promises
    rule = find_rule("pcg", ALIKE).hearing(GROUPS)
    assert torch.allclose(first_token(rule, position), wanted, atol=EXACT)
    assert torch.allclose(wanted, P, atol=EXACT) == (near == 0)


def test_groups_are_the_entries_within_the_radius() -> None:
    shares = GROUPS.shares(ALIKE)
    third, half = 1 / 3, 1 / 2
    assert torch.allclose(shares.sum(1), torch.ones(2, 4, dtype=torch.float64))
    wanted = [
        [half, third, 0, 0],
        [half, third, third, 0],
        [0, third, third, half],
        [0, 0, third, half],
    ]
    assert torch.allclose(shares[0], torch.tensor(wanted, dtype=torch.float64))
    assert torch.equal(shares[1], torch.eye(4, dtype=torch.float64))
    assert torch.equal(GROUPS.shares(0), torch.eye(4, dtype=torch.float64).expand(2, 4, 4))


def test_each_codebook_is_measured_by_its_own_size() -> None:
    """Later ones are smaller, and not because their entries sound more alike."""
    scaled = AcousticGroups(LINES * torch.tensor([1.0, 0.01])[:, None, None])
    for radius in (0, 0.3, 0.6, ALIKE, 1.5, 2):
        assert torch.equal(scaled.shares(radius), GROUPS.shares(radius))


@pytest.mark.parametrize("rule", RELAXED, ids=lambda rule: rule.name)
def test_relaxed_rules_are_biased(rule: Rule) -> None:
    """A rule that is lossless after all would carry the wrong badge, and its test no teeth."""
    assert not torch.allclose(
        first_token(heard(find_rule(rule.name, _loose(rule)))), P, atol=BIASED
    )


def _loose(rule: Rule) -> float:
    return {"ssd": 0.2, "vadusa": 3, "pcg": ALIKE, "typical": 0.09}[rule.name]


@pytest.mark.parametrize(
    ("name", "neutral"), [("ssd", 0), ("vadusa", 1), ("pcg", 0)], ids=["ssd", "vadusa", "pcg"]
)
def test_the_neutral_tolerance_is_lossless(name: str, neutral: float) -> None:
    """Where the papers say so: jointly, over rounds, with distributions that depend on the past."""
    target, draft = pair("similar", 2)
    rule = find_rule(name, neutral)
    if rule.acoustic:
        rule = rule.hearing(AcousticGroups(LINES[:, :3]))
    for gamma in (1, 2, 3):
        assert bias(target, draft, rule, gamma, 3) < EXACT


def test_acoustic_rules_know_no_groups_until_they_are_told() -> None:
    """Each entry is then one of its own: the ratio test."""
    assert torch.allclose(first_token(RULES["pcg"]), P, atol=EXACT)


@pytest.mark.parametrize("rule", RELAXED, ids=lambda rule: rule.name)
def test_tolerances_are_checked_and_kept(rule: Rule) -> None:
    """A wrong number must reach the person as a line with the range."""
    tolerance = rule.tolerance
    for value in (tolerance.least - 0.01, tolerance.most + 0.01, math.nan):
        with pytest.raises(ForespeakError, match=rf"{tolerance.letter} .*{tolerance.most:g}"):
            find_rule(rule.name, value)
    changed = find_rule(rule.name, tolerance.most)
    assert changed.tolerance.value == tolerance.most
    assert find_rule(rule.name).tolerance.value == tolerance.value


@pytest.mark.parametrize("rule", RELAXED, ids=lambda rule: rule.name)
def test_a_tolerance_that_counts_is_whole(rule: Rule) -> None:
    """τ is a number of samples: half a sample would be a rule of nobody's paper."""
    tolerance = rule.tolerance
    between = tolerance.least + tolerance.step / 2
    if rule.name != "vadusa":
        assert tolerance.step < 1
        assert find_rule(rule.name, between).tolerance.value == between
        return
    assert tolerance.step == 1
    for value in (between, 2.5):
        with pytest.raises(ForespeakError, match=f"τ {value:g} .*a whole number from 1 to 100"):
            find_rule(rule.name, value)


@pytest.mark.parametrize("rule", RELAXED, ids=lambda rule: rule.name)
def test_tolerances_of_the_table_are_on_their_own_steps(rule: Rule) -> None:
    """A slider shows them as they are."""
    tolerance = rule.tolerance
    for value in (tolerance.value, tolerance.most):
        steps = (value - tolerance.least) / tolerance.step
        assert steps == pytest.approx(round(steps))


@pytest.mark.parametrize("rule", [r for r in RULES.values() if r.lossless], ids=lambda r: r.name)
def test_lossless_rules_have_no_tolerance(rule: Rule) -> None:
    with pytest.raises(ForespeakError, match="no tolerance"):
        find_rule(rule.name, 0.1)
