"""Clips of one trial, made alike in all that is not under test: start, loudness, length."""

import numpy as np
from pyloudnorm import Meter

from core.errors import ForespeakError
from core.sound import FULL_SCALE

LEAD_S, TAIL_S = 0.1, 0.2  # of what was there before and after the speech; faded
AUDIBLE = 10 ** (-45 / 20)  # of the peak: what is quieter at the ends is silence
LOUDNESS = -23.0  # LUFS: low enough for the peaks of nearly all speech
LOUDEST = 10 ** (-1 / 20)  # no sample of a clip is larger
BLOCK_S = 0.4  # the shortest sound whose loudness is defined (ITU-R BS.1770)


def matched(first: np.ndarray, second: np.ndarray, rate: int) -> list[np.ndarray]:
    """Both trimmed, padded to the length of the longer one, and equally loud as they then are.

    A sample may be too large for a sound file: see `gain_for`.
    """
    cut = [trim(clip, rate) for clip in (first, second)]
    length = max(map(len, cut))
    return [level(np.pad(clip, (0, length - len(clip))), rate) for clip in cut]


def gain_for(peak: float) -> float:
    """For all clips of a test, of which this is the largest sample: none stands out by being
    quieter than the others."""
    return min(1.0, LOUDEST / peak)


def trim(clip: np.ndarray, rate: int) -> np.ndarray:
    """The speech from LEAD_S before to TAIL_S after it, faded in and out there."""
    size = np.abs(clip)
    if not size.max(initial=0):
        raise ForespeakError("A clip is silent: choose another text or other settings.")
    heard = np.flatnonzero(size > AUDIBLE * size.max())
    lead, tail = round(LEAD_S * rate), round(TAIL_S * rate)
    padded = np.pad(np.asarray(clip, np.float64), (lead, tail))
    cut = padded[heard[0] : heard[-1] + 1 + lead + tail].copy()
    cut[:lead] *= np.linspace(0, 1, lead, endpoint=False)
    cut[-tail:] *= np.linspace(1, 0, tail)
    return cut


def level(clip: np.ndarray, rate: int) -> np.ndarray:
    """The clip at LOUDNESS."""
    shortest = np.ceil(BLOCK_S * rate).astype(int)
    measured = np.pad(clip, (0, max(0, shortest - len(clip))))
    found = Meter(rate, block_size=BLOCK_S).integrated_loudness(measured)
    if not np.isfinite(found):
        raise ForespeakError("A clip is too quiet: choose another text or other settings.")
    return clip * 10 ** ((LOUDNESS - found) / 20)


def dithered(clip: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """int16 [samples], rounded with triangular noise of one step: never the same bytes twice.

    So X cannot be told by comparing files. A program that correlates the sounds can still tell:
    that holds for every test whose clips reach the listener's computer as numbers.
    """
    noise = rng.random(len(clip)) - rng.random(len(clip))
    return np.rint(clip * FULL_SCALE + noise).astype("<i2")
