"""Where sound goes: one protocol for files and loudspeakers, and the one way to 16 bits."""

from types import TracebackType
from typing import Protocol

import numpy as np


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


def to_int16(samples: np.ndarray) -> np.ndarray:
    """float in [-1, 1] -> int16. Never normalised: two versions must stay comparable."""
    return np.rint(np.clip(samples, -1, 1) * 32767).astype("<i2")
