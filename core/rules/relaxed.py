"""Rules that accept more than the target's distribution allows, each named after its paper."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from core.codec.groups import AcousticGroups
from core.rules.exact import (
    Verdict,
    accept_probability,
    residual,
    verify_in_turn,
    verify_ratio,
)
from core.sampling import Draws


def verify_ssd(
    draft_tokens: Sequence[int],
    draft_probs: Tensor,
    target_probs: Tensor,
    rng: Draws,
    tolerance: float,
) -> Verdict:
    """SSD (arXiv 2505.15380, alg. 1): accepted with min(1, p/q) + β. Relaxed; β 0 is lossless.

    Even what the target cannot say at all is accepted with probability β.
    """
    return verify_in_turn(
        draft_tokens,
        draft_probs,
        target_probs,
        rng,
        lambda _row, token, p, q: min(
            1.0, accept_probability(float(p[token]), float(q[token])) + tolerance
        ),
        lambda _row, _token, p, q: residual(p, q),
    )


def verify_vadusa(
    draft_tokens: Sequence[int],
    draft_probs: Tensor,
    target_probs: Tensor,
    rng: Draws,
    tolerance: float,
) -> Verdict:
    """VADUSA's tolerance (arXiv 2410.21951): accepted if among τ samples of the target. Relaxed.

    As others paraphrase the paper, whose own wording was not at hand. The samples need not be
    drawn: one of τ is the token with probability 1 - (1 - p)^τ, and if none is, each follows p
    without it. So τ 1 is lossless.
    """
    return verify_in_turn(
        draft_tokens,
        draft_probs,
        target_probs,
        rng,
        lambda _row, token, p, _q: 1 - max(0.0, 1 - float(p[token])) ** tolerance,
        lambda _row, token, p, _q: without(p, token),
    )


def without(probabilities: Tensor, token: int) -> Tensor:
    """norm of [V] with that token gone; unchanged where nothing else is possible."""
    left = probabilities.clone()
    left[token] = 0
    total = left.sum()
    return left / total if total > 0 else probabilities


def verify_groups(
    draft_tokens: Sequence[int],
    draft_probs: Tensor,
    target_probs: Tensor,
    rng: Draws,
    tolerance: float,
    groups: AcousticGroups | None = None,
) -> Verdict:
    """PCG (arXiv 2511.13732): the ratio test on groups of codec entries that sound alike. Relaxed.

    Exact for groups, not for tokens: an accepted token stands for any of its group. As in the
    paper each entry's probability is split evenly over the groups that hold it, a group of
    the drafted token is drawn evenly, and tested with min(1, P/Q). That draw is summed out here:
    the chance is the mean over those groups, and a redrawn token is one of the target's from a
    group of the residual. Radius 0 is lossless. Without groups each entry is one of its own.
    """
    if groups is None:
        return verify_ratio(draft_tokens, draft_probs, target_probs, rng)
    shares = groups.shares(tolerance, target_probs.shape[-1])

    def of_row(row: int, p: Tensor, q: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        share = shares[(rng.position + row) % len(shares)].to(p.dtype)
        return share, share @ p, share @ q.to(p.dtype)

    def accept(row: int, token: int, p: Tensor, q: Tensor) -> float:
        share, P, Q = of_row(row, p, q)
        ratio = torch.where(P < Q, P / Q, (P > 0).to(p.dtype))
        return float(share[:, token] @ ratio)

    def redraw(row: int, _token: int, p: Tensor, q: Tensor) -> Tensor:
        share, P, Q = of_row(row, p, q)
        part = torch.where(P > 0, residual(P, Q) / P, 0)
        return p * (part @ share)

    return verify_in_turn(draft_tokens, draft_probs, target_probs, rng, accept, redraw)


def verify_typical(
    draft_tokens: Sequence[int],
    draft_probs: Tensor,
    target_probs: Tensor,
    rng: Draws,
    tolerance: float,
) -> Verdict:
    """Medusa's typical acceptance (arXiv 2401.10774): p above min(ε, δ exp(-H(p))). Relaxed.

    δ is √ε, as the paper recommends. A token's chance is 0 or 1, whatever number is drawn, and
    what follows the accepted ones is drawn from p. No ε makes that lossless.
    """

    def accept(_row: int, token: int, p: Tensor, _q: Tensor) -> float:
        entropy = float(torch.special.entr(p).sum())
        return float(float(p[token]) > min(tolerance, tolerance**0.5 * math.exp(-entropy)))

    return verify_in_turn(
        draft_tokens, draft_probs, target_probs, rng, accept, lambda _row, _token, p, _q: p
    )
