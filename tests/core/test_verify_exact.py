"""Accept rules: what they emit against what the target alone would say, jointly and exactly."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from core.adaptive import Adaptive, Fixed
from core.decode import speculative
from core.drafters import ChainDraft, Drafter, DraftModel, HeadsDraft, NGramDraft
from core.rules.exact import draft_independent, draft_same_seed, verify_ratio, verify_same_seed
from core.sampling import Noise, Sampling
from core.speedup import Costs, Outlook
from core.trace import Round
from core.verify import Rule
from tests.core.exactness import EXACT, FILTERED, LOSSLESS, PLAIN, bias, first_round, pair
from tests.fakes import ToyChain, ToyHeads, ToyModel, sequence_probs, total_variation


@pytest.mark.parametrize("rule", LOSSLESS, ids=lambda rule: rule.name)
@pytest.mark.parametrize("kind", ["similar", "zeros", "disjoint", "equal"])
@pytest.mark.parametrize(
    ("gamma", "length", "size", "seed"),
    [(1, 4, 3, 0), (2, 4, 3, 0), (3, 4, 3, 0), (4, 3, 3, 0), (4, 5, 2, 0)]
    + [(gamma, 3, 3, seed) for gamma in (1, 2) for seed in (1, 2, 3)],
)
def test_emitted_joint_is_the_target_s(
    rule: Rule, kind: str, gamma: int, length: int, size: int, seed: int
) -> None:
    """Any bias: wrong acceptance, residual, bonus, row or rollback, or a number used twice."""
    target, draft = pair(kind, seed, size)
    assert bias(target, draft, rule, gamma, length) < EXACT


@pytest.mark.parametrize("rule", LOSSLESS, ids=lambda rule: rule.name)
@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("gamma", [0, 1, 2])
def test_short_sentences_are_exact_too(rule: Rule, length: int, gamma: int) -> None:
    """The shrunken last window, and windows with nothing drafted, take paths of their own."""
    target, draft = pair("similar", 2)
    assert bias(target, draft, rule, gamma, length) < EXACT


@pytest.mark.parametrize("rule", LOSSLESS, ids=lambda rule: rule.name)
@pytest.mark.parametrize(
    "sampling",
    [FILTERED, Sampling(1.3, top_p=0.6), Sampling(0.5, top_k=2, top_p=0.8), Sampling(0.0)],
    ids=["top-k", "top-p", "both", "greedy"],
)
def test_filtered_distributions_are_kept_exactly(rule: Rule, sampling: Sampling) -> None:
    """Draft, verify and bonus not all filtered the same way (mlc-llm#2940, EAGLE@08dc06c)."""
    target, draft = pair("similar", 3)
    assert bias(target, draft, rule, 2, 4, sampling) < EXACT


@pytest.mark.parametrize("draw", [draft_independent, draft_same_seed])
@pytest.mark.parametrize("verify", [verify_ratio, verify_same_seed])
def test_either_way_of_drawing_the_draft_is_exact(draw: Callable, verify: Callable) -> None:
    """A rule that is only right because of how its own drafts are drawn."""
    target, draft = pair("similar", 4)
    rule = Rule("mixed", "Mixed", True, draw, verify)
    assert bias(target, draft, rule, 2, 3) < EXACT


@pytest.mark.parametrize("rule", LOSSLESS, ids=lambda rule: rule.name)
@pytest.mark.parametrize("gamma", range(1, 9))
def test_a_round_of_any_window_is_exact(rule: Rule, gamma: int) -> None:
    """What only long windows show. All that a round reads is its own, so one round after
    another is exact if each is, whatever came before."""
    target, draft = pair("unlike", gamma, size=2)
    wanted = sequence_probs(gamma + 1, lambda prefix: target(prefix).exp())
    assert total_variation(first_round(rule, target, draft, gamma), wanted) < EXACT


class Erratic:
    """A window that depends on everything it may depend on."""

    def __init__(self, widest: int):
        self._widest = widest
        self._past = 0

    def gamma(self, position: int) -> int:
        return (self._past + position) % (self._widest + 1)

    def learn(self, round_: Round) -> None:
        self._past = 3 * self._past + 2 * round_.accepted + sum(round_.tokens)


class Hasty(Adaptive):
    """Changes its mind within a few tokens."""

    MEMORY, TRUST, MARGIN, PATIENCE = 2, 1, 0.0, 2

    def __init__(self, widest: int):
        costs = Costs.steady(0.3, tuple(1 + 0.2 * n for n in range(widest + 1)))
        super().__init__(Outlook(0.6, costs), 2)


@pytest.mark.parametrize("window", [Erratic, Hasty])
@pytest.mark.parametrize("rule", LOSSLESS, ids=lambda rule: rule.name)
@pytest.mark.parametrize(
    ("gamma", "length", "size"), [(1, 4, 3), (2, 4, 3), (3, 5, 2), (4, 5, 2), (8, 5, 2)]
)
def test_windows_that_adapt_are_exact(
    window: type, rule: Rule, gamma: int, length: int, size: int
) -> None:
    """A window that learnt from what its numbers have yet to decide would bias them."""
    for kind in ("similar", "unlike"):
        target, draft = pair(kind, 1, size)
        assert bias(target, draft, rule, gamma, length, window=window) < EXACT


def chain(model: ToyModel, sampling: Sampling) -> Drafter:
    return ChainDraft(Featureless(), ToyChain(model.follow), sampling)


def heads(model: ToyModel, sampling: Sampling) -> Drafter:
    return HeadsDraft(Featureless(), ToyHeads(model.follow), sampling)


def repetition(model: ToyModel, sampling: Sampling) -> Drafter:  # noqa: ARG001
    return NGramDraft(2, len(model.follow(())))


class Featureless(ToyModel):
    """A target of which a toy draft wants to know nothing."""

    def __init__(self) -> None:
        super().__init__(lambda _: torch.zeros(1))

    def feature(self, position: int) -> Tensor:  # noqa: ARG002
        return torch.zeros(1)


@pytest.mark.parametrize("window", [Fixed, Erratic])
@pytest.mark.parametrize("drafter", [chain, heads, repetition])
@pytest.mark.parametrize("rule", LOSSLESS, ids=lambda rule: rule.name)
@pytest.mark.parametrize(("gamma", "length", "size"), [(1, 4, 3), (2, 4, 3), (4, 5, 2), (8, 5, 2)])
def test_every_draft_is_exact(
    rule: Rule, drafter: Callable, window: type, gamma: int, length: int, size: int
) -> None:
    """A q that is not what was drawn from, as heads that know each other's guesses would have;
    a draft that is certain; fewer guesses than were asked for."""
    target, draft = pair("similar", 6, size)
    assert bias(target, draft, rule, gamma, length, drafter=drafter, window=window) < EXACT


@pytest.mark.parametrize("rule", LOSSLESS, ids=lambda rule: rule.name)
def test_equal_models_accept_everything(rule: Rule) -> None:
    """α = 1 sanity: a rejection here is a mistake in acceptance or in the shared noise."""
    target, _ = pair("equal", 5)
    drafter = DraftModel(ToyModel(target), PLAIN)
    rounds = list(speculative(ToyModel(target), drafter, 24, Fixed(3), PLAIN, rule, Noise(1)))
    assert [r.accepted for r in rounds] == [3] * 6
