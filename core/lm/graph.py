"""The embedded decoder's pass in fixed shapes, as CUDA graphs want it."""

import weakref
from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from core.lm.capture import Graphs, Pool
from core.lm.decoder import Decoder
from core.lm.runtime import DecoderRuntime, DecoderState, Result, band, on_cpu


class StaticPass:
    """Buffers for one sentence at a time, and the graphs over them."""

    def __init__(self, runtime: DecoderRuntime, capacity: int):
        self.runtime = runtime
        self.capacity = capacity
        width, device = runtime.config.width, runtime.device
        self.base = torch.zeros(capacity, width, device=device)
        self.rope, self.keys, self.values = runtime.buffers(capacity)
        self._start = torch.zeros(1, dtype=torch.long, device=device)
        self._graphs = Graphs(self.compute, device)

    def __call__(self, start: int, table_rows: list[list[int]]) -> Result:
        self._start.fill_(start)
        phase = start % self.runtime.config.num_codebooks
        return on_cpu(self._graphs(torch.tensor(table_rows), phase))  # waits for the pass

    def compute(self, rows: Tensor, phase: int) -> Result:
        """The pass itself, in shapes that depend on nothing but m; rows [m, 2 Q] on the device."""
        m, window = len(rows), self.runtime.config.window
        device = self._start.device
        where = self._start + torch.arange(m, device=device)
        seen = self._start + torch.arange(1 - window, m, device=device)
        bias = band(m, window, device).masked_fill(seen < 0, -torch.inf)
        seen = seen.clamp(min=0)
        x = self.base[where] + self.runtime.inputs.table[rows].sum(1)
        rope = self.rope[where]
        outputs = []
        for block, keys, values in zip(self.runtime.blocks, self.keys, self.values, strict=True):
            query, key, value = block.ask(x, rope)
            keys.index_copy_(2, where, key)
            values.index_copy_(1, where, value)
            seen_keys, seen_values = keys.index_select(2, seen), values.index_select(1, seen)
            x = block.answer(x, query, seen_keys, seen_values, bias)
            outputs.append(x)
        return self.runtime.logits(x, phase), self.runtime.tapped(outputs)


class GraphRuntime(DecoderRuntime):
    """A decoder whose sentences run through borrowed `StaticPass` objects."""

    def __init__(self, decoder: Decoder, device: torch.device, taps: Sequence[int] = ()):
        super().__init__(decoder, device, taps)
        self._pool = Pool(partial(StaticPass, self))

    @torch.inference_mode()
    def start(self, cond: Tensor, hint: Tensor) -> DecoderState:
        base = self.inputs.of_frames(cond, hint)
        static = self._pool.borrow(len(base))
        static.base[: len(base)] = base
        state = DecoderState(self, len(base), static)
        weakref.finalize(state, self._pool.give_back, static)
        return state
