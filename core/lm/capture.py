"""CUDA graphs: a pass is recorded once, then replayed by one launch instead of a few hundred.

A graph replays fixed shapes at fixed addresses. So positions are a tensor on the device, a pass
looks at as many cache slots wherever it stands (those that it must not see are masked), and buffers
are kept, and lent to one sentence after the other. Nothing that is captured may touch the CPU's
memory: a copy from there would fail the capture.
"""

from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor

CAPACITY_STEP = 1024  # sentences of like length share buffers and graphs
MAX_GAMMA = 16
WIDEST = MAX_GAMMA + 2  # rows of a graph; wider passes are rare, so they are not worth capturing
CAPTURING = Lock()  # one capture at a time in the whole process; replays need no lock

Result = TypeVar("Result")
Compute = Callable[[Tensor, int], Result]
"""(what is known of each row, on the device; codebook of the first row) -> what a pass gives."""


class Graphs(Generic[Result]):
    """The passes over one set of buffers: a graph per (rows, codebook of the first row)."""

    def __init__(self, compute: Compute[Result], device: torch.device):
        """compute: the pass, in shapes that depend on nothing but these two."""
        self._compute = compute
        self._device = device
        self._graphs: dict[tuple[int, int], Callable[[Tensor], Result]] = {}
        self._memory: Any = None  # the graphs never run at once, so they share their scratch

    def __call__(self, rows: Tensor, phase: int) -> Result:
        """What `compute` gives, on the device: to be copied before the next call overwrites it."""
        m = len(rows)
        if m > WIDEST or self._device.type != "cuda":
            return self._compute(rows.to(self._device), phase)
        if (m, phase) not in self._graphs:
            self._graphs[m, phase] = self._capture(rows, phase)
        return self._graphs[m, phase](rows)

    def _capture(self, rows: Tensor, phase: int) -> Callable[[Tensor], Result]:
        """Record `compute` once; calling the result copies `rows` in and replays."""
        with CAPTURING:
            self._memory = self._memory or torch.cuda.graph_pool_handle()
            static_rows = rows.to(self._device)
            side = torch.cuda.Stream()  # capture needs warmed-up kernels, and a stream of its own
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                self._compute(static_rows, phase)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            # Thread-local: what another sentence does meanwhile must not fail this capture.
            with torch.cuda.graph(graph, self._memory, capture_error_mode="thread_local"):
                result = self._compute(static_rows, phase)

        def replay(rows: Tensor) -> Result:
            static_rows.copy_(rows)
            graph.replay()
            return result

        return replay


class Buffers(Protocol):
    """What a sentence borrows."""

    capacity: int


Lent = TypeVar("Lent", bound=Buffers)


class Pool(Generic[Lent]):
    """Idle buffers by capacity: capturing is slow, so they are kept and lent."""

    def __init__(self, build: Callable[[int], Lent]):
        """build: new ones, given a capacity."""
        self._build = build
        self._idle: dict[int, list[Lent]] = {}

    def borrow(self, length: int) -> Lent:
        """Some with room for `length` positions, all to the caller until given back."""
        capacity = -(-length // CAPACITY_STEP) * CAPACITY_STEP
        try:
            return self._idle.setdefault(capacity, []).pop()
        except IndexError:  # asking first would let another thread take the last one in between
            return self._build(capacity)

    def give_back(self, lent: Lent) -> None:
        self._idle[lent.capacity].append(lent)
