"""Accept rules: pure functions of tensors. No model, no cache, no clock.

A rule is two functions that belong together: how the draft's token is drawn from q, and
how drafted tokens are verified against p. Both read their randomness from `Draws`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.errors import ForespeakError
from core.sampling import Draws

Verdict = tuple[int, int]
"""(n_accepted, next_token): the corrected token after a rejection, the bonus token after none."""


def accept_probability(target_prob: float, draft_prob: float) -> float:
    """min(1, p/q) of one token (arXiv 2211.17192, alg. 1; 2302.01318, alg. 2).

    Never divides by zero, and never accepts what the target cannot say.
    """
    if draft_prob > target_prob:
        return target_prob / draft_prob
    return 1.0 if target_prob > 0 else 0.0


def residual(target_probs: Tensor, draft_probs: Tensor) -> Tensor:
    """norm(max(0, p - q)), what a rejected place is redrawn from; [V] -> [V].

    Where rounding leaves nothing (p equal to q), p itself: the branch has probability zero.
    """
    left = (target_probs - draft_probs).clamp(min=0)
    total = left.sum()
    return left / total if total > 0 else target_probs


def verify_ratio(
    draft_tokens: Sequence[int], draft_probs: Tensor, target_probs: Tensor, rng: Draws
) -> Verdict:
    """Token-level speculative sampling (arXiv 2211.17192, alg. 1). Lossless.

    draft_tokens [G], draft_probs [G, V], target_probs [G + 1, V].
    """
    drafted = len(draft_tokens)
    rows, tokens = torch.arange(drafted), torch.tensor(draft_tokens, dtype=torch.long)
    p = target_probs[rows, tokens].tolist()
    q = draft_probs[rows, tokens].tolist()
    for row in range(drafted):
        if not rng.accept(row, accept_probability(p[row], q[row])):
            return row, rng.resample(row, residual(target_probs[row], draft_probs[row]))
    return drafted, rng.resample(drafted, target_probs[drafted])


def verify_same_seed(
    draft_tokens: Sequence[int],
    draft_probs: Tensor,  # noqa: ARG001 - the rule's signature; this rule needs no q
    target_probs: Tensor,
    rng: Draws,
) -> Verdict:
    """Gumbel match (arXiv 2408.07978). Lossless, and token for token what the baseline says.

    Every emitted token is the target's own sample with the position's own noise, so the
    draft decides how many tokens a round yields, never which.
    """
    for row, drafted in enumerate(draft_tokens):
        own = rng.gumbel(row, target_probs[row])
        if own != drafted:
            return row, own
    return len(draft_tokens), rng.gumbel(len(draft_tokens), target_probs[len(draft_tokens)])


def draft_independent(rng: Draws, row: int, draft_probs: Tensor) -> int:
    """Draw a draft token [V] from a lane of its own, as the ratio test requires."""
    return rng.draft(row, draft_probs)


def draft_same_seed(rng: Draws, row: int, draft_probs: Tensor) -> int:
    """Draw a draft token [V] with the noise that the target will use at that position."""
    return rng.gumbel(row, draft_probs)


@dataclass(frozen=True)
class Rule:
    """A named accept rule; `lossless` is a claim that an enumeration test backs."""

    name: str
    title: str
    lossless: bool
    draw: Callable[[Draws, int, Tensor], int]
    verify: Callable[[Sequence[int], Tensor, Tensor, Draws], Verdict]


RULES = {
    rule.name: rule
    for rule in (
        Rule("lossless", "Speculative sampling", True, draft_independent, verify_ratio),
        Rule("same-seed", "Gumbel match", True, draft_same_seed, verify_same_seed),
    )
}


def find_rule(name: str) -> Rule:
    """The rule of that name."""
    if name not in RULES:
        raise ForespeakError(f"Unknown rule {name!r}: choose one of {', '.join(RULES)}.")
    return RULES[name]
