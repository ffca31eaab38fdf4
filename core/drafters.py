"""Who proposes the next tokens: one protocol, one class per way of drafting."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor

from core.errors import ForespeakError
from core.sampling import Sampling, probs

DRAFTS = {
    "model": "Draft model",
    "feature": "Feature-fed draft",
    "heads": "Draft heads",
    "ngram": "Repetition (n-gram)",
}
"""All ways of drafting by name, with their titles; a voice need not have them all."""

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


class FeatureModel(LanguageModel, Protocol):
    """A target whose hidden states can be read."""

    def feature(self, position: int) -> Tensor:
        """What some of its layers made of a position it has taken in, [F]."""


@dataclass(frozen=True)
class Draft:
    """G proposed tokens and the distributions they were drawn from, [G, V]."""

    tokens: list[int]
    probs: Tensor


class Drafter(Protocol):
    """Proposes continuations of one sentence."""

    def propose(self, tokens: Sequence[int], count: int, draw: Draw) -> Draft:
        """Up to `count` tokens that may follow `tokens`, all that is verified so far."""


NOTHING = Draft([], torch.empty(0, 0))


class NoDraft:
    """Proposes nothing: every round is one plain target step."""

    def propose(self, tokens: Sequence[int], count: int, draw: Draw) -> Draft:  # noqa: ARG002
        return NOTHING


class DraftModel:
    """A small language model over the same tokens."""

    def __init__(self, model: LanguageModel, sampling: Sampling, stop: int | None = None):
        """stop: a token that it must not propose, see `core.decode`."""
        self.model = model
        self._sampling = sampling
        self._never = None if stop is None else torch.tensor(stop)
        self._verified = 0  # tokens taken in that are known to stand

    def propose(self, tokens: Sequence[int], count: int, draw: Draw) -> Draft:
        if count == 0:
            return NOTHING
        pending = self._resume(tokens)
        drafted: list[int] = []
        rows: list[Tensor] = []
        for row in range(count):
            logits = self.model.forward(pending)[-1]
            if self._never is not None:
                logits = logits.index_fill(-1, self._never, -torch.inf)
            rows.append(probs(logits, self._sampling))
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


class ChainModel(Protocol):
    """One sentence of a draft that goes on from the target's features, token by token."""

    def begin(self, feature: Tensor | None) -> Tensor:
        """The state behind a position with this feature [F]; None before the first position."""

    def step(self, state: Tensor, tokens: Sequence[int]) -> tuple[Tensor, Tensor]:
        """The next state, and logits [V] of the token that follows `tokens`."""


class HeadsModel(Protocol):
    """One sentence of heads that each guess one token ahead."""

    def guess(self, feature: Tensor | None, tokens: Sequence[int], count: int) -> Tensor:
        """Logits of up to `count` tokens that follow `tokens`, [G, V]; feature: of the position
        that gave the last of them, None before the first."""


FedModel = TypeVar("FedModel", ChainModel, HeadsModel)


class FedDraft(ABC, Generic[FedModel]):
    """A draft that reads the target's hidden state of the last verified position."""

    def __init__(self, target: FeatureModel, model: FedModel, sampling: Sampling):
        self._target = target
        self._model = model
        self._sampling = sampling

    def propose(self, tokens: Sequence[int], count: int, draw: Draw) -> Draft:
        if count == 0:
            return NOTHING
        feature = self._target.feature(len(tokens) - 1) if tokens else None
        return self._guess(feature, tokens, count, draw)

    @abstractmethod
    def _guess(
        self, feature: Tensor | None, tokens: Sequence[int], count: int, draw: Draw
    ) -> Draft:
        """`propose`; feature: of the position that gave the last of `tokens`, None before one."""


class ChainDraft(FedDraft[ChainModel]):
    """Reads each guess before it makes the next."""

    def _guess(
        self, feature: Tensor | None, tokens: Sequence[int], count: int, draw: Draw
    ) -> Draft:
        state, known = self._model.begin(feature), list(tokens)
        rows: list[Tensor] = []
        for row in range(count):
            state, logits = self._model.step(state, known)
            rows.append(probs(logits, self._sampling))
            known.append(draw(row, rows[-1]))
        return Draft(known[len(tokens) :], torch.stack(rows))


class HeadsDraft(FedDraft[HeadsModel]):
    """All guesses at once: none knows the others."""

    def _guess(
        self, feature: Tensor | None, tokens: Sequence[int], count: int, draw: Draw
    ) -> Draft:
        rows = probs(self._model.guess(feature, tokens, count), self._sampling)
        return Draft([draw(row, q) for row, q in enumerate(rows)], rows)


class NGramDraft:
    """Repetition: what followed when the sentence's last tokens were last said (prompt lookup).

    The free anchor: no model, and nothing where nothing is repeated. Its q is certain of every
    token, so the ratio test accepts with the target's own p.
    """

    LONGEST = 8  # tokens that are looked up, at most; one that was said before is enough

    def __init__(self, num_codebooks: int, codebook_size: int):
        self._Q = num_codebooks
        self._V = codebook_size

    def propose(self, tokens: Sequence[int], count: int, draw: Draw) -> Draft:
        start = self._match(tokens)
        guesses = [] if start is None else tokens[start : start + count]
        if not guesses:
            return NOTHING
        q = torch.nn.functional.one_hot(torch.tensor(guesses), self._V).float()
        return Draft([draw(row, q[row]) for row in range(len(guesses))], q)

    def _match(self, tokens: Sequence[int]) -> int | None:
        """Where what comes next begins: behind the latest of the longest matches, in phase."""
        best, longest = None, 0
        for start in range(len(tokens) - self._Q, 0, -self._Q):
            length = 0
            while length < min(self.LONGEST, start) and (
                tokens[start - 1 - length] == tokens[len(tokens) - 1 - length]
            ):
                length += 1
            if length > longest:
                best, longest = start, length
            if longest == self.LONGEST:
                break
        return best


def check_draft(name: str, offered: Sequence[str] = tuple(DRAFTS)) -> None:
    """Raises ForespeakError if there is no such way of drafting among those offered."""
    if name not in offered:
        what = f"This voice has no draft {name!r}" if name in DRAFTS else f"Unknown draft {name!r}"
        raise ForespeakError(f"{what}: choose one of {', '.join(offered)}.")
