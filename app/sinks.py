"""Where sound goes: one protocol for files, loudspeakers and memory."""

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol

import numpy as np

from core.engine import AudioReady, Event, Started
from core.sound import to_int16


class Sink(Protocol):
    """Takes 16-bit mono sound piece by piece.

    A context manager: leaving it completes the sound, leaving it on an exception drops it.
    """

    def begin(self, sample_rate: int) -> None:
        """Called once, before the first piece; sample_rate in Hz."""

    def write(self, pcm: np.ndarray) -> None:
        """The next piece, int16 [samples]."""

    def __enter__(self) -> "Sink": ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


def pass_on(event: Event, sinks: Sequence[Sink]) -> None:
    """Give the sinks what an event of the engine brings them."""
    match event:
        case Started(trace=trace):
            for sink in sinks:
                sink.begin(trace.sample_rate)
        case AudioReady(samples=samples) if sinks:
            pcm = to_int16(samples)
            for sink in sinks:
                sink.write(pcm)


class Memory:
    """Implements `Sink`: keeps the sound."""

    def __init__(self) -> None:
        self._pieces: list[np.ndarray] = []

    def begin(self, sample_rate: int) -> None:
        pass

    def write(self, pcm: np.ndarray) -> None:
        self._pieces.append(pcm)

    def pcm(self) -> np.ndarray:
        """All of it so far, int16 [samples]."""
        return np.concatenate((np.empty(0, np.int16), *self._pieces))

    def __enter__(self) -> "Memory":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._pieces.clear()
