"""Sound as 16-bit numbers, and there and back as FLAC."""

from base64 import b64encode
from io import BytesIO

import numpy as np
import pytest
import soundfile

from core.errors import ForespeakError
from core.sound import from_flac, to_flac, to_int16


def test_to_int16_rounds_and_clips_but_never_normalises():
    samples = np.array([0, 0.5, 1, 1.5, -1, -2, 1e-9], np.float32)
    assert to_int16(samples).tolist() == [0, 16384, 32767, 32767, -32767, -32767, 0]


@pytest.mark.parametrize("samples", [1, 2, 5000])
@pytest.mark.parametrize("rate", [1000, 22050, 24000])
def test_flac_gives_back_every_sample(samples: int, rate: int):
    pcm = np.random.default_rng(0).integers(-(2**15), 2**15, samples).astype("<i2")
    text = to_flac(pcm, rate)
    assert text.isascii()
    back, its_rate = from_flac(text)
    assert back.dtype == np.int16
    assert np.array_equal(back, pcm)
    assert its_rate == rate


def test_no_sound_is_no_text():
    assert to_flac(np.empty(0, np.int16), 22050) == ""


GOOD = to_flac(np.arange(2000, dtype=np.int16), 22050)


@pytest.mark.parametrize("text", ["", "é", "abc", GOOD[:40], GOOD[:-60], GOOD[4:], GOOD + "!"])
def test_damaged_sound_is_refused_with_a_line(text: str):
    with pytest.raises(ForespeakError, match="damaged"):
        from_flac(text)


def test_two_channels_are_refused():
    file = BytesIO()
    soundfile.write(file, np.zeros((100, 2), np.int16), 22050, format="FLAC")
    with pytest.raises(ForespeakError, match="channels"):
        from_flac(b64encode(file.getvalue()).decode())
