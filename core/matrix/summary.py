"""What the samples of a cell say together, and which cells nobody beats."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.bench import Spread
from core.matrix.cells import Cell
from core.matrix.results import Opinion, Sample
from core.metrics import Metrics

RESAMPLES = 2000  # of the bootstrap
LEVEL = 0.95


@dataclass(frozen=True)
class Share:
    """A share of all words, or a difference of two, with its bootstrap interval (95%)."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """A cell. Spreads are over its sentences.

    wer: over all words; wer_change, dnsmos_change: against the baseline on the same sentences.
    divergences: sentences that should be the baseline's, and are not; None where none should.
    """

    cell: Cell
    sentences: int
    speedup: Spread
    predicted: Spread | None
    measured_over_predicted: Spread | None
    tokens_per_s: Spread
    baseline_tokens_per_s: Spread
    alpha: Spread | None
    c: Spread | None
    acceptance_length: Spread
    acceptance_rate: Spread | None
    per_codebook: tuple[Spread | None, ...]
    ttfa_ms: Spread
    baseline_ttfa_ms: Spread
    rtf: Spread
    baseline_rtf: Spread
    distance: Spread
    wer: Share | None
    wer_change: Share | None
    dnsmos: Spread | None
    dnsmos_change: Spread | None
    divergences: int | None


def summarize(cell: Cell, samples: Sequence[Sample]) -> Row:
    """samples: of that cell, at least one."""

    def spread(value: Callable[[Metrics], float | None]) -> Spread:
        return Spread.of(value(sample.measured) for sample in samples)

    def baseline(value: Callable[[Metrics], float | None]) -> Spread:
        return Spread.of(value(sample.baseline) for sample in samples)

    heard = [s for s in samples if s.opinion and s.baseline_opinion]
    mine, plain = [s.opinion for s in heard], [s.baseline_opinion for s in heard]
    predicted = [s for s in samples if s.predicted]
    same_seed = not cell.is_baseline and cell.rule == "same-seed"
    return Row(
        cell=cell,
        sentences=len(samples),
        speedup=Spread.of(s.speedup for s in samples),
        predicted=Spread.of(s.predicted for s in predicted),
        measured_over_predicted=Spread.of(s.speedup / s.predicted for s in predicted),
        tokens_per_s=spread(lambda m: m.tokens_per_s),
        baseline_tokens_per_s=baseline(lambda m: m.tokens_per_s),
        alpha=Spread.of(s.alpha for s in samples),
        c=Spread.of(s.c for s in samples),
        acceptance_length=spread(lambda m: m.acceptance_length),
        acceptance_rate=spread(lambda m: m.acceptance_rate),
        per_codebook=tuple(
            spread(lambda m, q=q: m.per_codebook[q])
            for q in range(len(samples[0].measured.per_codebook))
        ),
        ttfa_ms=spread(lambda m: 1000 * m.ttfa_s),
        baseline_ttfa_ms=baseline(lambda m: 1000 * m.ttfa_s),
        rtf=spread(lambda m: m.rtf),
        baseline_rtf=baseline(lambda m: m.rtf),
        distance=Spread.of(s.distance for s in samples),
        wer=word_error_rate(mine),
        wer_change=word_error_rate(mine, plain),
        dnsmos=Spread.of(opinion.dnsmos for opinion in mine),
        dnsmos_change=Spread.of(a.dnsmos - b.dnsmos for a, b in zip(mine, plain, strict=True)),
        divergences=sum(s.divergence is not None for s in samples) if same_seed else None,
    )


def word_error_rate(
    opinions: Sequence[Opinion], baseline: Sequence[Opinion] | None = None
) -> Share | None:
    """Of all texts together, or its excess over the baseline's; None without any words.

    Sentences are drawn with replacement, those of the baseline together with them.
    """
    errors = np.array([opinion.errors for opinion in opinions], float)
    words = np.array([opinion.words for opinion in opinions], float)
    if not words.sum():
        return None
    if baseline is not None:
        errors = errors - [opinion.errors for opinion in baseline]
    drawn = np.random.default_rng(0).integers(len(errors), size=(RESAMPLES, len(errors)))
    rates = errors[drawn].sum(1) / words[drawn].sum(1).clip(1)
    low, high = np.quantile(rates, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return Share(float(errors.sum() / words.sum()), low, high)


NOISE = 1e-6  # distances below it are rounding


def distance_of(row: Row) -> float | None:
    """What a text loses: the distance, 0 where it is rounding."""
    return row.distance.median if row.distance.median > NOISE else 0.0


def wer_of(row: Row) -> float | None:
    """What a text loses: words; None where nobody listened."""
    return row.wer and row.wer.value


def front(rows: Iterable[Row], loss: Callable[[Row], float | None]) -> list[Row]:
    """The Pareto front at one temperature, from the least loss on: rows than which no other is
    both as good and faster, or as fast and better. Of equals both."""
    known = [(loss(row), row) for row in rows]
    known = [(lost, row) for lost, row in known if lost is not None]
    best = [
        (lost, row)
        for lost, row in known
        if not any(
            other <= lost
            and row.speedup.median <= rival.speedup.median
            and (other, rival.speedup.median) != (lost, row.speedup.median)
            for other, rival in known
        )
    ]
    return [row for _, row in sorted(best, key=lambda item: (item[0], item[1].speedup.median))]
