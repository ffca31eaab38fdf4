"""One sentence of a decoder that goes on from a prompt: cache, rollback, entries for ids.

To the decoding loop such a model looks like any other: tokens are codebook entries, and position
0 is the beginning. Here the beginning is a whole prompt, and entries have ids of their own.
"""

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import torch
from torch import Tensor

from core.lm.capture import Graphs, Pool
from core.lm.linear import Linear, prepare_linear
from core.lm.state import BoundedState

Remember = Callable[[int, Tensor, Tensor], tuple[Tensor, Tensor]]
"""(layer, keys, values [heads, m, head]) -> those of all n positions that are looked at."""


@dataclass(frozen=True)
class Sight:
    """Where m rows stand, `places` [m], and what they see: mask [m, n], or everything."""

    places: Tensor
    mask: Tensor | None
    remember: Remember


class Cache:
    """Keys and values of every layer, [layers, heads, capacity, head]; a length is kept outside."""

    def __init__(
        self,
        layers: int,
        heads: int,
        head: int,
        capacity: int,
        device: torch.device,
    ):
        dtype = torch.float32 if device.type == "cpu" else torch.bfloat16
        self._keys = torch.zeros(layers, heads, capacity, head, device=device, dtype=dtype)
        self._values = torch.zeros_like(self._keys)

    def up_to(self, start: int, m: int) -> Sight:
        """Of m positions from `start` on: views of what is there, and nothing more."""
        stop = start + m
        places = torch.arange(stop, device=self._keys.device)

        def remember(layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
            self._keys[layer, :, start:stop] = keys
            self._values[layer, :, start:stop] = values
            return self._keys[layer, :, :stop], self._values[layer, :, :stop]

        return Sight(places[start:], places[start:, None] >= places, remember)

    def whole(self, start: Tensor, m: int) -> Sight:
        """The same over all of the cache, in shapes that depend on nothing but m; start [1] is on
        the device."""
        slots = torch.arange(self._keys.shape[2], device=start.device)
        places = start + slots[:m]

        def remember(layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
            all_keys, all_values = self._keys[layer], self._values[layer]
            all_keys.index_copy_(1, places, keys.to(all_keys.dtype))
            all_values.index_copy_(1, places, values.to(all_values.dtype))
            return all_keys, all_values

        return Sight(places, places[:, None] >= slots, remember)


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
                logits[row::Q, -1].fill_(-torch.inf)  # no number comes from the CPU
        return logits


class PromptedModel(Protocol):
    """A decoder over vectors, without state.

    positions: how many it can see. pool: passes in fixed shapes, for graphs; None without a GPU.
    """

    entries: Entries
    device: torch.device
    positions: int
    pool: "Pool[StaticPass] | None"

    def cache(self, capacity: int) -> Cache:
        """Room for so many positions."""

    def embed(self, ids: Tensor) -> Tensor:
        """Vectors [m, width] of vocabulary ids [m], which may be on the device already."""

    def run(self, x: Tensor, sight: Sight) -> Tensor:
        """Outputs [m, width] of vectors x [m, width]."""

    def logits(self, x: Tensor, first: int) -> Tensor:
        """Of tokens number `first` on, from outputs, [m, entries]."""


class ViewPass:
    """Passes over a cache that is as long as one sentence."""

    def __init__(self, model: PromptedModel, capacity: int):
        self._model = model
        self._cache = model.cache(capacity)

    def begin(self, x: Tensor, count: int) -> Tensor:
        """Take in vectors [m, width] from place 0 on; logits of the first `count` tokens, which
        follow the last of them."""
        outputs = self._model.run(x, self._cache.up_to(0, len(x)))
        return self._model.logits(outputs[-count:], 0).cpu()

    def __call__(self, start: int, ids: Tensor, first: int) -> Tensor:
        """Take in ids from place `start` on; logits [m, entries] of tokens number `first` on."""
        x = self._model.embed(ids)
        outputs = self._model.run(x, self._cache.up_to(start, len(x)))
        return self._model.logits(outputs, first).cpu()


class StaticPass(ViewPass):
    """The same in fixed shapes, but for the beginning: prompts are of all lengths."""

    def __init__(self, model: PromptedModel, capacity: int):
        super().__init__(model, capacity)
        self.capacity = capacity
        self._start = torch.zeros(1, dtype=torch.long, device=model.device)
        self._graphs = Graphs(self.compute, model.device)

    def __call__(self, start: int, ids: Tensor, first: int) -> Tensor:
        self._start.fill_(start)
        return self._graphs(ids, first % self._model.entries.num_codebooks).cpu()

    def compute(self, ids: Tensor, phase: int) -> Tensor:
        """The pass itself, in shapes that depend on nothing but m; ids [m] on the device."""
        outputs = self._model.run(self._model.embed(ids), self._cache.whole(self._start, len(ids)))
        return self._model.logits(outputs, phase)


def graph_pool(model: PromptedModel) -> Pool[StaticPass] | None:
    """What `PromptedModel.pool` is to be, of a model that knows its device."""
    return Pool(partial(StaticPass, model)) if model.device.type == "cuda" else None


class PromptedState(BoundedState):
    """Implements `LanguageModel`: one sentence behind its prompt, which position 0 takes in."""

    def __init__(self, model: PromptedModel, prompt: Tensor, capacity: int):
        """prompt: [P, width]; capacity: positions, at most."""
        super().__init__(capacity)
        length = len(prompt) + capacity - 1
        if length > model.positions:
            raise ValueError(
                f"{length} positions are more than the {model.positions} that it knows"
            )
        self._model = model
        self._prompt = prompt
        if model.pool is None:
            self._pass = ViewPass(model, length)
        else:
            self._pass = model.pool.borrow(length)
            weakref.finalize(self, model.pool.give_back, self._pass)

    @torch.inference_mode()
    def forward(self, tokens: Sequence[int]) -> Tensor:
        """Take in the next positions; logits [m, entries] of what follows each, on the CPU."""
        start, stop = self.length, self.stop(tokens)
        ids = self._model.entries.spell(tokens, len(self.tokens))
        ids = torch.tensor(ids, dtype=torch.long)
        self.tokens.extend(tokens)
        self.length = stop
        if start:
            return self._pass(len(self._prompt) + start - 1, ids, start)
        x = torch.cat((self._prompt, self._model.embed(ids)))
        return self._pass.begin(x, stop)
