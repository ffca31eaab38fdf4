"""Speculative decoding against the baseline: same sentences, side by side, and what it predicts.

Each sentence is spoken both ways, one right after the other and in alternating order, so that
whatever else the machine does meets both alike. Ratios are taken inside such a pair.

What is timed: tokens/s covers the decoder alone (draft, target, sampling, verification); RTF
and TTFA cover everything from text to sound. c and v come from passes of the same models over
the same sentences, between the pairs.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from statistics import fmean, median
from time import perf_counter
from typing import Any

import numpy as np
import torch

from core.drafters import Drafter, LanguageModel
from core.engine import Engine, Settings
from core.sampling import Noise, Sampling, probs
from core.trace import Metrics, Trace, measure
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

PLACES = 6  # positions of a sentence at which its passes are timed


@dataclass(frozen=True)
class Costs:
    """Of one sentence, in units of a one-token target pass: c, and v by pass width from 1.

    A target pass is `forward` and `probs`; a draft step is a share of `propose`, drawing included.
    """

    c: float
    v: tuple[float, ...]


@dataclass(frozen=True)
class Pair:
    """One sentence both ways; alpha is `mean_acceptance` of the speculative run."""

    baseline: Metrics
    speculative: Metrics
    alpha: float
    costs: Costs

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
    """All pairs together. v is keyed by pass width; what has no prefix is speculative."""

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

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def measure_pairs(
    engine: Engine, settings: Settings, runs: int, sentences: Sequence[str] = SENTENCES
) -> Iterator[Pair]:
    """One pair per run and sentence, after a warm-up that is not counted."""
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
    speculative = traces[settings.gamma]
    return Pair(
        baseline=measure(traces[0]),
        speculative=measure(speculative),
        alpha=mean_acceptance(speculative),
        costs=_measure_costs(engine, settings, text, speculative),
    )


def _speak(engine: Engine, text: str, settings: Settings) -> Trace:
    return deque(engine.synthesize(text, settings), maxlen=1).pop().trace


def _measure_costs(engine: Engine, settings: Settings, text: str, trace: Trace) -> Costs:
    """Time passes at places spread over the sentence, with the tokens that were spoken."""
    voice, sampling = engine.voice, settings.sampling
    plan: Plan = voice.plan(voice.sentences(text)[0], settings.rate)
    tokens = [token for round_ in trace.rounds if round_.sentence == 0 for token in round_.tokens]
    target, drafter = voice.target(plan), voice.drafter(plan, sampling)
    draw = find_rule(settings.rule).draw
    noise = Noise(settings.seed)
    ratios_c, ratios_v = [], []
    for place in np.linspace(1, len(tokens) - settings.gamma - 1, PLACES, dtype=int).tolist():
        passes = _time_passes(target, tokens, place, settings.gamma + 1, sampling)
        step = _time_draft(drafter, tokens[:place], settings.gamma, partial(draw, noise.at(place)))
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
    seconds = []
    for width in range(1, widest + 1):
        begun = perf_counter()
        distribution = probs(target.forward(tokens[place - 1 : place - 1 + width]), sampling)
        distribution[-1, 0].item()  # waits for a GPU, as reading the verdict does
        seconds.append(perf_counter() - begun)
        target.rollback(place)
    return seconds


def _time_draft(drafter: Drafter, tokens: Sequence[int], gamma: int, draw: Any) -> float:
    """Seconds of one draft step, the mean of `gamma` in a row."""
    drafter.propose(tokens, 1, draw)  # takes in what it has not seen yet: not a step's cost
    begun = perf_counter()
    drafter.propose(tokens, gamma, draw)
    return (perf_counter() - begun) / gamma
