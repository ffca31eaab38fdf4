"""How fast a voice would be on this CPU, told before gigabytes of it are loaded: an estimate.

A pass over one token multiplies every weight once, and fetching weights from memory is what takes
the time. So one matrix, too large for any cache, tells how fast models of all sizes are.
"""

from dataclasses import dataclass
from time import perf_counter

import torch
from torch import Tensor

from core.lm.linear import Linear, prepare_linear

SHAPE = (8192, 4096)  # 64 MB of 16-bit weights
MANY = 64  # rows from which on it is the multiplying that takes the time
TRIES = 3


@dataclass(frozen=True)
class Work:
    """What a second of sound takes: weights times rows, in passes over one row, and over many."""

    single: float
    many: float = 0.0


@dataclass(frozen=True)
class Speed:
    """Weights times rows that a computer multiplies in a second, in passes of either kind."""

    single: float
    many: float


def expected_rtf(work: Work, speed: Speed) -> float:
    """About how many seconds a second of sound takes without a draft."""
    return work.single / speed.single + work.many / speed.many


def measure_speed() -> Speed:
    """Of this CPU, as decoding multiplies; takes a second or two."""
    multiply = prepare_linear(torch.zeros(SHAPE), torch.device("cpu"))
    rates = []
    for rows in (1, MANY):
        seconds = min(_time(multiply, torch.zeros(rows, SHAPE[1])) for _ in range(TRIES))
        rates.append(rows * SHAPE[0] * SHAPE[1] / seconds)
    return Speed(*rates)


def warning(name: str, rtf: float) -> str | None:
    """What to tell before such a voice is loaded; None if it keeps up with listening."""
    if rtf < 1:
        return None
    return (
        f"{name} is large for a CPU: expect about {rtf:.0f} s of work per second of sound before "
        "drafting helps (RTF; an estimate). A GPU would be faster."
    )


def _time(multiply: Linear, rows: Tensor) -> float:
    begun = perf_counter()
    multiply(rows)
    return perf_counter() - begun
