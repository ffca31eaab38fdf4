"""One sentence of a decoder that goes on from a prompt: cache, rollback, entries for ids.

To the decoding loop such a model looks like any other: tokens are codebook entries, and position
0 is the beginning. Here the beginning is a whole prompt, and entries have ids of their own.
"""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from core.lm.linear import Linear, prepare_linear
from core.lm.state import BoundedState


class Cache:
    """Keys and values of every layer, [layers, heads, capacity, head]; a length is kept outside."""

    def __init__(
        self,
        layers: int,
        heads: int,
        head: int,
        capacity: int,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
    ):
        self._keys = torch.zeros(layers, heads, capacity, head, device=device, dtype=dtype)
        self._values = torch.zeros_like(self._keys)

    @property
    def capacity(self) -> int:
        return self._keys.shape[2]

    def put(self, layer: int, start: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Store [heads, m, head] from position `start`; all that is there up to them."""
        stop = start + keys.shape[1]
        self._keys[layer, :, start:stop] = keys
        self._values[layer, :, start:stop] = values
        return self._keys[layer, :, :stop], self._values[layer, :, :stop]


class Entries:
    """Which ids of one model's vocabulary the codebooks' entries are.

    Entry V, behind those of the codebook, ends the sentence; it exists where `stop` is an id,
    and can be said only where a frame begins.
    """

    def __init__(self, ids: Tensor, stop: int | None = None):
        """ids: [Q, V]."""
        self.ids = ids
        self.stop = stop
        self._table = ids.tolist()

    @property
    def num_codebooks(self) -> int:
        return len(self.ids)

    @property
    def width(self) -> int:
        """How many entries there are to choose from."""
        return self.ids.shape[1] + (self.stop is not None)

    def spell(self, tokens: Sequence[int], first: int) -> list[int]:
        """Ids of tokens, the first of which is number `first` of its sentence."""
        Q = self.num_codebooks
        return [self._table[(first + n) % Q][token] for n, token in enumerate(tokens)]


class Head:
    """The output layer, as far as it says entries."""

    def __init__(self, weight: Tensor, entries: Entries, device: torch.device):
        """weight: [vocabulary, width]."""
        self._entries = entries
        stop = [] if entries.stop is None else [entries.stop]
        self._linears: list[Linear] = [
            prepare_linear(weight[torch.cat((ids, torch.tensor(stop, dtype=ids.dtype)))], device)
            for ids in entries.ids
        ]

    def __call__(self, x: Tensor, first: int) -> Tensor:
        """Logits [m, entries] of tokens number `first` on, from rows [m, width]."""
        Q = self._entries.num_codebooks
        logits = torch.empty(len(x), self._entries.width, device=x.device)
        for row in range(min(Q, len(x))):
            logits[row::Q] = self._linears[(first + row) % Q](x[row::Q]).float()
            if self._entries.stop is not None and (first + row) % Q:
                logits[row::Q, -1] = -torch.inf
        return logits


class PromptedModel(Protocol):
    """A decoder over vectors, without state."""

    entries: Entries
    device: torch.device

    def cache(self, capacity: int) -> Cache:
        """Room for so many positions."""

    def embed(self, ids: Sequence[int]) -> Tensor:
        """Vectors [m, width] of vocabulary ids."""

    def run(self, x: Tensor, start: int, cache: Cache) -> Tensor:
        """Outputs [m, width] of the positions from `start` on; x [m, width]."""

    def logits(self, x: Tensor, first: int) -> Tensor:
        """Of tokens number `first` on, from outputs, [m, entries]."""


class PromptedState(BoundedState):
    """Implements `LanguageModel`: one sentence behind its prompt, which position 0 takes in."""

    def __init__(self, model: PromptedModel, prompt: Tensor, capacity: int):
        """prompt: [P, width]; capacity: positions, at most."""
        super().__init__(capacity)
        self._model = model
        self._prompt = prompt
        self._cache = model.cache(len(prompt) + capacity - 1)

    @torch.inference_mode()
    def forward(self, tokens: Sequence[int]) -> Tensor:
        """Take in the next positions; logits [m, entries] of what follows each, on the CPU."""
        start, stop = self.length, self.stop(tokens)
        ids = self._model.entries.spell(tokens, len(self.tokens))
        self.tokens.extend(tokens)
        self.length = stop
        x = self._model.embed(ids)
        if start == 0:
            x = torch.cat((self._prompt, x))
        outputs = self._model.run(x, len(self._prompt) + stop - 1 - len(x), self._cache)
        return self._model.logits(outputs[start - stop :], start).cpu()
