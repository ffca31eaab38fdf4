"""What the real decoding loop emits with a rule, computed exactly, on toy languages.

Loop, drafter and rule run along every path of their random decisions; the weights of the
paths that emit a sequence add up to its probability.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch

from core.adaptive import Fixed, Window
from core.decode import speculative
from core.drafters import Drafter, DraftModel
from core.sampling import Sampling, probs
from core.verify import RULES, Rule
from tests.fakes import (
    Branches,
    EnumeratedNoise,
    Key,
    Language,
    ToyModel,
    blend,
    disjoint,
    every_path,
    language,
    sequence_probs,
    total_variation,
)

PLAIN = Sampling(temperature=1.0)
FILTERED = Sampling(temperature=0.7, top_k=2)
EXACT = 1e-12
BIASED = 1e-3
LOSSLESS = [rule for rule in RULES.values() if rule.lossless]
RATIO, BLOCK, SAME_SEED = RULES["lossless"], RULES["block"], RULES["same-seed"]


def emitted_probs(
    target: Language,
    draft: Language,
    rule: Rule,
    gamma: int,
    length: int,
    sampling: Sampling = PLAIN,
    drafter: Callable[[ToyModel, Sampling], Drafter] = DraftModel,
    model: type[ToyModel] = ToyModel,
    key: Key | None = None,
    window: Callable[[int], Window] = Fixed,
) -> dict[tuple[int, ...], float]:
    """The joint distribution of the tokens that `speculative` emits."""

    def run(branches: Branches) -> tuple[int, ...]:
        guesses = drafter(ToyModel(draft), sampling)
        noise = EnumeratedNoise(branches, key) if key else EnumeratedNoise(branches)
        widths = window(gamma)
        rounds = speculative(model(target), guesses, length, widths, sampling, rule, noise)
        return tuple(token for r in rounds for token in r.tokens)

    joint: dict[tuple[int, ...], float] = defaultdict(float)
    for weight, tokens in every_path(run):
        joint[tokens] += weight
    return joint


def bias(
    target: Language,
    draft: Language,
    rule: Rule,
    gamma: int,
    length: int,
    sampling: Sampling = PLAIN,
    **harness: Any,
) -> float:
    """Total variation between what is emitted and what the target alone says, jointly."""
    wanted = sequence_probs(length, lambda prefix: probs(target(prefix), sampling))
    emitted = emitted_probs(target, draft, rule, gamma, length, sampling, **harness)
    return total_variation(emitted, wanted)


def pair(kind: str, seed: int, size: int = 3) -> tuple[Language, Language]:
    """A target and a draft with two codebook phases."""
    if kind == "equal":
        target = language(seed, size)
        return target, target
    if kind == "zeros":
        return language(seed, size, zeros=True), language(seed + 100, size, zeros=True)
    if kind == "disjoint":
        return disjoint(language(seed, size), seed)
    if kind == "unlike":
        return language(seed, size), language(seed + 100, size)
    return language(seed, size), blend(language(seed, size), seed + 100)


def first_round(rule: Rule, target: Language, draft: Language, gamma: int) -> dict:
    """The joint distribution of gamma + 1 tokens: one round, and then the target alone."""

    def run(branches: Branches) -> tuple[int, ...]:
        rng = EnumeratedNoise(branches).at(0)
        tokens: list[int] = []
        for row in range(gamma):
            tokens.append(rule.draw(rng, row, draft(tuple(tokens)).exp()))
        q = torch.stack([draft(tuple(tokens[:row])).exp() for row in range(gamma)])
        p = torch.stack([target(tuple(tokens[:row])).exp() for row in range(gamma + 1)])
        accepted, following = rule.verify(tokens, q, p, rng)
        return (*tokens[:accepted], following)

    alone = sequence_probs(gamma + 1, lambda prefix: target(prefix).exp())
    begun: dict[tuple[int, ...], float] = defaultdict(float)
    for tokens, weight in alone.items():
        for n in range(1, gamma + 2):
            begun[tokens[:n]] += weight
    said: dict[tuple[int, ...], float] = defaultdict(float)
    for weight, tokens in every_path(run):
        said[tokens] += weight
    return {
        tokens: sum(said.get(tokens[:n], 0) / begun[tokens[:n]] for n in range(1, gamma + 2))
        * weight
        for tokens, weight in alone.items()
    }
