"""What a draft is worth: its α against its cost, as the speed-up that both predict.

Costs are those of `core.bench`, measured on the same passes: a draft step and a target pass
over m tokens, in units of a one-token target pass beside them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter

import numpy as np
import torch

from core.bench import Costs, predict_speedup
from core.drafters import Drafter, LanguageModel
from core.sampling import Noise, Sampling, probs
from core.verify import RULES

LONGEST = 8  # drafted tokens a round
STEPS = 4  # draft steps that are timed in a row
PLACES = 6  # positions of a sentence at which its passes are timed


@dataclass(frozen=True)
class Sentence:
    """One sentence before it is spoken: its target, its drafters by name, and what to say."""

    target: LanguageModel
    drafters: Mapping[str, Drafter]
    tokens: Sequence[int]


@dataclass(frozen=True)
class Trade:
    """α and c of one draft; gamma is where the predicted speed-up is greatest."""

    name: str
    parameters: int
    alpha: float
    c: float
    gamma: int
    speedup: float

    @classmethod
    def of(cls, name: str, parameters: int, alpha: float, c: float, v: Sequence[float]) -> "Trade":
        """v: cost of target passes over 1 to LONGEST + 1 tokens."""

        def speedup(gamma: int) -> float:
            return predict_speedup(alpha, Costs(c, tuple(v[: gamma + 1])))

        gamma = max(range(1, LONGEST + 1), key=speedup)
        return cls(name, parameters, alpha, c, gamma, speedup(gamma))


@torch.inference_mode()
def measure_costs(
    sentences: Iterable[Sentence], sampling: Sampling
) -> tuple[dict[str, float], list[float]]:
    """c of each draft by name, and v for 1 to LONGEST + 1 tokens: medians of all places."""
    ratios_c: dict[str, list[float]] = {}
    ratios_v: list[list[float]] = []
    for sentence in sentences:
        last = len(sentence.tokens) - LONGEST - 1
        tokens, target = sentence.tokens, sentence.target
        for place in np.linspace(1, last, PLACES, dtype=int).tolist():
            if target.length < place:
                target.forward(tokens[max(0, target.length - 1) : place - 1])
            passes = [
                seconds(partial(run_pass, target, tokens[place - 1 :][:width], sampling))
                for width in range(1, LONGEST + 2)
            ]
            ratios_v.append([time / passes[0] for time in passes])
            draw = partial(RULES["lossless"].draw, Noise(0).at(place))
            for name, drafter in sentence.drafters.items():
                step = seconds(partial(drafter.propose, tokens[:place], STEPS, draw)) / STEPS
                ratios_c.setdefault(name, []).append(step / passes[0])
    v = [median(ratios) for ratios in zip(*ratios_v, strict=True)]
    return {name: median(ratios) for name, ratios in ratios_c.items()}, v


def run_pass(target: LanguageModel, tokens: Sequence[int], sampling: Sampling) -> None:
    """Take in tokens [m] as verification does, and forget them."""
    probs(target.forward(tokens), sampling)
    target.rollback(target.length - len(tokens))


def seconds(act: Callable[[], object]) -> float:
    """Of the fastest of three calls, after one that warms up and takes in what is new."""
    act()
    times = []
    for _ in range(3):
        begun = perf_counter()
        act()
        times.append(perf_counter() - begun)
    return min(times)
