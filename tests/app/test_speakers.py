"""Loudspeakers, on a fake sounddevice: the real one needs a sound card."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from app.outputs import describe_outputs, list_outputs
from app.speakers import Speakers
from core.errors import ForespeakError


class PortAudioError(Exception):
    pass


class CallbackStop(Exception):  # noqa: N818 - sounddevice's own name
    pass


class Card:
    """A sound card that plays blocks when a test says so; `heard` is what left it."""

    BLOCK = 64

    def __init__(self, rates=(22050,), devices=1):
        self.rates, self.heard, self.aborted = rates, [], False
        self.device = {
            "index": 3,
            "name": "Card",
            "default_samplerate": 48000.0,
            "max_output_channels": 2,
        }
        self.devices = [self.device] * devices

    def module(self):
        return SimpleNamespace(
            PortAudioError=PortAudioError,
            CallbackStop=CallbackStop,
            query_devices=self.query_devices,
            check_output_settings=self.check_output_settings,
            OutputStream=self.open,
        )

    def query_devices(self, device=None, kind=None):
        if kind and (not self.devices or device not in (None, 3)):
            raise PortAudioError("Error querying device -1")
        return self.device if kind else self.devices

    def check_output_settings(self, samplerate, **_):
        if samplerate not in self.rates:
            raise PortAudioError("Invalid sample rate")

    def open(self, samplerate, device, callback, finished_callback, **_):
        self.opened = device
        if samplerate not in self.rates:
            raise PortAudioError("Device unavailable")
        self.rate, self._callback, self._finished = samplerate, callback, finished_callback
        return SimpleNamespace(start=lambda: None, abort=self.abort, close=lambda: None)

    def abort(self):
        self.aborted = True

    def pull_out(self):
        self._finished()

    def play_block(self):
        out = np.full((self.BLOCK, 1), 99, np.int16)
        try:
            self._callback(out, self.BLOCK, None, None)
        except CallbackStop:
            self._finished()
        self.heard += out[:, 0].tolist()


@pytest.fixture
def card(monkeypatch):
    card = Card()
    monkeypatch.setitem(sys.modules, "sounddevice", card.module())
    return card


def drain(card, monkeypatch):
    """Let the card run whenever somebody waits for it."""

    def wait(event, timeout=None):  # noqa: ARG001
        while not event.is_set():
            card.play_block()
        return True

    monkeypatch.setattr("threading.Event.wait", wait)


def test_plays_all_in_order_with_silence_while_nothing_came(card, monkeypatch):
    drain(card, monkeypatch)
    with Speakers() as speakers:
        speakers.begin(22050)
        speakers.write(np.arange(1, 101, dtype=np.int16))
        for _ in range(3):
            card.play_block()
        speakers.write(np.arange(101, 151, dtype=np.int16))
    assert [sample for sample in card.heard if sample] == list(range(1, 151))
    assert card.heard[100:192] == [0] * 92


def test_resamples_for_a_card_that_refuses_the_rate(card, monkeypatch):
    card.rates = (48000,)
    drain(card, monkeypatch)
    tone = np.sin(2 * np.pi * 440 * np.arange(22050) / 22050)
    with Speakers() as speakers:
        speakers.begin(22050)
        for piece in np.split((tone * 20000).astype(np.int16), 21):
            speakers.write(piece)
    assert card.rate == 48000
    wanted = np.sin(2 * np.pi * 440 * np.arange(48000) / 48000) * 20000
    heard = np.array(card.heard[:48000])
    assert np.abs(heard - wanted)[1000:-1000].max() < 40


def test_falls_silent_when_interrupted(card):
    def interrupted():
        with Speakers() as speakers:
            speakers.begin(22050)
            speakers.write(np.ones(1000, np.int16))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert card.aborted


def test_a_busy_device_is_an_error_the_user_can_mend(card):
    card.rates = ()
    with pytest.raises(ForespeakError, match="Cannot play on Card"), Speakers() as speakers:
        speakers.begin(22050)


def test_no_device(card):
    card.devices = []
    with pytest.raises(ForespeakError, match="No audio output device"):
        Speakers()


def test_no_portaudio(monkeypatch):
    class Finder:
        def find_spec(self, name, *_):
            if name == "sounddevice":
                raise OSError("PortAudio library not found")

    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    with pytest.raises(ForespeakError, match="libportaudio2"):
        Speakers()


def test_a_device_that_is_gone(card):  # noqa: ARG001
    Speakers(3)
    with pytest.raises(ForespeakError, match="No audio output device"):
        Speakers(4)


def test_the_chosen_device_plays(card):
    Speakers(3).begin(22050)
    assert card.opened == 3


def test_who_waits_can_look_at_something_else_meanwhile(card):
    speakers = Speakers()
    speakers.begin(22050)
    speakers.write(np.ones(100, np.int16))
    speakers.complete()
    heard = [speakers.wait(0)]
    for _ in range(2):
        card.play_block()
        heard.append(speakers.wait(0))
    assert heard == [False, False, True]
    assert sum(card.heard) == 100


@pytest.mark.parametrize("use", [lambda s: s.write(np.ones(100, np.int16)), lambda s: s.wait(0)])
def test_a_device_that_is_pulled_out(card, use):
    speakers = Speakers()
    speakers.begin(22050)
    card.pull_out()
    with pytest.raises(ForespeakError, match="Card stopped playing"), speakers:
        use(speakers)
    assert card.aborted


def test_list_outputs(card):
    card.devices.append({"name": "Microphone", "index": 4, "max_output_channels": 0})
    assert list_outputs() == [("Card", 3)]


def test_list_outputs_where_there_is_none(card):
    card.devices = []
    with pytest.raises(ForespeakError, match="No audio output device"):
        list_outputs()


def test_describe_outputs(card):
    assert describe_outputs() == card.device["name"]
