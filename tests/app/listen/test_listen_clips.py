"""Clips that differ in nothing but what is under test."""

import numpy as np
import pytest
from pyloudnorm import Meter

from app.listen.clips import LEAD_S, LOUDEST, dithered, gain_for, matched, trim
from core.errors import ForespeakError

RATE = 22050


def speech(seconds=1.0, gain=0.3, before=0.0, after=0.0, pitch=300):
    """A tone between silences, which are never quite silent."""
    rng = np.random.default_rng(0)
    time = np.arange(round(seconds * RATE)) / RATE
    tone = gain * np.sin(2 * np.pi * pitch * time)
    padded = np.pad(tone, (round(before * RATE), round(after * RATE)))
    return (padded + 1e-5 * rng.standard_normal(len(padded))).astype(np.float32)


def onset(clip):
    return np.flatnonzero(np.abs(clip) > 0.05 * np.abs(clip).max())[0] / RATE


def loudness(clip):
    return Meter(RATE).integrated_loudness(clip)


@pytest.mark.parametrize("before", [0.0, 0.03, 0.8])
def test_every_clip_starts_after_the_same_silence(before):
    clips = matched(speech(before=before, after=0.5), speech(gain=0.05), RATE)
    for clip in clips:
        assert onset(clip) == pytest.approx(LEAD_S, abs=0.005)
        assert abs(clip[0]) < 1e-6


def test_both_are_equally_loud_and_equally_long():
    one, other = matched(speech(1.0, 0.5), speech(1.3, 0.02, after=1, pitch=900), RATE)
    assert loudness(one) == pytest.approx(loudness(other), abs=0.1)
    assert len(one) == len(other)


def test_a_clip_that_would_clip_is_as_loud_as_the_others():
    click = speech(gain=0.01)
    click[5000:5010] = 1.0
    one, other = matched(click, speech(), RATE)
    assert np.abs(one).max() > LOUDEST
    assert loudness(one) == pytest.approx(loudness(other), abs=0.1)


def test_the_gain_is_the_least_that_is_needed():
    assert gain_for(LOUDEST / 2) == 1
    assert 2.5 * gain_for(2.5) == pytest.approx(LOUDEST)


def test_a_clip_that_is_shorter_than_loudness_is_defined_for():
    one, other = matched(speech(0.02), speech(0.05), RATE)
    assert len(one) == len(other)
    assert np.isfinite(one).all()


@pytest.mark.parametrize("clip", [np.zeros(0), np.zeros(RATE), speech(gain=1e-9) * 1e-6])
def test_silence_is_refused(clip):
    with pytest.raises(ForespeakError, match=r"silent|quiet"):
        matched(clip, speech(), RATE)


def test_what_was_given_stays_as_it_is():
    clip = speech()
    before = clip.copy()
    trim(clip, RATE)
    np.testing.assert_array_equal(clip, before)


def test_dither_is_new_each_time_and_small():
    clip, rng = speech().astype(float), np.random.default_rng(0)
    one, other = dithered(clip, rng), dithered(clip, rng)
    assert one.dtype == np.dtype("<i2")
    assert (one != other).mean() > 0.3
    error = one - clip * 32767
    assert np.abs(error).max() < 1.5
    assert abs(error.mean()) < 0.02


def test_the_loudest_clip_has_room_for_the_noise():
    loud = np.array([LOUDEST, -LOUDEST] * 1000)
    assert (np.sign(dithered(loud, np.random.default_rng(0))) == np.sign(loud)).all()
