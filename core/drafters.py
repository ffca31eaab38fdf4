"""Who proposes the next tokens: one protocol, one class per way of drafting."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from core.sampling import Sampling, probs

Draw = Callable[[int, Tensor], int]
"""(row, draft_probs [V]) -> token: how a rule draws the row-th drafted token."""


class LanguageModel(Protocol):
    """One sentence of a decoder: a cache that grows, answers and rolls back.

    `length` counts positions taken in; see `core.lm.runtime.DecoderState`.
    """

    length: int
    tokens: Sequence[int]

    def forward(self, tokens: Sequence[int]) -> Tensor:
        """Take in tokens [m]; logits of what follows each, [m, V] ([m + 1, V] at the start).

        The logits come on the CPU, also from a model on a GPU: so sampling and verification are
        the same code on the same device everywhere, and a pass waits for the GPU once.
        """

    def rollback(self, length: int) -> None:
        """Forget everything from position `length` on."""


@dataclass(frozen=True)
class Draft:
    """G proposed tokens and the distributions they were drawn from, [G, V]."""

    tokens: list[int]
    probs: Tensor


class Drafter(Protocol):
    """Proposes continuations of one sentence."""

    def propose(self, tokens: Sequence[int], count: int, draw: Draw) -> Draft:
        """Up to `count` tokens that may follow `tokens`, all that is verified so far."""


class NoDraft:
    """Proposes nothing: every round is one plain target step."""

    def propose(self, tokens: Sequence[int], count: int, draw: Draw) -> Draft:  # noqa: ARG002
        return Draft([], torch.empty(0, 0))


class DraftModel:
    """A small language model over the same tokens."""

    def __init__(self, model: LanguageModel, sampling: Sampling):
        self.model = model
        self._sampling = sampling
        self._verified = 0  # tokens taken in that are known to stand

    def propose(self, tokens: Sequence[int], count: int, draw: Draw) -> Draft:
        if count == 0:
            return Draft([], torch.empty(0, 0))
        pending = self._resume(tokens)
        drafted: list[int] = []
        rows: list[Tensor] = []
        for row in range(count):
            rows.append(probs(self.model.forward(pending)[-1], self._sampling))
            drafted.append(draw(row, rows[-1]))
            pending = drafted[-1:]
        return Draft(drafted, torch.stack(rows))

    def _resume(self, tokens: Sequence[int]) -> Sequence[int]:
        """Drop guesses that were not kept; the verified tokens the model has yet to take in.

        After a rejection the last guesses go; after full acceptance two tokens are new, since
        the last guess was proposed but never taken in. At least one token is always pending,
        for its logits are what comes next.
        """
        limit = min(len(self.model.tokens), len(tokens) - 1)
        same = min(self._verified, max(limit, 0))
        while same < limit and self.model.tokens[same] == tokens[same]:
            same += 1
        self._verified = same
        if self.model.length:
            self.model.rollback(same + 1)
        return tokens[same:]
