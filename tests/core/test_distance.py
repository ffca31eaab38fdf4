"""The distance from the target: its formulas against the rules themselves, along every path."""

from collections import defaultdict

import pytest
import torch
from torch import Tensor

from core.codec.groups import AcousticGroups
from core.distance import EMITTED, Verified, path_distance
from core.rules import exact
from core.verify import RULES, Rule, find_rule
from tests.fakes import Branches, EnumeratedNoise, every_path

V = 4
F64 = torch.float64
P = torch.tensor([[0.5, 0.3, 0.2, 0.0], [0.1, 0.6, 0.2, 0.1], [0.25, 0.25, 0.25, 0.25]], dtype=F64)
Q = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.4, 0.1, 0.1, 0.4]], dtype=F64)
# Other languages behind another first guess: block verification weighs what is drafted behind.
P1 = torch.stack([P[1].roll(token) for token in range(V)])
Q1 = torch.stack([Q[1].roll(token) for token in range(V)])
GROUPS = AcousticGroups(torch.tensor([[0.0, 1, 2, 3], [-3.0, -1, 1, 3]], dtype=F64)[..., None])
STRENGTHS = {"ssd": (0.0, 0.3, 1.0), "vadusa": (1, 2, 5), "typical": (0.0, 0.2), "pcg": (0.0, 1.0)}
CASES = [(name, t) for name in RULES for t in STRENGTHS.get(name, (None,))]


def made(name: str, tolerance: float | None) -> Rule:
    rule = find_rule(name, tolerance)
    return rule.hearing(GROUPS) if rule.acoustic else rule


def rounds(rule: Rule, position: int = 1) -> list[tuple[float, Verified, int]]:
    """(weight, round, what it said last) of every round of two guesses."""

    def run(branches: Branches) -> tuple[Verified, int]:
        rng = EnumeratedNoise(branches).at(position)
        first = rule.draw(rng, 0, Q[0])
        q = torch.stack((Q[0], Q1[first]))
        p = torch.stack((P[0], P1[first], P[2]))
        tokens = (first, rule.draw(rng, 1, q[1]))
        accepted, last = rule.verify(list(tokens), q, p, rng)
        return Verified(position, tokens, q, p, accepted), last

    return [(weight, *found) for weight, found in every_path(run)]


def said(found: list[tuple[float, Verified, int]], before: tuple[int, ...]) -> Tensor:
    """What is said behind `before` [V], counted."""
    counts: dict[int, float] = defaultdict(float)
    for weight, round_, last in found:
        spoken = (*round_.draft_tokens[: round_.accepted], last)
        if spoken[: len(before)] == before and round_.accepted >= len(before):
            counts[spoken[len(before)]] += weight
    result = torch.tensor([counts[token] for token in range(V)], dtype=F64)
    return result / result.sum()


@pytest.mark.parametrize(("name", "tolerance"), CASES)
def test_the_formula_is_what_the_rule_says_at_each_place(name: str, tolerance: float | None):
    rule = made(name, tolerance)
    found = rounds(rule)
    checked = 0
    for _, round_, _ in found:
        formula = EMITTED[name](round_, tolerance, GROUPS)
        for row in range(len(formula)):
            counted = said(found, round_.draft_tokens[:row])
            torch.testing.assert_close(formula[row], counted, atol=1e-12, rtol=0)
            checked += 1
    assert checked > V


@pytest.mark.parametrize(("name", "tolerance"), CASES)
def test_lossless_rules_are_at_no_distance_and_relaxed_ones_at_some(
    name: str, tolerance: float | None
):
    found = rounds(made(name, tolerance))
    distance = path_distance(find_rule(name, tolerance), GROUPS, [r for _, r, _ in found])
    exact_then = {"ssd": 0.0, "vadusa": 1, "pcg": 0.0}
    if RULES[name].lossless or exact_then.get(name) == tolerance:
        assert distance < 1e-12
    else:
        assert distance > 1e-2


def test_a_biased_block_rule_is_at_a_distance(monkeypatch: pytest.MonkeyPatch):
    """The distance reads the chance that the rule itself tests with."""

    def eager(share: float, following: tuple[Tensor, Tensor] | None) -> float:
        return min(1.0, 1.3 * exact.block_probability(share, following))

    monkeypatch.setattr("core.distance.block_probability", eager)
    found = [r for _, r, _ in rounds(RULES["block"])]
    assert path_distance(RULES["block"], GROUPS, found) > 1e-2


def test_float_noise_stays_noise():
    """Distributions as the voice has them: float32, hundreds of entries, some of them tiny."""
    rng = torch.Generator().manual_seed(0)
    for name in ("lossless", "block", "same-seed"):
        found = []
        for position in range(20):
            p = (4 * torch.randn(5, 300, generator=rng)).softmax(-1)
            q = (0.7 * p[:4].log() + torch.randn(4, 300, generator=rng)).softmax(-1)
            tokens = tuple(torch.multinomial(q, 1, generator=rng).flatten().tolist())
            found.append(Verified(position, tokens, q, p, position % 5))
        assert path_distance(RULES[name], GROUPS, found) < 1e-6


def test_the_mean_is_over_every_token_and_plain_ones_are_exact():
    nothing = torch.empty(0, 0)
    plain = Verified(0, (), nothing, P[:1], 0)
    assert path_distance(RULES["ssd"], GROUPS, [plain]) == 0
    assert path_distance(RULES["ssd"], GROUPS, []) == 0
    (_, one, _), *_ = [found for found in rounds(made("ssd", 0.2)) if found[1].accepted == 0]
    alone = path_distance(RULES["ssd"], GROUPS, [one])
    assert alone > 0
    assert path_distance(RULES["ssd"], GROUPS, [one, plain]) == pytest.approx(alone / 2)


def test_every_rule_has_a_formula():
    assert set(EMITTED) == set(RULES)
