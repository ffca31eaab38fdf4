"""How well a voice can be understood and how good it sounds: `core.quality` over many texts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from core.quality import Judge

RESAMPLES = 4000  # of the bootstrap


@dataclass(frozen=True)
class Quality:
    """Word error rate (0..1) over all texts, and means of the opinion scores (1..5).

    errors, words [N]: wrong words (substituted, deleted, inserted) and words of each text.
    """

    wer: float
    ovrl: float
    sig: float
    p808: float
    hypotheses: tuple[str, ...]
    errors: np.ndarray
    words: np.ndarray


def evaluate(
    waveforms: Sequence[np.ndarray], texts: Sequence[str], sample_rate: int, threads: int = 1
) -> Quality:
    """Judge waveforms [samples] (-1 to 1) against what they should say."""
    judge = Judge(threads)
    pairs = zip(tqdm(waveforms, desc="quality"), texts, strict=True)
    heard = [judge.hear(waveform, text, sample_rate) for waveform, text in pairs]
    errors, words = (np.array([getattr(h, name) for h in heard]) for name in ("errors", "words"))
    return Quality(
        wer=float(errors.sum() / words.sum()),
        ovrl=float(np.mean([h.ovrl for h in heard])),
        sig=float(np.mean([h.sig for h in heard])),
        p808=float(np.mean([h.p808 for h in heard])),
        hypotheses=tuple(h.hypothesis for h in heard),
        errors=errors,
        words=words,
    )


def interval(
    quality: Quality, baseline: Quality | None = None, level: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Bootstrap interval of the word error rate, or of its excess over the baseline's.

    Sentences are drawn with replacement; those of a baseline (same texts) are drawn together.
    """
    rng = np.random.default_rng(seed)
    errors = quality.errors - (baseline.errors if baseline else 0)
    drawn = rng.integers(len(errors), size=(RESAMPLES, len(errors)))
    rates = errors[drawn].sum(1) / quality.words[drawn].sum(1)
    low, high = np.quantile(rates, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
