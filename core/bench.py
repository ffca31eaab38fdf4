"""Speculative decoding against the baseline: same sentences, side by side, and what it predicts.

Each sentence is spoken both ways, one right after the other and in alternating order, so that
whatever else the machine does meets both alike. Ratios are taken inside such a pair.

What is timed: tokens/s covers the decoder alone (draft, target, sampling, verification); RTF
and TTFA cover everything from text to sound. c and v come from passes of the same models over
the same sentences, between the pairs.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise, zip_longest
from statistics import fmean, median
from time import perf_counter
from typing import Any

import numpy as np
import torch

from core.drafters import Drafter, Draw, LanguageModel
from core.engine import Engine, Settings
from core.metrics import Metrics, measure
from core.sampling import Noise, Sampling, probs
from core.trace import Trace
from core.verify import accept_probability, find_rule
from core.voices.base import Plan

SENTENCES = (
    "The kettle was already singing when she came downstairs.",
    "Please leave the parcel with the neighbours if nobody answers.",
    "Why does the moon look larger when it is close to the horizon?",
    "He paid three dollars and twelve cents for a cup of coffee.",
    "Rain is expected in the north, followed by a cold and windy night.",
    "Turn left after the bridge, then take the second road on the right.",
    "What a beautiful morning!",
    "The committee will publish its report on the ninth of November.",
    "She sells her own honey, and the bees never seem to mind.",
    "A small model guesses ahead, and a large one checks the guesses.",
    "Nobody could remember who had locked the garden gate.",
    "The train now standing at platform four is the slow service to the coast.",
)

SAME_SEED = "same-seed"  # the rule that promises the baseline's own tokens
PLACES = 6  # positions of a sentence at which its passes are timed


@dataclass(frozen=True)
class Costs:
    """Of one sentence, in units of a one-token target pass: c, and v by pass width from 1.

    A target pass is `forward` and `probs`. A draft step is a whole `propose`, drawing included,
    over γ: the mean of steps as they are in use. After full acceptance the first of them takes
    in two tokens, and counts as often as that happened in the run.
    """

    c: float
    v: tuple[float, ...]


@dataclass(frozen=True)
class Pair:
    """One sentence both ways; alpha is `mean_acceptance` of the speculative run.

    divergence: the first token, counted from 0, that should be the baseline's and is not; None
    if there is none, or if the rule does not promise the baseline's tokens.
    """

    baseline: Metrics
    speculative: Metrics
    alpha: float
    costs: Costs
    divergence: int | None

    @property
    def speedup(self) -> float:
        return self.speculative.tokens_per_s / self.baseline.tokens_per_s

    @property
    def predicted_speedup(self) -> float:
        return predict_speedup(self.alpha, self.costs)


@dataclass(frozen=True)
class Spread:
    """A median and its quartiles."""

    median: float
    q1: float
    q3: float

    @classmethod
    def of(cls, values: Iterable[float | None]) -> "Spread | None":
        """Of what is there; None if nothing is."""
        values = [value for value in values if value is not None]
        if not values:
            return None
        q1, middle, q3 = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
        return cls(middle, q1, q3)


@dataclass(frozen=True)
class Report:
    """All pairs together. v is keyed by pass width; what has no prefix is speculative.

    divergences: `Pair.divergence` of each pair that has one, in the order of the pairs; None
    unless the rule is same-seed.
    """

    voice: str
    device: str
    threads: int
    torch: str
    rule: str
    gamma: int
    temperature: float
    top_k: int
    top_p: float
    rate: float
    seed: int
    pairs: int
    baseline_tokens_per_s: Spread
    speculative_tokens_per_s: Spread
    speedup: Spread
    predicted_speedup: Spread
    measured_over_predicted: Spread
    alpha: Spread
    c: Spread
    v: dict[str, Spread]
    acceptance_length: Spread
    acceptance_rate: Spread
    acceptance_rate_per_codebook: list[Spread | None]
    baseline_ttfa_ms: Spread
    ttfa_ms: Spread
    baseline_rtf: Spread
    rtf: Spread
    divergences: list[int] | None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def measure_pairs(
    engine: Engine, settings: Settings, runs: int, sentences: Sequence[str] | None = None
) -> Iterator[Pair]:
    """One pair per run and sentence (of SENTENCES), after a warm-up that is not counted."""
    sentences = SENTENCES if sentences is None else sentences
    _measure_pair(engine, settings, sentences[0], speculative_first=False)
    for run in range(runs):
        seeded = replace(settings, seed=settings.seed + run)
        for index, text in enumerate(sentences):
            yield _measure_pair(engine, seeded, text, speculative_first=(run + index) % 2 == 1)


def summarize(engine: Engine, settings: Settings, pairs: Sequence[Pair]) -> Report:
    """Medians and quartiles over pairs."""
    baseline = [pair.baseline for pair in pairs]
    speculative = [pair.speculative for pair in pairs]
    sampling = settings.sampling
    codebooks = range(engine.voice.codec.num_codebooks)
    widths = range(1, settings.gamma + 2)
    return Report(
        voice=engine.voice.name,
        device=str(engine.device),
        threads=torch.get_num_threads(),
        torch=torch.__version__,
        rule=settings.rule,
        gamma=settings.gamma,
        temperature=sampling.temperature,
        top_k=sampling.top_k,
        top_p=sampling.top_p,
        rate=settings.rate,
        seed=settings.seed,
        pairs=len(pairs),
        baseline_tokens_per_s=Spread.of(m.tokens_per_s for m in baseline),
        speculative_tokens_per_s=Spread.of(m.tokens_per_s for m in speculative),
        speedup=Spread.of(pair.speedup for pair in pairs),
        predicted_speedup=Spread.of(pair.predicted_speedup for pair in pairs),
        measured_over_predicted=Spread.of(p.speedup / p.predicted_speedup for p in pairs),
        alpha=Spread.of(pair.alpha for pair in pairs),
        c=Spread.of(pair.costs.c for pair in pairs),
        v={str(m): Spread.of(pair.costs.v[m - 1] for pair in pairs) for m in widths},
        acceptance_length=Spread.of(m.acceptance_length for m in speculative),
        acceptance_rate=Spread.of(m.acceptance_rate for m in speculative),
        acceptance_rate_per_codebook=[
            Spread.of(m.per_codebook[q] for m in speculative) for q in codebooks
        ],
        baseline_ttfa_ms=Spread.of(1000 * m.ttfa_s for m in baseline),
        ttfa_ms=Spread.of(1000 * m.ttfa_s for m in speculative),
        baseline_rtf=Spread.of(m.rtf for m in baseline),
        rtf=Spread.of(m.rtf for m in speculative),
        divergences=(
            [pair.divergence for pair in pairs if pair.divergence is not None]
            if settings.rule == SAME_SEED
            else None
        ),
    )


def mean_acceptance(trace: Trace) -> float:
    """α at the places the run visited: the chance that a drafted token is accepted there.

    A place is visited if all guesses before it in its round were accepted. The token there
    was drawn from q whatever its verdict, so the mean of min(1, p/q) over the drawn tokens is
    an unbiased estimate of Σ min(p, q), and a steadier one than counting verdicts. Under any
    other rule than the ratio test that is not the chance of acceptance: verdicts are counted.
    """
    visited = [
        (round_, row)
        for round_ in trace.rounds
        for row in range(min(round_.accepted + 1, len(round_.draft_tokens)))
    ]
    if trace.rule != "lossless":
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


def first_difference(one: Trace, other: Trace) -> int | None:
    """The first token, counted from 0, in which two runs differ; None if they are the same."""
    tokens = (
        [token for round_ in trace.rounds for token in round_.tokens] for trace in (one, other)
    )
    pairs = enumerate(zip_longest(*tokens))
    return next((place for place, (mine, yours) in pairs if mine != yours), None)


def predict_speedup(alpha: float, costs: Costs) -> float:
    """E / (γ c + v(γ + 1)), with E = 1 + α + ... + α^γ tokens per round (arXiv 2211.17192).

    It takes acceptance at one place to be independent of the next; γ is what v spans.
    """
    gamma = len(costs.v) - 1
    tokens = sum(alpha**i for i in range(gamma + 1))
    return tokens / (gamma * costs.c + costs.v[gamma])


def _measure_pair(engine: Engine, settings: Settings, text: str, speculative_first: bool) -> Pair:
    ways = [replace(settings, gamma=0), settings]
    if speculative_first:
        ways.reverse()
    traces = {way.gamma: _speak(engine, text, way) for way in ways}
    baseline, speculative = traces[0], traces[settings.gamma]
    return Pair(
        baseline=measure(baseline),
        speculative=measure(speculative),
        alpha=mean_acceptance(speculative),
        costs=_measure_costs(engine, settings, text, speculative),
        divergence=first_difference(baseline, speculative) if settings.rule == SAME_SEED else None,
    )


def _speak(engine: Engine, text: str, settings: Settings) -> Trace:
    return deque(engine.synthesize(text, settings), maxlen=1).pop().trace


def _measure_costs(engine: Engine, settings: Settings, text: str, trace: Trace) -> Costs:
    """Time passes at places spread over the sentence, with the tokens that were spoken."""
    voice, sampling, gamma = engine.voice, settings.sampling, settings.gamma
    plan: Plan = voice.plan(next(iter(voice.sentences(text))), settings.rate)
    tokens = [token for round_ in trace.rounds if round_.sentence == 0 for token in round_.tokens]
    target, drafter = voice.target(plan), voice.drafter(plan, sampling)
    draw = find_rule(settings.rule).draw
    noise = Noise(settings.seed)
    share = full_acceptance(trace)
    ratios_c, ratios_v = [], []
    # From 3 on: the draft can then be two tokens behind and still have taken in one.
    for place in np.linspace(3, len(tokens) - gamma - 1, PLACES, dtype=int).tolist():
        passes = _time_passes(target, tokens, place, gamma + 1, sampling)
        draft = partial(_time_draft, drafter, tokens, place, gamma, partial(draw, noise.at(place)))
        step = (share * draft(pending=2) + (1 - share) * draft(pending=1)) / gamma
        ratios_c.append(step / passes[0])
        ratios_v.append([seconds / passes[0] for seconds in passes])
    by_width = zip(*ratios_v, strict=True)
    return Costs(median(ratios_c), tuple(median(ratios) for ratios in by_width))


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

    return [_second_time(partial(timed, width)) for width in range(1, widest + 1)]


def _time_draft(
    drafter: Drafter, tokens: Sequence[int], place: int, gamma: int, draw: Draw, pending: int
) -> float:
    """Seconds of a proposal after `place` tokens, of which the draft has yet to see `pending`."""

    def timed() -> float:
        drafter.propose(tokens[: place - pending], 1, draw)  # takes in these, and no more
        begun = perf_counter()
        drafter.propose(tokens[:place], gamma, draw)
        return perf_counter() - begun

    return _second_time(timed)


def _second_time(timed: Callable[[], float]) -> float:
    """The first time of any shape of pass pays for memory, kernels or a graph's capture."""
    timed()
    return timed()
