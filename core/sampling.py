"""The one way from logits to a token: temperature, top-k, top-p, and keyed randomness.

Target, draft, bonus and corrected token all go through `probs`; sharing it is what keeps
speculative decoding exact (p and q must be the distributions tokens are really drawn from).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from core.errors import ForespeakError

TINY = 1e-20
"""Stands in for temperatures and top-p below it, at which float32 might overflow or vanish."""


@dataclass(frozen=True)
class Sampling:
    """How a token is drawn. temperature 0 is greedy; top_k 0 and top_p 1 keep every token."""

    temperature: float = 0.8
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        # Written so that NaN fails too.
        if not 0 <= self.temperature <= 5:
            raise ForespeakError(
                f"Temperature {self.temperature} is out of range: choose 0 (greedy) to 5."
            )
        if not self.top_k >= 0:
            raise ForespeakError(f"Top-k {self.top_k} is out of range: choose 0 (off) or more.")
        if not 0 < self.top_p <= 1:
            raise ForespeakError(f"Top-p {self.top_p} is out of range: choose above 0, up to 1.")


def probs(logits: Tensor, sampling: Sampling) -> Tensor:
    """Distribution tokens are drawn from; [..., V] -> [..., V], at least float32.

    Temperature first, then top-k, then the smallest set of likeliest tokens whose mass
    reaches top-p; what remains is renormalised. The likeliest token always remains.
    """
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    if sampling.temperature == 0:
        return torch.zeros_like(logits).scatter_(-1, logits.argmax(-1, keepdim=True), 1)
    logits = logits / max(sampling.temperature, TINY)
    if 0 < sampling.top_k < logits.shape[-1]:
        kept = logits.topk(sampling.top_k, -1)
        logits = torch.full_like(logits, -torch.inf).scatter_(-1, kept.indices, kept.values)
    result = logits.softmax(-1)
    if sampling.top_p < 1:
        ordered, order = result.sort(-1, descending=True)
        before = ordered.cumsum(-1) - ordered
        ordered = torch.where(before < max(sampling.top_p, TINY), ordered, 0)
        result = torch.zeros_like(result).scatter_(-1, order, ordered)
        result /= result.sum(-1, keepdim=True)
    return result


def inverse_cdf(probabilities: Tensor, u: float) -> int:
    """The token at quantile u of [V]; never one of probability zero."""
    cdf = probabilities.numpy().cumsum(dtype=np.float64)
    token = int(cdf.searchsorted(u * cdf[-1], side="right"))
    if token == len(cdf):  # u * total rounded up to the total
        token = int(probabilities.nonzero()[-1])
    return token


def gumbel_argmax(probabilities: Tensor, noise: Tensor) -> int:
    """The token that the Gumbel-max trick draws from [V] with the given noise [V]."""
    return int((probabilities.log() + noise).argmax())


class Lane(IntEnum):
    """What a random number is for; lanes never share one."""

    DRAFT = 0
    ACCEPT = 1
    RESAMPLE = 2
    GUMBEL = 3


class Draws(Protocol):
    """Randomness of one round; row r belongs to the r-th token of the round.

    Decisions, not numbers: so a test can enumerate every outcome with its weight. Distributions
    are on the CPU, as `LanguageModel` gives them, whatever device the models run on.
    """

    position: int
    """Of the round's first token, in its sentence."""

    @property
    def accept_draws(self) -> Sequence[float]:
        """The number behind each answer of `accept`, in the order in which they were asked."""

    def draft(self, row: int, probabilities: Tensor) -> int:
        """Draw the row's draft token from [V]."""

    def accept(self, row: int, probability: float) -> bool:
        """True with the given probability: if the row's number is below it."""

    def resample(self, row: int, probabilities: Tensor) -> int:
        """Draw the row's emitted token (corrected or bonus) from [V]."""

    def gumbel(self, row: int, probabilities: Tensor) -> int:
        """Draw from [V] with the row's Gumbel noise: draft and target see the same noise."""


class Noise:
    """Counter-keyed random numbers: a pure function of (seed, stream, lane, position, row).

    Asking twice gives the same number, whatever was asked in between. One stream per sentence.
    """

    BLOCK = 64  # positions whose numbers are made at once
    ROWS = 32  # of a round, at most

    def __init__(self, seed: int, stream: int = 0):
        # A dtype of its own: from large Python integers numpy would make inexact floats.
        self._key = np.array((seed % 2**64, stream), dtype=np.uint64)
        self._blocks: dict[tuple[int, int, int], np.ndarray] = {}

    def uniform(self, lane: Lane, position: int, row: int) -> float:
        """The number in [0, 1) of a row of the round that starts at `position`."""
        return float(self._row(lane, position, self.ROWS)[row])

    def gumbel(self, position: int, size: int) -> Tensor:
        """Standard Gumbel noise [size] of a position, float32."""
        row = self._row(Lane.GUMBEL, position, size)
        return torch.from_numpy(-np.log(-np.log(np.maximum(row, 1e-300)))).float()

    def _row(self, lane: Lane, position: int, width: int) -> np.ndarray:
        block, row = divmod(position, self.BLOCK)
        if (lane, block, width) not in self._blocks:
            # The last two words of the counter are the address; generating moves only the first.
            bits = np.random.Philox(key=self._key, counter=(0, 0, lane, block))
            numbers = np.random.Generator(bits).random((self.BLOCK, width))
            # A run only goes forward, and a block of a large codebook's noise is megabytes.
            self._blocks.pop((lane, block - 2, width), None)
            self._blocks[lane, block, width] = numbers
        return self._blocks[lane, block, width][row]

    def at(self, position: int) -> "KeyedDraws":
        """The draws of the round whose first token is `position`."""
        return KeyedDraws(self, position)


@dataclass
class KeyedDraws:
    """`Draws` from `Noise`, for the round that starts at a position.

    Each round has numbers of its own. Keyed by the token's position alone, those that a rule
    read beyond its verdict would come back in the next round, which that verdict has shaped:
    block verification would be biased. Gumbel noise does belong to the token's position: every
    emitted token is read off it, whichever round emits it.
    """

    noise: Noise
    position: int
    accept_draws: list[float] = field(default_factory=list, init=False)

    def draft(self, row: int, probabilities: Tensor) -> int:
        return inverse_cdf(probabilities, self.noise.uniform(Lane.DRAFT, self.position, row))

    def accept(self, row: int, probability: float) -> bool:
        self.accept_draws.append(self.noise.uniform(Lane.ACCEPT, self.position, row))
        return self.accept_draws[-1] < probability

    def resample(self, row: int, probabilities: Tensor) -> int:
        return inverse_cdf(probabilities, self.noise.uniform(Lane.RESAMPLE, self.position, row))

    def gumbel(self, row: int, probabilities: Tensor) -> int:
        noise = self.noise.gumbel(self.position + row, probabilities.shape[-1])
        return gumbel_argmax(probabilities, noise)
