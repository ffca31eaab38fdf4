"""One round of a recording, seen again: with its own settings as it was, with others as it would
have been decided from the same logits."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from core.recording import Recording
from core.sampling import Draws, Noise, Sampling, probs
from core.verify import Rule


@dataclass(frozen=True)
class Row:
    """A drafted token that was tested.

    p, q: its probabilities; overlap: Σ min(p, q) of the place; accept and draw: the chance of
    acceptance and the number that decided, of rules that test with one; own: what the target
    drew itself, of rules that compare with that.
    """

    token: int
    p: float
    q: float
    overlap: float
    accept: float | None
    draw: float | None
    accepted: bool
    own: int | None


@dataclass(frozen=True)
class Step:
    """A round. G drafted tokens; target_probs [G + 1, V], draft_probs [G, V].

    residual: what the corrected token was drawn from, [V], where it was drawn from one.
    drafted_as: what the draft would have said with these settings; beyond the first difference
    it would have been asked another question, so only its first differing token means anything.
    cache: length of the target's before the round, after its pass, and after the rollback.
    """

    index: int
    position: int
    draft_tokens: tuple[int, ...]
    target_probs: Tensor
    draft_probs: Tensor
    rows: tuple[Row, ...]
    accepted: int
    next_token: int
    next_prob: float
    residual: Tensor | None
    drafted_as: tuple[int, ...]
    is_recorded: bool
    cache: tuple[int, int, int]


def view(recording: Recording, index: int, sampling: Sampling, rule: Rule) -> Step:
    """Round `index` under the given settings, with the run's own randomness.

    The drafted tokens stay the recorded ones. With the run's settings all is as it happened.
    """
    trace = recording.trace
    round_ = trace.rounds[index]
    tokens = round_.draft_tokens
    noise = Noise(trace.seed)
    # Row by row, and the target's all at once: as it happened, to the last bit.
    q = _stack([probs(row, sampling) for row in recording.draft_logits[index]])
    p = probs(recording.target_logits[index], sampling)
    witness = Witness(noise.at(round_.position))
    accepted, next_token = rule.verify(list(tokens), q, p, witness)
    drawn = noise.at(round_.position)
    before = round_.position
    tested = min(max(accepted + 1, witness.asked), len(tokens))
    return Step(
        index=index,
        position=before,
        draft_tokens=tokens,
        target_probs=p,
        draft_probs=q,
        rows=tuple(_row(row, tokens[row], p, q, accepted, witness) for row in range(tested)),
        accepted=accepted,
        next_token=next_token,
        next_prob=float(p[accepted, next_token]),
        residual=witness.resampled.get(accepted) if accepted < len(tokens) else None,
        drafted_as=tuple(rule.draw(drawn, row, q[row]) for row in range(len(tokens))),
        is_recorded=(sampling, rule.name, rule.tolerance and rule.tolerance.value)
        == (recording.settings.sampling, trace.rule, trace.tolerance),
        cache=(before, before + len(tokens) + 1, before + accepted + 1),
    )


def _stack(rows: Sequence[Tensor]) -> Tensor:
    return torch.stack(list(rows)) if rows else torch.empty(0, 0)


def _row(row: int, token: int, p: Tensor, q: Tensor, accepted: int, witness: "Witness") -> Row:
    accept, draw = witness.accepts.get(row, (None, None))
    return Row(
        token=token,
        p=float(p[row, token]),
        q=float(q[row, token]),
        overlap=float(torch.minimum(p[row], q[row]).sum()),
        accept=accept,
        draw=draw,
        accepted=row < accepted,
        own=witness.own.get(row),
    )


@dataclass
class Witness:
    """Implements `Draws`: others, whose questions and answers are noted by row.

    accepts: (probability, number); resampled: the distribution; own: the token drawn with the
    row's Gumbel noise.
    """

    draws: Draws
    accepts: dict[int, tuple[float, float]] = field(default_factory=dict, init=False)
    resampled: dict[int, Tensor] = field(default_factory=dict, init=False)
    own: dict[int, int] = field(default_factory=dict, init=False)

    @property
    def position(self) -> int:
        return self.draws.position

    @property
    def accept_draws(self) -> Sequence[float]:
        return self.draws.accept_draws

    @property
    def asked(self) -> int:
        """How many rows there were questions about."""
        return 1 + max(self.accepts, default=-1)

    def draft(self, row: int, probabilities: Tensor) -> int:
        return self.draws.draft(row, probabilities)

    def accept(self, row: int, probability: float) -> bool:
        verdict = self.draws.accept(row, probability)
        self.accepts[row] = probability, self.draws.accept_draws[-1]
        return verdict

    def resample(self, row: int, probabilities: Tensor) -> int:
        self.resampled[row] = probabilities
        return self.draws.resample(row, probabilities)

    def gumbel(self, row: int, probabilities: Tensor) -> int:
        self.own[row] = self.draws.gumbel(row, probabilities)
        return self.own[row]
