"""Rules under which what is said follows the target exactly, and what they are built of."""

from collections.abc import Callable, Sequence

import numpy as np
from torch import Tensor

from core.sampling import Draws

Verdict = tuple[int, int]
"""(n_accepted, next_token): the corrected token after a rejection, the bonus token after none."""
Row = Tensor | np.ndarray
"""A distribution [V]. Of numpy's, small operations are quicker."""


def accept_probability(target_prob: float, draft_prob: float) -> float:
    """min(1, p/q) of one token (arXiv 2211.17192, alg. 1; 2302.01318, alg. 2).

    Never divides by zero, and never accepts what the target cannot say.
    """
    if draft_prob > target_prob:
        return target_prob / draft_prob
    return 1.0 if target_prob > 0 else 0.0


def residual(target_probs: Tensor, draft_probs: Tensor, share: float = 1.0) -> Tensor:
    """norm(max(0, share p - q)), what a rejected place is redrawn from; [V] -> [V].

    Where rounding leaves nothing (p equal to q), p itself: the branch has probability zero.
    """
    left = (share * target_probs - draft_probs).clamp(min=0)
    total = left.sum()
    return left / total if total > 0 else target_probs


Accept = Callable[[int, int, Tensor, Tensor], float]
"""(row, token, p [V], q [V]) -> the chance that the token is accepted."""
Redraw = Callable[[int, int, Tensor, Tensor], Tensor]
"""The same -> [V], what is said instead of a rejected token is drawn from it."""


def verify_in_turn(
    draft_tokens: Sequence[int],
    draft_probs: Tensor,
    target_probs: Tensor,
    rng: Draws,
    accept: Accept,
    redraw: Redraw,
) -> Verdict:
    """Test token after token; the first that fails is redrawn, and ends the round."""
    for row, token in enumerate(draft_tokens):
        p, q = target_probs[row], draft_probs[row]
        if not rng.accept(row, accept(row, token, p, q)):
            return row, rng.resample(row, redraw(row, token, p, q))
    return len(draft_tokens), rng.resample(len(draft_tokens), target_probs[len(draft_tokens)])


def verify_ratio(
    draft_tokens: Sequence[int], draft_probs: Tensor, target_probs: Tensor, rng: Draws
) -> Verdict:
    """Token-level speculative sampling (arXiv 2211.17192, alg. 1). Lossless.

    draft_tokens [G], draft_probs [G, V], target_probs [G + 1, V].
    """
    ps, qs = target_probs.numpy(), draft_probs.numpy()
    return verify_in_turn(
        draft_tokens,
        draft_probs,
        target_probs,
        rng,
        lambda row, token, _p, _q: accept_probability(ps.item(row, token), qs.item(row, token)),
        lambda _row, _token, p, q: residual(p, q),
    )


def verify_block(
    draft_tokens: Sequence[int], draft_probs: Tensor, target_probs: Tensor, rng: Draws
) -> Verdict:
    """Block verification (arXiv 2403.10444, alg. 2). Lossless, and never accepts less in the mean.

    Every row is tested, also after one that failed: the last that passes decides, so that a
    token whose own ratio is bad is carried by good ones behind it.
    """
    drafted = len(draft_tokens)
    ps, qs = target_probs.numpy(), draft_probs.numpy()
    accepted, share, accepted_share = 0, 1.0, 1.0
    for row, token in enumerate(draft_tokens):
        share = accept_probability(share * ps.item(row, token), qs.item(row, token))
        following = (ps[row + 1], qs[row + 1]) if row + 1 < drafted else None
        if rng.accept(row, block_probability(share, following)):
            accepted, accepted_share = row + 1, share
    if accepted == drafted:
        return drafted, rng.resample(drafted, target_probs[drafted])
    left = residual(target_probs[accepted], draft_probs[accepted], accepted_share)
    return accepted, rng.resample(accepted, left)


def block_probability(share: float, following: tuple[Row, Row] | None) -> float:
    """The chance of passing for a block of tokens (h of arXiv 2403.10444).

    share: min(share before p/q, 1) after the block's last token; following: p and q [V] of the
    next place, None where nothing more was drafted.
    """
    if following is None or share == 1:
        return share
    p, q = following
    left = float((share * p - q).clip(0).sum())
    return left / (left + 1 - share)


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
