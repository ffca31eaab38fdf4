"""Biased mutants of rule, drafter, noise and cache: the exact check must find each of them."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from core.drafters import Draft, DraftModel
from core.rules.exact import (
    accept_probability,
    block_probability,
    draft_independent,
    draft_same_seed,
    residual,
    verify_block,
    verify_ratio,
    verify_same_seed,
)
from core.sampling import Draws, Lane, probs
from core.verify import Rule
from tests.core.exactness import (
    BIASED,
    BLOCK,
    EXACT,
    FILTERED,
    PLAIN,
    RATIO,
    SAME_SEED,
    bias,
    pair,
)
from tests.fakes import Key, ToyModel, keyed

# Each is a mistake that somebody made, or nearly.


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


def verify_block_with(
    share_of: Callable[[float, float, float], float] = lambda s, p, q: accept_probability(s * p, q),
    chance: Callable[[float, Any], float] = block_probability,
    redraw: Callable[[Tensor, Tensor, float], Tensor] = residual,
    early_exit: bool = False,
) -> Callable:
    """Block verification with one part exchanged (vllm-ascend#7807)."""

    def verify(tokens: list[int], draft_probs: Tensor, target_probs: Tensor, rng: Draws):
        shares, accepted = [1.0], 0
        for row, token in enumerate(tokens):
            p, q = float(target_probs[row, token]), float(draft_probs[row, token])
            shares.append(share_of(shares[-1], p, q))
            last = row + 1 == len(tokens)
            following = None if last else (target_probs[row + 1], draft_probs[row + 1])
            if rng.accept(row, chance(shares[-1], following)):
                accepted = row + 1
            elif early_exit:
                break
        if accepted == len(tokens):
            return accepted, rng.resample(accepted, target_probs[accepted])
        left = redraw(target_probs[accepted], draft_probs[accepted], shares[accepted])
        return accepted, rng.resample(accepted, left)

    return verify


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
    "block, token acceptance": {
        "rule": mutant(verify_block_with(share_of=lambda _, p, q: accept_probability(p, q)))
    },
    "block, token's own test": {
        "rule": mutant(verify_block_with(chance=lambda share, _: share)),
    },
    "block, token's residual": {
        "rule": mutant(verify_block_with(redraw=lambda p, q, _: residual(p, q))),
        "kind": "unlike",
        "seed": 6,
    },
    "block, early exit": {"rule": mutant(verify_block_with(early_exit=True))},
    "block, numbers come back": {
        "rule": BLOCK,
        "key": lambda lane, position, row: (lane, position + row),
        "length": 4,
    },
    "block, drafted with noise that comes back": {"rule": mutant(verify_block, draft_same_seed)},
    "block, never rolled back": {"rule": BLOCK, "model": NeverRollBack},
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
    harness = {"gamma": 2, "length": 3, "kind": "similar", "seed": 2, **MUTANTS[name]}
    target, draft = pair(harness.pop("kind"), harness.pop("seed"))
    assert bias(target, draft, **harness) > BIASED


def test_the_mutants_frame_is_sound() -> None:
    """The mutants could fail for how they are built, not for their mistake."""
    target, draft = pair("similar", 0)
    assert bias(target, draft, mutant(verify_with()), 2, 3) < EXACT
    assert bias(target, draft, mutant(verify_block_with()), 2, 3) < EXACT


def test_same_seed_survives_any_choice_of_drafts() -> None:
    """Gumbel match must not care which drafts are dropped: it never emits one for its own sake."""
    target, draft = pair("similar", 0)
    assert bias(target, draft, SAME_SEED, 2, 3, drafter=DropUnsure) < EXACT
