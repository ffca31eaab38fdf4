"""α, c and v, from rounds as they are in use.

A pass that is timed by itself, over and over, finds its weights in the caches; in use the draft's
passes come between, and a round has more to do than passes. So costs are those of the rounds of
one run, in which every γ has its turn.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from statistics import fmean, median

import numpy as np

from core.engine import Engine, Settings
from core.errors import ForespeakError
from core.rules.exact import accept_probability
from core.speedup import Costs
from core.trace import Round, Trace


def mean_acceptance(rounds: Iterable[Round], rule: str) -> float:
    """α at the places that were visited: the chance that a drafted token is accepted there.

    A place is visited if all guesses before it in its round were accepted. The token there
    was drawn from q whatever its verdict, so the mean of min(1, p/q) over the drawn tokens is
    an unbiased estimate of Σ min(p, q), and a steadier one than counting verdicts. Under any
    other rule than the ratio test that is not the chance of acceptance: verdicts are counted.
    0 where nothing was drafted.
    """
    visited = [(round_, row) for round_ in rounds for row in range(round_.tested)]
    if not visited:
        return 0.0
    if rule != "lossless":
        return fmean(row < round_.accepted for round_, row in visited)
    return fmean(
        accept_probability(round_.target_probs[row], round_.draft_probs[row])
        for round_, row in visited
    )


class Sweep:
    """A window of every γ from `widest` down to 0, again and again.

    After γ 0 a draft has more tokens to take in, which weighs least in the longest proposal.
    """

    def __init__(self, widest: int):
        self._gammas = cycle(range(widest, -1, -1))

    def gamma(self, position: int) -> int:  # noqa: ARG002
        return next(self._gammas)

    def learn(self, round_: Round) -> None:
        pass


def measure_costs(engine: Engine, settings: Settings, trace: Trace) -> Costs:
    """Of windows up to the settings' γ: the first sentence of a run is spoken once more.

    Raises ForespeakError if it is too short.
    """
    plan = engine.plan(trace.sentences[0].text, settings)
    rounds = list(engine.rounds(plan, settings, Sweep(settings.gamma)))
    if not is_complete(rounds, settings.gamma):
        tokens = sum(len(round_.tokens) for round_ in rounds)
        raise ForespeakError(
            f"The voice ended its sentence after {tokens} tokens, too few to time γ "
            f"{settings.gamma}: try another seed or a longer text."
        )
    return costs_of(rounds, settings.gamma)


def is_complete(rounds: Sequence[Round], widest: int) -> bool:
    """Whether every γ of a sweep had its turn."""
    return len(rounds) > widest


def costs_of(rounds: Iterable[Round], widest: int) -> Costs:
    """Of a complete sweep; a round that drafts nothing is the unit.

    By what was really drafted: at a sentence's end, or where nothing repeats, that is less than
    was asked for. What was never seen is taken to lie between its neighbours.
    """
    draft: dict[int, list[float]] = {}
    verify: dict[int, list[float]] = {}
    for round_ in rounds:
        drafted = len(round_.draft_tokens)
        draft.setdefault(drafted, []).append(round_.draft_s if drafted else 0.0)
        verify.setdefault(drafted, []).append(round_.verify_s)
    unit = median(verify[0])
    costs = Costs(_fill(draft, widest, unit), _fill(verify, widest, unit))
    return Costs.typical([costs])


def _fill(seconds: Mapping[int, Sequence[float]], widest: int, unit: float) -> tuple[float, ...]:
    """Medians for every γ from 0."""
    seen = sorted(seconds)
    medians = [median(seconds[drafted]) / unit for drafted in seen]
    return tuple(np.interp(range(widest + 1), seen, medians).tolist())
