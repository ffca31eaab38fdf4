"""Sentences with the real noise follow the target; the check notices numbers that are shared."""

from collections import Counter

import pytest
from scipy.stats import chisquare
from torch import Tensor

from core.adaptive import Fixed
from core.decode import speculative
from core.drafters import DraftModel
from core.sampling import KeyedDraws, Lane, Noise, Sampling
from core.verify import RULES, Rule
from tests.fakes import (
    Language,
    ToyModel,
    blend,
    language,
    sequence_probs,
)

PLAIN = Sampling(temperature=1.0)
RATIO, SAME_SEED = RULES["lossless"], RULES["same-seed"]
UNLIKELY = 1e-4


def speak(target: Language, draft: Language, rule: Rule, noise: Noise) -> list[int]:
    """Three tokens, two drafted a round."""
    drafter = DraftModel(ToyModel(draft), PLAIN)
    rounds = speculative(ToyModel(target), drafter, 3, Fixed(2), PLAIN, rule, noise)
    return [token for r in rounds for token in r.tokens]


class SharedLane(Noise):
    """One lane for everything: the mistake of vllm#54282."""

    def uniform(self, lane: Lane, position: int, row: int) -> float:  # noqa: ARG002
        return super().uniform(Lane.DRAFT, position, row)


class SameRow(Noise):
    """Every row of a round reads the first row's numbers."""

    def at(self, position: int) -> KeyedDraws:
        noise = self

        class First(KeyedDraws):
            def draft(self, row: int, probabilities: Tensor) -> int:  # noqa: ARG002
                return super().draft(0, probabilities)

            def gumbel(self, row: int, probabilities: Tensor) -> int:  # noqa: ARG002
                return super().gumbel(0, probabilities)

        return First(noise, position)


def fits(rule: Rule, noise: type[Noise], runs: int = 3000) -> float:
    """p-value of `runs` sentences of 3 tokens against the target's joint distribution."""
    target = language(2)
    joint = sequence_probs(3, lambda prefix: target(prefix).exp())
    draft = blend(target, 102)
    said = Counter(tuple(speak(target, draft, rule, noise(n // 3, n % 3))) for n in range(runs))
    # Rare sequences together, so that every cell expects enough for a chi-square.
    common = [key for key, p in joint.items() if p * runs >= 8]
    rest = 1 - sum(joint[key] for key in common)
    observed = [said[key] for key in common]
    expected = [joint[key] * runs for key in common]
    if rest * runs > 1e-6:
        observed.append(runs - sum(observed))
        expected.append(rest * runs)
    return float(chisquare(observed, expected).pvalue)


@pytest.mark.parametrize("rule", [r for r in RULES.values() if r.lossless], ids=lambda r: r.name)
def test_sentences_with_the_real_noise_follow_the_target(rule: Rule) -> None:
    """The enumeration assumes independent numbers; here the real ones, over several rounds."""
    assert fits(rule, Noise) > UNLIKELY


@pytest.mark.parametrize(
    ("rule", "noise"), [(RATIO, SharedLane), (RATIO, SameRow), (SAME_SEED, SameRow)]
)
def test_shared_numbers_are_found(rule: Rule, noise: type[Noise]) -> None:
    """Teeth: the same check must notice lanes or rows that share their numbers."""
    assert fits(rule, noise) < UNLIKELY
