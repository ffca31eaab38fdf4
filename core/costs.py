"""α, c and v of a run, measured beside it.

The costs are those of passes as they are in use: of the same models, over a sentence that was
spoken, beside one-token passes of the target at the same places.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from statistics import fmean, median
from time import perf_counter

import numpy as np

from core.drafters import Drafter, Draw, LanguageModel
from core.engine import Engine, Settings
from core.errors import ForespeakError
from core.rules.exact import accept_probability
from core.sampling import Noise, Sampling, probs
from core.speedup import Costs
from core.trace import Round, Trace
from core.verify import Rule, find_rule

FIRST = 3  # position that is timed: the draft may be two tokens behind, and must have taken in one
PLACES = 4  # positions of a sentence at which its passes are timed
TIMES = 3  # that each of them is timed
SETTLING = 5  # before that: whatever ran last has left its own data in the caches


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


def full_acceptance(trace: Trace) -> float:
    """The share of proposals that came right after a round whose guesses were all accepted."""
    after = [
        before.accepted == len(before.draft_tokens)
        for before, round_ in pairwise(trace.rounds)
        if round_.draft_tokens and round_.sentence == before.sentence
    ]
    return fmean(after) if after else 0.0


def measure_costs(engine: Engine, settings: Settings, trace: Trace) -> Costs:
    """Of the first sentence of a run that was made with these settings.

    Raises ForespeakError if it is too short.
    """
    voice, sampling = engine.voice, settings.sampling
    tokens = _first_sentence(trace)
    if len(tokens) < shortest(settings.gamma):
        raise ForespeakError(
            f"The voice ended its sentence after {len(tokens)} tokens, too few to time γ "
            f"{settings.gamma}: try another seed or a longer text."
        )
    plan = engine.plan(trace.sentences[0].text, settings)
    target = voice.target(plan)
    samples = sample_costs(
        target,
        [engine.drafter(plan, target, settings)],
        tokens,
        settings.gamma,
        sampling,
        find_rule(settings.rule),
        Noise(settings.seed),
        full_acceptance(trace),
    )
    return Costs.typical(costs for (costs,) in samples)


def shortest(gamma: int) -> int:
    """How many tokens a sentence must have for windows of gamma to be timed in it."""
    return FIRST + gamma + 1


def _first_sentence(trace: Trace) -> list[int]:
    """Its tokens."""
    return [token for round_ in trace.rounds if round_.sentence == 0 for token in round_.tokens]


def sample_costs(
    target: LanguageModel,
    drafters: Sequence[Drafter],
    tokens: Sequence[int],
    gamma: int,
    sampling: Sampling,
    rule: Rule,
    noise: Noise,
    full: float,
) -> Iterator[tuple[Costs, ...]]:
    """Each drafter's costs at places spread over the sentence that `tokens` are.

    full: the share of proposals that come after full acceptance.
    """
    for place in np.linspace(FIRST, len(tokens) - gamma - 1, PLACES, dtype=int).tolist():
        passes = _time_passes(target, tokens, place, gamma + 1, sampling)
        v = tuple(seconds / passes[0] for seconds in passes)
        draw = partial(rule.draw, noise.at(place))

        def step(drafter: Drafter, place: int = place, draw: Draw = draw) -> float:
            draft = partial(_time_draft, target, drafter, tokens, place, gamma, draw)
            return (full * draft(pending=2) + (1 - full) * draft(pending=1)) / gamma

        yield tuple(Costs.steady(step(drafter) / passes[0], v) for drafter in drafters)


def _time_passes(
    target: LanguageModel, tokens: Sequence[int], place: int, widest: int, sampling: Sampling
) -> list[float]:
    """Seconds of target passes over 1 to `widest` tokens, `place` tokens into the sentence."""
    if target.length < place:
        target.forward(tokens[max(0, target.length - 1) : place - 1])

    def timed(width: int) -> float:
        begun = perf_counter()
        probs(target.forward(tokens[place - 1 : place - 1 + width]), sampling)
        seconds = perf_counter() - begun
        target.rollback(place)
        return seconds

    return [_typical_time(partial(timed, width)) for width in range(1, widest + 1)]


def _time_draft(
    target: LanguageModel,
    drafter: Drafter,
    tokens: Sequence[int],
    place: int,
    gamma: int,
    draw: Draw,
    pending: int,
) -> float:
    """Seconds of a proposal after `place` tokens, of which the draft has yet to see `pending`.

    As in use, the target's pass before it has taken the caches.
    """

    def timed() -> float:
        drafter.propose(tokens[: place - pending], 1, draw)  # takes in these, and no more
        target.forward(tokens[place - 1 : place + gamma])
        target.rollback(place)
        begun = perf_counter()
        drafter.propose(tokens[:place], gamma, draw)
        return perf_counter() - begun

    return _typical_time(timed)


def _typical_time(timed: Callable[[], float]) -> float:
    """The first time of any shape of pass pays for memory, kernels or a graph's capture; and any
    may meet whatever else the computer does."""
    for _ in range(SETTLING):
        timed()
    return median(timed() for _ in range(TIMES))
