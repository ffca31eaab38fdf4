"""The decoder's pass as a CUDA graph: one launch instead of a few hundred kernels.

A graph replays fixed shapes at fixed addresses. So positions are a tensor on the device, a
pass always looks at window + m - 1 cache slots (those before the sentence are masked), and
the buffers live in `StaticPass`, which sentences borrow one after the other. Nothing that is
captured may touch the CPU's memory: a copy from there would fail the capture.
"""

import weakref
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import torch
from torch import Tensor

from core.lm.decoder import Decoder
from core.lm.runtime import DecoderRuntime, DecoderState, Result, band, on_cpu

CAPACITY_STEP = 1024  # sentences of like length share buffers and graphs
MAX_GAMMA = 16
WIDEST = MAX_GAMMA + 2  # rows of a graph; wider passes are rare, so they are not worth capturing
CAPTURING = Lock()  # one capture at a time in the whole process; replays need no lock


class StaticPass:
    """Buffers for one sentence at a time, and a graph per (rows, codebook of the first row)."""

    def __init__(self, runtime: DecoderRuntime, capacity: int):
        self.runtime = runtime
        self.capacity = capacity
        width, device = runtime.config.width, runtime.device
        self.base = torch.zeros(capacity, width, device=device)
        self.rope, self.keys, self.values = runtime.buffers(capacity)
        self._start = torch.zeros(1, dtype=torch.long, device=device)
        self._graphs: dict[tuple[int, int], Callable[[Tensor], Result]] = {}
        self._memory: Any = None  # the graphs never run at once, so they share their scratch

    def __call__(self, start: int, table_rows: list[list[int]]) -> Result:
        rows = torch.tensor(table_rows)
        m, phase = len(rows), start % self.runtime.config.num_codebooks
        self._start.fill_(start)
        if m > WIDEST or self.runtime.device.type != "cuda":
            return on_cpu(self.compute(rows.to(self.runtime.device), phase))
        if (m, phase) not in self._graphs:
            self._graphs[m, phase] = self._capture(rows, phase)
        return self._graphs[m, phase](rows)

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

    def _capture(self, rows: Tensor, phase: int) -> Callable[[Tensor], Result]:
        """Record `compute` once; calling the result copies `rows` in, replays, copies out."""
        with CAPTURING:
            self._memory = self._memory or torch.cuda.graph_pool_handle()
            static_rows = rows.to(self._start.device)
            side = torch.cuda.Stream()  # capture needs warmed-up kernels, and a stream of its own
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                self.compute(static_rows, phase)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            # Thread-local: what another sentence does meanwhile must not fail this capture.
            with torch.cuda.graph(graph, self._memory, capture_error_mode="thread_local"):
                result = self.compute(static_rows, phase)

        def replay(rows: Tensor) -> Result:
            static_rows.copy_(rows)
            graph.replay()
            return on_cpu(result)  # copies, since the next replay overwrites it; the pass's wait

        return replay


class PassPool:
    """Idle `StaticPass` objects by capacity: capturing is slow, so they are kept and lent."""

    def __init__(self, runtime: DecoderRuntime):
        self._runtime = runtime
        self._idle: dict[int, list[StaticPass]] = {}

    def borrow(self, length: int) -> StaticPass:
        """One with room for `length` positions, all to the caller until given back."""
        capacity = -(-length // CAPACITY_STEP) * CAPACITY_STEP
        try:
            return self._idle.setdefault(capacity, []).pop()
        except IndexError:  # asking first would let another thread take the last one in between
            return StaticPass(self._runtime, capacity)

    def give_back(self, static_pass: StaticPass) -> None:
        self._idle[static_pass.capacity].append(static_pass)


class GraphRuntime(DecoderRuntime):
    """A decoder whose sentences run through borrowed `StaticPass` objects."""

    def __init__(self, decoder: Decoder, device: torch.device, taps: Sequence[int] = ()):
        super().__init__(decoder, device, taps)
        self._pool = PassPool(self)

    @torch.inference_mode()
    def start(self, cond: Tensor, hint: Tensor) -> DecoderState:
        base = self.inputs.of_frames(cond, hint)
        static = self._pool.borrow(len(base))
        static.base[: len(base)] = base
        state = DecoderState(self, len(base), static)
        weakref.finalize(state, self._pool.give_back, static)
        return state
