"""What drafting yields and costs with a voice on this computer: by real rounds of one sentence."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, islice
from statistics import median

import numpy as np

from core.adaptive import Fixed
from core.costs import mean_acceptance
from core.engine import Engine, Settings
from core.errors import ForespeakError
from core.speedup import Costs, Outlook
from core.trace import Round

LONGEST = 8  # the greatest γ that is considered
TRIAL = "A small model guesses ahead."
TRIALS = 8  # of a voice that ends its sentences itself, and may do so too soon
SWEEPS = 2  # through all γ: a computer is not always equally fast
SETTLING = 3  # rounds of each γ that do not count: memory, kernels and caches are not ready yet
COUNTED = 12  # rounds of each γ and sweep that do


def measure_outlook(engine: Engine, settings: Settings) -> Outlook:
    """From rounds of every γ up to LONGEST, otherwise with these settings; takes a second or two.

    Raises ForespeakError if the voice says next to nothing, seed after seed.
    """
    for seed in range(settings.seed, settings.seed + TRIALS):
        rounds = _sample_rounds(engine, replace(settings, seed=seed, adaptive=None))
        if all(rounds):
            return Outlook(mean_acceptance(chain(*rounds), settings.rule), _costs(rounds))
    raise ForespeakError(
        f"The voice ended its sentence {TRIALS} times with too few tokens to time γ {LONGEST}: "
        "try another seed."
    )


def _sample_rounds(engine: Engine, settings: Settings) -> list[list[Round]]:
    """Of each γ from 0, as many as can be had."""
    plan = engine.plan(TRIAL, settings)
    found: list[list[Round]] = [[] for _ in range(LONGEST + 1)]
    for _ in range(SWEEPS):
        for gamma, rounds in enumerate(found):
            said = engine.rounds(plan, replace(settings, gamma=gamma), Fixed(gamma))
            rounds += islice(said, SETTLING, SETTLING + COUNTED)
    return found


def _costs(rounds: list[list[Round]]) -> Costs:
    """A round of γ 0 is the unit."""
    v = _verifying(chain(*rounds))
    draft = (median(r.draft_s for r in of_gamma) for of_gamma in rounds[1:])
    costs = Costs((0.0, *(s / v[0] for s in draft)), tuple(s / v[0] for s in v))
    return Costs.typical([costs])


def _verifying(rounds: Iterable[Round]) -> list[float]:
    """Seconds of a pass over γ guesses and one token more, for γ from 0.

    By what was really drafted: at a sentence's end, or where nothing repeats, that is less than
    was asked for. What was never seen is taken to lie between its neighbours.
    """
    seconds: dict[int, list[float]] = {}
    for round_ in rounds:
        seconds.setdefault(len(round_.draft_tokens), []).append(round_.verify_s)
    seen = sorted(seconds)
    return np.interp(range(LONGEST + 1), seen, [median(seconds[n]) for n in seen]).tolist()
