"""Stand-ins that make decoding exact and instant: toy languages, toy models, enumerated noise."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate, pairwise, product
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from core.lm.decoder import Decoder, DecoderConfig
from core.lm.kernels import Weight
from core.sampling import Lane

Result = TypeVar("Result")
Language = Callable[[tuple[int, ...]], Tensor]
"""prefix -> logits [V], float64, of the token that follows."""
Key = Callable[[Lane, int, int], tuple[int, ...]]
"""(lane, first position of the round, row) -> which number is read."""


def language(seed: int, size: int = 3, codebooks: int = 2, zeros: bool = False) -> Language:
    """A random language in which the whole prefix and the codebook phase decide what follows.

    zeros: some entries are impossible (which ones depends on the prefix; one always stays).
    """
    phases = np.random.default_rng(seed).gamma(1.0, size=(codebooks, size)) + 0.05

    @cache
    def follow(prefix: tuple[int, ...]) -> Tensor:
        rng = np.random.default_rng((seed, len(prefix), *prefix))
        weights = phases[len(prefix) % codebooks] * (rng.gamma(1.0, size=size) + 0.05)
        if zeros:
            keep = rng.random(size) < 0.6
            keep[rng.integers(size)] = True
            weights = weights * keep
        return torch.from_numpy(weights / weights.sum()).log()

    return follow


def blend(target: Language, seed: int, share: float = 0.5) -> Language:
    """A draft of `target`: partly right, partly a language of its own."""
    size = len(target(()))
    other = language(seed, size)

    @cache
    def follow(prefix: tuple[int, ...]) -> Tensor:
        return (share * target(prefix).exp() + (1 - share) * other(prefix).exp()).log()

    return follow


def disjoint(target: Language, seed: int) -> tuple[Language, Language]:
    """Two languages that never agree: each says only what the other cannot."""

    @cache
    def split(prefix: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        logits = target(prefix)
        rng = np.random.default_rng((seed, *prefix))
        mine = torch.zeros(len(logits), dtype=torch.bool)
        mine[rng.permutation(len(logits))[: rng.integers(1, len(logits))]] = True
        return logits.masked_fill(~mine, -torch.inf), logits.masked_fill(mine, -torch.inf)

    return (lambda prefix: split(prefix)[0]), (lambda prefix: split(prefix)[1])


class ToyModel:
    """A language behind the `LanguageModel` protocol, as strict as the real decoder state."""

    def __init__(self, follow: Language, capacity: int = 10**9):
        self.length = 0
        self.tokens: list[int] = []
        self.passes: list[int] = []
        self.follow = follow
        self._capacity = capacity

    def forward(self, tokens: Sequence[int]) -> Tensor:
        begin = self.length == 0
        m = len(tokens) + begin
        if m == 0 or self.length + m > self._capacity:
            raise ValueError(f"{m} positions from {self.length} do not fit {self._capacity}")
        self.tokens.extend(tokens)
        start, self.length = self.length, self.length + m
        self.passes.append(m)
        return torch.stack([self.follow(tuple(self.tokens[:n])) for n in range(start, self.length)])

    def rollback(self, length: int) -> None:
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot roll back from {self.length} to {length}")
        self.length = length
        del self.tokens[max(0, length - 1) :]


def sequence_probs(
    length: int, follow: Callable[[tuple[int, ...]], Tensor]
) -> dict[tuple[int, ...], float]:
    """The joint distribution of `length` tokens, from each prefix's distribution [V]."""
    size = len(follow(()))
    joint = {}
    for tokens in product(range(size), repeat=length):
        weight = 1.0
        for n, token in enumerate(tokens):
            weight *= float(follow(tokens[:n])[token])
        joint[tokens] = weight
    return joint


def total_variation(p: dict[tuple[int, ...], float], q: dict[tuple[int, ...], float]) -> float:
    """Half the sum of absolute differences; also counts mass that one of them lacks."""
    return sum(abs(p.get(key, 0) - q.get(key, 0)) for key in p.keys() | q.keys()) / 2


class Branches:
    """The decisions of one run, replayed and varied so that every path is taken once."""

    def __init__(self) -> None:
        self._taken: list[tuple[int, list[tuple[int, float]]]] = []
        self._step = 0
        self.weight = 1.0

    def choose(self, weights: Sequence[float]) -> int:
        """An index; the caller is taken through each that has weight."""
        if self._step == len(self._taken):
            total = sum(weights)
            # Slivers are rounding: all of them together weigh less than any tolerance here.
            options = [(i, w / total) for i, w in enumerate(weights) if w > 1e-15 * total]
            self._taken.append((0, options))
        which, options = self._taken[self._step]
        self._step += 1
        self.weight *= options[which][1]
        return options[which][0]

    def advance(self) -> bool:
        """Go to the next path, depth first; False after the last."""
        self._step, self.weight = 0, 1.0
        while self._taken:
            which, options = self._taken.pop()
            if which + 1 < len(options):
                self._taken.append((which + 1, options))
                return True
        return False


def keyed(lane: Lane, position: int, row: int) -> tuple[int, ...]:
    """As `KeyedDraws` does: numbers belong to a round's row, Gumbel noise to a token's position."""
    return (lane, position + row) if lane is Lane.GUMBEL else (lane, position, row)


class EnumeratedNoise:
    """Takes the place of `Noise` and stands for all its values at once.

    Each number u is only known to lie in an interval. A decision cuts the interval, follows one
    part, and weighs it: so a number that is read again, by another model or in a later round,
    is the same number, as with the real noise.
    The Gumbel lane is a shared u as well: what matters is that draft and target share it and
    that each alone draws from its own distribution.
    """

    def __init__(self, branches: Branches, key: Key = keyed):
        """key: which number is read (mutants merge what must differ)."""
        self.key = key
        self._branches = branches
        self._known: dict[tuple[int, ...], tuple[float, float]] = defaultdict(lambda: (0.0, 1.0))

    def at(self, position: int) -> "EnumeratedDraws":
        return EnumeratedDraws(self, position)

    def decide(self, key: tuple[int, ...], edges: Sequence[float]) -> int:
        """Which of the parts that `edges` (rising, up to 1) cut [0, 1) into holds that u."""
        low, high = self._known[key]
        first = bisect_right(edges, low)
        cuts = [low, *(edge for edge in edges[first:] if edge < high), high]
        widths = [right - left for left, right in pairwise(cuts)]
        part = self._branches.choose(widths)
        self._known[key] = cuts[part], cuts[part + 1]
        return first + part

    def middle(self, key: tuple[int, ...]) -> float:
        """A u that agrees with everything decided so far."""
        return sum(self._known[key]) / 2


class EnumeratedDraws:
    """`Draws` of the round that begins at `position`."""

    def __init__(self, noise: EnumeratedNoise, position: int):
        self.accept_draws: list[float] = []
        self.position = position
        self._noise = noise

    def draft(self, row: int, probabilities: Tensor) -> int:
        return self._draw(Lane.DRAFT, row, probabilities)

    def accept(self, row: int, probability: float) -> bool:
        key = self._noise.key(Lane.ACCEPT, self.position, row)
        accepted = self._noise.decide(key, [min(probability, 1.0), 1.0]) == 0
        self.accept_draws.append(self._noise.middle(key))
        return accepted

    def resample(self, row: int, probabilities: Tensor) -> int:
        return self._draw(Lane.RESAMPLE, row, probabilities)

    def gumbel(self, row: int, probabilities: Tensor) -> int:
        return self._draw(Lane.GUMBEL, row, probabilities)

    def _draw(self, lane: Lane, row: int, probabilities: Tensor) -> int:
        edges = list(accumulate(probabilities.tolist()))
        edges = [min(edge / edges[-1], 1.0) for edge in edges]
        return self._noise.decide(self._noise.key(lane, self.position, row), edges)


def every_path(run: Callable[[Branches], Result]) -> Iterator[tuple[float, Result]]:
    """(weight, result) of `run` along each path through its decisions."""
    branches = Branches()
    more = True
    while more:
        result = run(branches)
        yield branches.weight, result
        more = branches.advance()


class Remembered(ToyModel):
    """A target whose feature of a position tells the tokens it had taken in by then."""

    def feature(self, position: int) -> Tensor:
        if not 0 <= position < self.length:
            raise ValueError(f"position {position} was never taken in")
        return torch.tensor([0, *self.tokens[:position]], dtype=torch.float32)


class ToyChain:
    """Implements `ChainModel`: what a toy language says; keeps what it was begun with."""

    def __init__(self, follow: Language):
        self.follow = follow
        self.begun: list[Tensor | None] = []

    def begin(self, feature: Tensor | None) -> Tensor:
        self.begun.append(feature)
        return torch.zeros(1)

    def step(self, state: Tensor, tokens: Sequence[int]) -> tuple[Tensor, Tensor]:
        return state, self.follow(tuple(tokens))


class ToyHeads:
    """Implements `HeadsModel`: three heads, for which what lies between is always token 0."""

    def __init__(self, follow: Language):
        self.follow = follow

    def guess(self, feature: Tensor | None, tokens: Sequence[int], count: int) -> Tensor:  # noqa: ARG002
        return torch.stack([self.follow((*tokens, *[0] * j)) for j in range(min(count, 3))])


def exact_weight(weight: Tensor) -> Weight:
    """In the place of `core.lm.kernels.packed`: nothing is rounded."""
    return Weight(weight.detach().float().contiguous().numpy(), np.ones(len(weight), np.float32))


def tiny_decoder(seed: int, layers: int = 2, window: int = 8) -> Decoder:
    """A decoder of real architecture and no size, with every weight random and felt."""
    config = DecoderConfig(
        layers=layers,
        width=32,
        heads=4,
        mlp=48,
        cond_width=12,
        window=window,
        num_codebooks=3,
        codebook_size=7,
        code_dim=5,
    )
    rng = torch.Generator().manual_seed(seed)
    shape = config.num_codebooks, config.codebook_size, config.code_dim
    decoder = Decoder(config, torch.randn(shape, generator=rng))
    with torch.no_grad():
        for name, parameter in decoder.named_parameters():
            drawn = torch.randn(parameter.shape, generator=rng)
            # Normalisation weights away from 1, or forgetting to fold them in would not show.
            parameter.copy_(1 + 0.3 * drawn if "norm" in name else 0.25 * drawn)
    return decoder.eval()
