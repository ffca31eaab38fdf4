"""Speculative decoding against the baseline: same sentences, side by side, and what it predicts.

Each sentence is spoken both ways, one right after the other and in alternating order, so that
whatever else the machine does meets both alike. Ratios are taken inside such a pair.

What is timed: tokens/s covers the decoder alone (draft, target, sampling, verification); RTF
and TTFA cover everything from text to sound. c and v come from rounds of every γ up to that of
the bench over the same sentences, between the pairs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch

from core import bench_sentences
from core.costs import mean_acceptance, measure_costs
from core.engine import Engine, Settings
from core.metrics import Metrics, measure
from core.speedup import Costs, predict_speedup
from core.trace import first_difference

SENTENCES = bench_sentences.SENTENCES[:12]

SAME_SEED = "same-seed"  # the rule that promises the baseline's own tokens


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
    draft: str
    rule: str
    tolerance: float | None
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
    sampling, rule = settings.sampling, engine.rule(settings)
    codebooks = range(engine.voice.codec.num_codebooks)
    widths = range(1, settings.gamma + 2)
    return Report(
        voice=engine.voice.name,
        device=str(engine.device),
        threads=torch.get_num_threads(),
        torch=torch.__version__,
        draft=settings.draft,
        rule=rule.name,
        tolerance=rule.tolerance and rule.tolerance.value,
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


def _measure_pair(engine: Engine, settings: Settings, text: str, speculative_first: bool) -> Pair:
    ways = [replace(settings, gamma=0), settings]
    if speculative_first:
        ways.reverse()
    traces = {way.gamma: engine.trace(text, way) for way in ways}
    baseline, speculative = traces[0], traces[settings.gamma]
    return Pair(
        baseline=measure(baseline),
        speculative=measure(speculative),
        alpha=mean_acceptance(speculative.rounds, speculative.rule),
        costs=measure_costs(engine, settings, speculative),
        divergence=first_difference(baseline, speculative) if settings.rule == SAME_SEED else None,
    )
