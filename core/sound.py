"""Sound in 16 bits, and as FLAC in a line of text: the one way to each."""

from base64 import b64decode, b64encode
from io import BytesIO

import numpy as np
import soundfile

from core.errors import ForespeakError

FULL_SCALE = 32767  # the int16 that 1.0 becomes


def to_int16(samples: np.ndarray) -> np.ndarray:
    """float in [-1, 1] -> int16. Never normalised: two versions must stay comparable."""
    return np.rint(np.clip(samples, -1, 1) * FULL_SCALE).astype("<i2")


def to_float(pcm: np.ndarray) -> np.ndarray:
    """int16 -> float32, of which `to_int16` makes the same again."""
    return pcm.astype(np.float32) / FULL_SCALE


def to_flac(pcm: np.ndarray, rate: int) -> str:
    """int16 mono [samples] at `rate` Hz, lossless and in base64; no samples are an empty text."""
    if not len(pcm):  # a FLAC file of no samples can be written, but not read
        return ""
    file = BytesIO()
    soundfile.write(file, pcm, rate, format="FLAC", subtype="PCM_16")
    return b64encode(file.getvalue()).decode("ascii")


def from_flac(text: str) -> tuple[np.ndarray, int]:
    """What `to_flac` was given: (pcm int16 [samples], rate)."""
    try:
        pcm, rate = soundfile.read(BytesIO(b64decode(text, validate=True)), dtype="int16")
    except (ValueError, soundfile.SoundFileError) as error:
        raise ForespeakError("The sound is damaged: record the trace again.") from error
    if pcm.ndim > 1:
        raise ForespeakError("The sound has several channels: record the trace again.")
    return pcm, rate
