"""How far what a rule emits is from the target's distribution, place by place along a run.

A place is where a round says a token: behind the guesses that it keeps. With p and q [V] known
there, so is what the rule says there, E [V], summed over all that chance could have done:

    E(y) = q(y) a(y) + Σ_x q(x) (1 - a(x)) r_x(y)

where a(x) is the chance that the guess x is accepted, and r_x what is drawn in its stead. The
distance is ½ Σ |E - p|. Behind guesses that all stood, p itself is drawn from: 0. Added up along
a run these distances bound, in the mean over runs, the total variation between the distributions
of whole texts (chain rule).

Block verification weighs a round as a whole, so what it says at a place depends on guesses behind
it. Those are summed out: if the tokens before a place are kept with chance w, its guess y is
kept, too, with chance min(w p(y), q(y)) (by induction from the last guess on), and nothing more
is with chance h (1 - Σ min(w p, q)), h being what the rule itself tests with. Over w, that is E.

The formulas are tested against the rules themselves, along every path of chance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.codec.groups import AcousticGroups
from core.rules.exact import accept_probability, block_probability, residual
from core.verify import Rule


@dataclass(frozen=True)
class Verified:
    """A round as the rule saw it. draft_probs [G, V], target_probs [G + 1, V]."""

    position: int
    draft_tokens: tuple[int, ...]
    draft_probs: Tensor
    target_probs: Tensor
    accepted: int


Emitted = Callable[[Verified, float | None, AcousticGroups], Tensor]
"""(round, tolerance, groups) -> E [R, V] of the R places whose guesses were looked at."""


def path_distance(rule: Rule, groups: AcousticGroups, rounds: Sequence[Verified]) -> float:
    """The mean distance over every token that was said; 0 where nothing was."""
    tolerance = rule.tolerance and rule.tolerance.value
    tokens, total = 0, 0.0
    for round_ in rounds:
        tokens += round_.accepted + 1
        if round_.draft_tokens:
            said = EMITTED[rule.name](round_, tolerance, groups)
            p = round_.target_probs[: len(said)].double()
            total += float((said - p).abs().sum()) / 2
    return total / tokens if tokens else 0.0


def _looked_at(round_: Verified) -> tuple[Tensor, Tensor]:
    """p and q [R, V] of the places that the run came to, but for the bonus token's."""
    rows = min(round_.accepted + 1, len(round_.draft_tokens))
    return round_.target_probs[:rows].double(), round_.draft_probs[:rows].double()


def _ratio(p: Tensor, q: Tensor) -> Tensor:
    """min(1, p/q), and 0 for what the target cannot say."""
    return torch.where(q > p, p / q, (p > 0).to(p.dtype))


def _residuals(p: Tensor, q: Tensor) -> Tensor:
    """As `core.rules.exact.residual`, row by row."""
    return torch.stack([residual(*row) for row in zip(p, q, strict=True)])


def _with_redraw(q: Tensor, accept: Tensor, redraw: Tensor) -> Tensor:
    """E where what is redrawn does not depend on what was rejected."""
    rejected = (q * (1 - accept)).sum(-1, keepdim=True)
    return q * accept + rejected * redraw


def _lossless(round_: Verified, _tolerance: float | None, groups: AcousticGroups) -> Tensor:
    return _ssd(round_, 0.0, groups)


def _ssd(round_: Verified, tolerance: float, _groups: AcousticGroups) -> Tensor:
    p, q = _looked_at(round_)
    return _with_redraw(q, (_ratio(p, q) + tolerance).clamp(max=1), _residuals(p, q))


def _typical(round_: Verified, tolerance: float, _groups: AcousticGroups) -> Tensor:
    p, q = _looked_at(round_)
    entropy = torch.special.entr(p).sum(-1, keepdim=True)
    threshold = (tolerance**0.5 * (-entropy).exp()).clamp(max=tolerance)
    return _with_redraw(q, (p > threshold).to(p.dtype), p)


def _vadusa(round_: Verified, tolerance: float, _groups: AcousticGroups) -> Tensor:
    """A rejected x is redrawn from p without it: p(y) / (1 - p(x)) of all y but x."""
    p, q = _looked_at(round_)
    missed = (1 - p).clamp(min=0)
    redrawn = q * missed ** (tolerance - 1)  # q (1 - a) / (1 - p)
    return q * (1 - missed**tolerance) + p * (redrawn.sum(-1, keepdim=True) - redrawn)


def _groups_alike(round_: Verified, tolerance: float, groups: AcousticGroups) -> Tensor:
    shares = groups.shares(tolerance, round_.target_probs.shape[-1])
    rows = []
    for row, (p, q) in enumerate(zip(*_looked_at(round_), strict=True)):
        share = shares[(round_.position + row) % len(shares)].double()
        P, Q = share @ p, share @ q
        redraw = p * (torch.where(P > 0, residual(P, Q) / P, 0) @ share)
        rows.append(_with_redraw(q, _ratio(P, Q) @ share, redraw))
    return torch.stack(rows)


def _same_seed(round_: Verified, _tolerance: float | None, _groups: AcousticGroups) -> Tensor:
    """The target's own sample, whatever was guessed."""
    return _looked_at(round_)[0]


def _block(round_: Verified, _tolerance: float | None, _groups: AcousticGroups) -> Tensor:
    rows, share = [], 1.0
    for token, p, q in zip(round_.draft_tokens, *_looked_at(round_), strict=False):
        kept = torch.minimum(share * p, q)
        ends = block_probability(share, (p, q)) * (1 - float(kept.sum()))
        rows.append((kept + ends * residual(p, q, share)) / share)
        share = accept_probability(share * float(p[token]), float(q[token]))
    return torch.stack(rows)


EMITTED: dict[str, Emitted] = {
    "lossless": _lossless,
    "block": _block,
    "same-seed": _same_seed,
    "ssd": _ssd,
    "vadusa": _vadusa,
    "pcg": _groups_alike,
    "typical": _typical,
}
"""By the rule's name in `core.verify.RULES`."""
