"""Accept rules: what they emit, computed exactly, against what the target alone would say.

The real decoding loop, drafter and rule run along every path of their random decisions; the
weights of the paths that emit a sequence add up to its probability. Biased mutants go
through the same check, which must find each of them.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from core.adaptive import Fixed, Window
from core.decode import speculative
from core.drafters import Draft, Drafter, DraftModel
from core.rules.exact import (
    accept_probability,
    draft_independent,
    draft_same_seed,
    residual,
    verify_ratio,
    verify_same_seed,
)
from core.sampling import Draws, Lane, Noise, Sampling, probs
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
    keyed,
    language,
    sequence_probs,
    total_variation,
)

PLAIN = Sampling(temperature=1.0)
FILTERED = Sampling(temperature=0.7, top_k=2)
EXACT = 1e-12
BIASED = 1e-3
LOSSLESS = [rule for rule in RULES.values() if rule.lossless]
RATIO, SAME_SEED = RULES["lossless"], RULES["same-seed"]


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
    return language(seed, size), blend(language(seed, size), seed + 100)


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


# Mutants: each is a mistake that somebody made, or nearly.


def verify_with(
    accept: Callable[[float, float], float] = accept_probability,
    redraw: Callable[[Tensor, Tensor], Tensor] = residual,
    bonus_row: int = 0,
) -> Callable:
    """The ratio rule with one part exchanged."""

    def verify(tokens: list[int], draft_probs: Tensor, target_probs: Tensor, rng: Draws):
        for row, token in enumerate(tokens):
            p, q = float(target_probs[row, token]), float(draft_probs[row, token])
            if not rng.accept(row, accept(p, q)):
                return row, rng.resample(row, redraw(target_probs[row], draft_probs[row]))
        bonus = target_probs[max(0, len(tokens) - bonus_row)]
        return len(tokens), rng.resample(len(tokens), bonus)

    return verify


def accept_past_a_rejection(tokens: list[int], draft_probs: Tensor, target_probs: Tensor, rng):
    """Counts every row that passes its own test (vllm#2658), not the run before the first fail."""
    rows = range(len(tokens))
    p, q = target_probs[rows, tokens].tolist(), draft_probs[rows, tokens].tolist()
    accepted = sum(rng.accept(row, accept_probability(p[row], q[row])) for row in rows)
    if accepted < len(tokens):
        left = residual(target_probs[accepted], draft_probs[accepted])
        return accepted, rng.resample(accepted, left)
    return accepted, rng.resample(accepted, target_probs[accepted])


def zero_in_place(tokens: list[int], draft_probs: Tensor, target_probs: Tensor, rng: Draws):
    """Prepares the residuals inside target_probs before testing (vllm-ascend#2881)."""
    for row in range(len(tokens)):
        target_probs[row] = residual(target_probs[row], draft_probs[row])
    return verify_ratio(tokens, draft_probs, target_probs, rng)


def emit_fresh_sample(tokens: list[int], draft_probs: Tensor, target_probs: Tensor, rng: Draws):
    """Gumbel match that emits a new sample after a mismatch, not the one it compared."""
    accepted, _ = verify_same_seed(tokens, draft_probs, target_probs, rng)
    return accepted, rng.resample(accepted, target_probs[accepted])


def match_anything_likely(tokens: list[int], _draft_probs: Tensor, target_probs: Tensor, rng):
    """Accepts any token the target might say, then goes on with its own samples."""
    for row, token in enumerate(tokens):
        if rng.gumbel(row, target_probs[row]) != token and target_probs[row, token] < 0.3:
            return row, rng.gumbel(row, target_probs[row])
    return len(tokens), rng.gumbel(len(tokens), target_probs[len(tokens)])


class RawQ(DraftModel):
    """Draws from q before top-k, reports q after it (transformers#47932)."""

    def propose(self, tokens, count, draw):
        raw = DraftModel(self.model, PLAIN).propose(tokens, count, draw)
        kept = [probs(row.log(), self._sampling) for row in raw.probs]
        return Draft(raw.tokens, torch.stack(kept) if kept else raw.probs)


class RawReport(DraftModel):
    """Draws from q after top-k, reports q before it."""

    def propose(self, tokens, count, draw):
        raw: list[Tensor] = []

        def draw_filtered(row: int, q: Tensor) -> int:
            raw.append(q)
            return draw(row, probs(q.log(), self._sampling))

        drafted = DraftModel(self.model, PLAIN).propose(tokens, count, draw_filtered)
        return Draft(drafted.tokens, torch.stack(raw) if raw else drafted.probs)


class DropUnsure(DraftModel):
    """Throws a drawn token away because its own q is low, and stops there."""

    def propose(self, tokens, count, draw):
        drafted = super().propose(tokens, count, draw)
        keep = 0
        while keep < len(drafted.tokens) and drafted.probs[keep, drafted.tokens[keep]] > 0.3:
            keep += 1
        return Draft(drafted.tokens[:keep], drafted.probs[:keep])


class RollBackTooFar(ToyModel):
    """Forgets one verified token after each round (lablup/mlxcel#994)."""

    def rollback(self, length: int) -> None:
        super().rollback(length - (length > 1))


class NeverRollBack(ToyModel):
    """Keeps what was rejected (paiml/aprender#2014)."""

    def rollback(self, length: int) -> None:
        pass


def mutant(verify: Callable = verify_ratio, draw: Callable = draft_independent) -> Rule:
    return Rule("mutant", "Mutant", True, draw, verify)


def merge(*lanes: Lane) -> Key:
    """Reads the same numbers for several purposes (vllm#54282)."""
    return lambda lane, position, row: keyed(lanes[0] if lane in lanes else lane, position, row)


def neighbours(lane: Lane, position: int, row: int) -> tuple[int, ...]:
    """Reads the same number for two tokens that stand side by side."""
    return lane, (position + row) // 2


MUTANTS: dict[str, dict[str, Any]] = {
    "accept min(1, q/p)": {"rule": mutant(verify_with(accept=lambda p, q: min(1.0, q / p)))},
    "accept p": {"rule": mutant(verify_with(accept=lambda p, _: p))},
    "lenient acceptance": {
        "rule": mutant(verify_with(accept=lambda p, q: accept_probability(p, 0.7 * q)))
    },
    "softmax over the residual": {
        "rule": mutant(verify_with(redraw=lambda p, q: (p - q).clamp(min=0).softmax(-1)))
    },
    "absolute difference as residual": {
        "rule": mutant(verify_with(redraw=lambda p, q: (p - q).abs() / (p - q).abs().sum()))
    },
    "no residual": {"rule": mutant(verify_with(redraw=lambda p, _: p))},
    "bonus of the wrong row": {"rule": mutant(verify_with(bonus_row=1))},
    "accept past a rejection": {"rule": mutant(accept_past_a_rejection)},
    "zeroing in place": {"rule": mutant(zero_in_place)},
    "greedy draft, softmax q": {"rule": mutant(draw=lambda _rng, _row, q: int(q.argmax()))},
    "fresh sample after a mismatch": {"rule": mutant(emit_fresh_sample, draft_same_seed)},
    "match of anything likely": {"rule": mutant(match_anything_likely, draft_same_seed)},
    "raw q": {"rule": RATIO, "drafter": RawQ, "sampling": FILTERED},
    "raw q reported": {"rule": RATIO, "drafter": RawReport, "sampling": FILTERED},
    "unsure token dropped": {"rule": RATIO, "drafter": DropUnsure},
    "rolled back too far": {"rule": RATIO, "model": RollBackTooFar},
    "never rolled back": {"rule": RATIO, "model": NeverRollBack},
    "never rolled back, same seed": {"rule": SAME_SEED, "model": NeverRollBack},
    "draft and accept share": {"rule": RATIO, "key": merge(Lane.DRAFT, Lane.ACCEPT)},
    "accept and resample share": {"rule": RATIO, "key": merge(Lane.ACCEPT, Lane.RESAMPLE)},
    "draft and resample share": {"rule": RATIO, "key": merge(Lane.DRAFT, Lane.RESAMPLE)},
    "neighbours share": {"rule": RATIO, "key": neighbours},
    "neighbours share, same seed": {
        "rule": SAME_SEED,
        "key": neighbours,
    },
}


@pytest.mark.parametrize("name", MUTANTS)
def test_biased_mutant_is_found(name: str) -> None:
    """An enumeration that cannot tell right from wrong proves nothing."""
    target, draft = pair("similar", 2)
    assert bias(target, draft, gamma=2, length=3, **MUTANTS[name]) > BIASED


def test_the_mutants_frame_is_sound() -> None:
    """The mutants could fail for how they are built, not for their mistake."""
    target, draft = pair("similar", 0)
    assert bias(target, draft, mutant(verify_with()), 2, 3) < EXACT


def test_same_seed_survives_any_choice_of_drafts() -> None:
    """Gumbel match must not care which drafts are dropped: it never emits one for its own sake."""
    target, draft = pair("similar", 0)
    assert bias(target, draft, SAME_SEED, 2, 3, drafter=DropUnsure) < EXACT


# One verdict at a time.


@pytest.mark.parametrize("rule", LOSSLESS, ids=lambda rule: rule.name)
def test_equal_models_accept_everything(rule: Rule) -> None:
    """α = 1 sanity: a rejection here is a mistake in acceptance or in the shared noise."""
    target, _ = pair("equal", 5)
    drafter = DraftModel(ToyModel(target), PLAIN)
    rounds = list(speculative(ToyModel(target), drafter, 24, Fixed(3), PLAIN, rule, Noise(1)))
    assert [r.accepted for r in rounds] == [3] * 6
