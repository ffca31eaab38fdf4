"""Sentences that end themselves: exactly, at every index of a window, under every lossless rule."""

from collections import defaultdict
from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor

from core.adaptive import Fixed
from core.decode import autoregressive, speculative
from core.drafters import DraftModel, NGramDraft
from core.sampling import Noise, Sampling, probs
from core.verify import RULES, Rule
from tests.core.exactness import BIASED, EXACT, FILTERED, LOSSLESS, PLAIN
from tests.fakes import Branches, EnumeratedNoise, Language, ToyModel, every_path, language

Q, V = 2, 2
STOP = V
Joint = dict[tuple[int, ...], float]


def ending(seed: int) -> Language:
    """A language that may end where a frame begins."""
    base = language(seed, V + 1, Q)

    def follow(prefix: tuple[int, ...]) -> Tensor:
        logits = base(prefix).clone()
        if len(prefix) % Q:
            logits[STOP] = -torch.inf
        return logits

    return follow


def told(target: Language, length: int, sampling: Sampling) -> Joint:
    """What the target alone says: every sentence that ends, or is full, with its probability."""
    joint: Joint = defaultdict(float)

    def go_on(said: tuple[int, ...], weight: float) -> None:
        if len(said) == length or said[-1:] == (STOP,):
            joint[said] += weight
            return
        for token, p in enumerate(probs(target(said), sampling).tolist()):
            if p:
                go_on((*said, token), weight * p)

    go_on((), 1.0)
    return joint


def emitted(
    target: Language, draft: Language, rule: Rule, gamma: int, length: int, sampling: Sampling
) -> Joint:
    def run(branches: Branches) -> tuple[int, ...]:
        drafter = DraftModel(ToyModel(draft), sampling, STOP)
        noise = EnumeratedNoise(branches)
        rounds = speculative(
            ToyModel(target), drafter, length, Fixed(gamma), sampling, rule, noise, STOP
        )
        return tuple(token for round_ in rounds for token in round_.tokens)

    joint: Joint = defaultdict(float)
    for weight, tokens in every_path(run):
        joint[tokens] += weight
    return joint


def distance(one: Joint, other: Joint) -> float:
    return sum(abs(one.get(key, 0) - other.get(key, 0)) for key in one.keys() | other.keys()) / 2


@pytest.mark.parametrize("sampling", [PLAIN, FILTERED], ids=["plain", "filtered"])
@pytest.mark.parametrize(("gamma", "length"), [(0, 4), (1, 4), (2, 4), (3, 4)])
@pytest.mark.parametrize("rule", LOSSLESS, ids=lambda rule: rule.name)
def test_what_is_said_and_where_it_ends_is_the_target_s(
    rule: Rule, gamma: int, length: int, sampling: Sampling
) -> None:
    """Jointly, over all sentences of all lengths."""
    for seed in range(2):
        target, draft = ending(seed), ending(seed + 50)
        wanted = told(target, length, sampling)
        assert len({len(said) for said in wanted}) > 2 or sampling is FILTERED
        assert distance(emitted(target, draft, rule, gamma, length, sampling), wanted) < EXACT


def test_the_comparison_has_teeth() -> None:
    """An end that is said a little too seldom shows."""
    target = ending(0)

    def shy(prefix: tuple[int, ...]) -> Tensor:
        logits = target(prefix).clone()
        logits[STOP] -= 0.05
        return logits

    said = emitted(shy, ending(50), RULES["lossless"], 2, 4, PLAIN)
    assert distance(said, told(target, 4, PLAIN)) > BIASED


class Scripted:
    """A target that says a given sentence, whatever the prefix."""

    def __init__(self, sentence: list[int]):
        self._sentence = sentence

    def __call__(self, prefix: tuple[int, ...]) -> Tensor:
        said = self._sentence[len(prefix)] if len(prefix) < len(self._sentence) else 0
        return torch.eye(V + 1, dtype=torch.float64)[said].log()


# Relaxed rules are here that say nothing which the target cannot say.
@pytest.mark.parametrize(
    "rule", [*LOSSLESS, RULES["vadusa"], RULES["typical"]], ids=lambda r: r.name
)
@pytest.mark.parametrize("gamma", range(5))
@pytest.mark.parametrize("ended", range(0, 9, Q))
def test_an_end_at_every_index_of_a_window(rule: Rule, gamma: int, ended: int) -> None:
    """Nothing behind it, everything before it, and it comes last in its round: the draft knows
    all of the sentence but its end."""
    sentence = [n * n % 3 % V for n in range(ended)]
    drafter = DraftModel(ToyModel(Scripted([*sentence, 0, 1, 0, 1, 0, 1])), PLAIN, STOP)
    target = ToyModel(Scripted([*sentence, STOP]))
    window, noise = Fixed(gamma), Noise(gamma)
    rounds = list(speculative(target, drafter, 20, window, PLAIN, rule, noise, STOP))
    assert [token for round_ in rounds for token in round_.tokens] == [*sentence, STOP]
    assert all(STOP not in round_.draft_tokens for round_ in rounds)
    assert rounds[-1].next_token == STOP
    if gamma:
        assert len(rounds) == ended // (gamma + 1) + 1
    assert target.tokens == sentence


def test_who_never_ends_is_cut_at_the_length() -> None:
    target, draft = language(1, V, Q), language(2, V, Q)
    drafter = DraftModel(ToyModel(draft), PLAIN)
    rounds = speculative(
        ToyModel(target), drafter, 10, Fixed(3), PLAIN, RULES["lossless"], Noise(0), STOP
    )
    assert sum(len(round_.tokens) for round_ in rounds) == 10


@pytest.mark.parametrize("gamma", range(5))
def test_same_seed_sentences_end_where_the_baseline_does(gamma: int) -> None:
    rule = RULES["same-seed"]
    lengths = set()
    for seed in range(12):
        target, noise = ending(seed), Noise(seed)
        plain = autoregressive(ToyModel(target), 30, PLAIN, rule, noise, STOP)
        wanted = [token for round_ in plain for token in round_.tokens]
        drafter = DraftModel(ToyModel(target), PLAIN, STOP)
        rounds = speculative(ToyModel(target), drafter, 30, Fixed(gamma), PLAIN, rule, noise, STOP)
        assert [token for round_ in rounds for token in round_.tokens] == wanted
        lengths.add(len(wanted))
    assert len(lengths) > 3


def test_repetition_knows_the_end_as_an_entry_it_never_says() -> None:
    """Its q has the width of the target's p."""
    draft = NGramDraft(Q, V + 1).propose([0, 1, 0, 1, 0, 1], 4, lambda _, q: int(q.argmax()))
    assert draft.probs.shape[1] == V + 1
    assert STOP not in draft.tokens


def test_sequences_add_up() -> None:
    """The enumeration above misses no sentence."""
    joint = told(ending(3), 4, PLAIN)
    assert np.isclose(sum(joint.values()), 1)
    assert () not in joint
    full = [said for said in product(range(V), repeat=4) if joint[said] > 0]
    assert len(full) == V**4
