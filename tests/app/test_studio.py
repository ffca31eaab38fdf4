"""Voices: loaded once, warm, measured, one at a time."""

import threading

import pytest

from app import studio as module
from app.runs import Stopped
from app.studio import Studio, load_engine, ordinal
from core.engine import Engine, Settings
from core.errors import ForespeakError
from core.outlook import TRIAL
from tests.app.conftest import wait_until
from tests.fake_voice import FakeVoice, fake_engine


def test_a_voice_goes_through_loading_and_warming_to_ready(monkeypatch):
    states = []

    def load(_):
        states.append(studio.state("fake").state)
        return fake_engine()

    warm_up = module.warm_up
    monkeypatch.setattr(
        module, "warm_up", lambda *a: states.append(studio.state("fake").state) or warm_up(*a)
    )
    studio = Studio(load)
    assert studio.state("fake").state == "loading"
    ready = studio.ready("fake")
    assert states == ["loading", "warming"]
    state = studio.state("fake")
    assert (state.state, state.text) == ("ready", "Ready.")
    assert state.baseline_tokens_per_s == ready.baseline_tokens_per_s > 0
    assert 1 <= ready.gamma <= 16


def test_the_baseline_is_measured_without_a_draft(monkeypatch):
    used = []
    speak = Engine.synthesize
    monkeypatch.setattr(Engine, "synthesize", lambda e, t, s: used.append((t, s)) or speak(e, t, s))
    Studio(lambda _: fake_engine()).ready("joe")
    assert [given for given in used if given[1].gamma == 0] == [(TRIAL, Settings(gamma=0))] * 3


def test_a_failed_load_says_why_and_is_tried_again():
    loads = iter([ForespeakError("The file is damaged: restore it."), fake_engine()])

    def load(_):
        result = next(loads)
        if isinstance(result, Exception):
            raise result
        return result

    studio = Studio(load)
    with pytest.raises(ForespeakError, match="damaged"):
        studio.ready("fake")
    state = studio.state("fake")
    assert (state.state, state.text) == ("failed", "The file is damaged: restore it.")
    studio.ready("fake")
    assert studio.state("fake").state == "ready"


def test_a_fault_while_loading_is_told_once(capsys):
    studio = Studio(lambda _: 1 // 0)
    with pytest.raises(ForespeakError, match="ZeroDivisionError"):
        studio.ready("fake")
    assert capsys.readouterr().err.count("1 // 0") == 1


def test_many_visitors_load_a_voice_once():
    loads = []
    studio = Studio(lambda name: loads.append(name) or fake_engine())
    threads = [threading.Thread(target=studio.ready, args=("fake",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    studio.ready("other")
    assert loads == ["fake", "other"]


def test_who_uses_a_voice_hears_what_is_waited_for():
    studio, told, inside = Studio(lambda _: fake_engine()), [], threading.Event()

    def wait():
        with studio.use("fake", lambda *line: told.append(line)):
            inside.set()

    with studio.use("fake", lambda *line: told.append(line)):
        assert told == [("Loading the voice…", "loading")]
        thread = threading.Thread(target=wait)
        thread.start()
        wait_until(lambda: len(told) == 2)
        assert told[1] == ("2nd in the queue", "queued")
        assert not inside.is_set()
    thread.join()
    assert inside.is_set()
    assert len(told) == 2


def test_who_gives_up_while_the_voice_loads_does_not_use_it():
    studio = Studio(lambda _: fake_engine())

    def check():
        if studio.state("fake").state == "ready":
            raise Stopped

    with pytest.raises(Stopped), studio.use("fake", check=check):
        pytest.fail("used")


def test_an_engine_for_the_command_has_spoken_before(monkeypatch):
    voice, spoken = FakeVoice(), []
    monkeypatch.setattr(voice, "plan", lambda *a: spoken.append(a) or FakeVoice.plan(voice, *a))
    monkeypatch.setattr(Engine, "load", lambda *_: Engine(voice, fake_engine().device))
    load_engine("fake", "cpu", Settings(rate=2.0))
    assert [rate for _, rate in spoken] == [2.0]


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (13, "13th"), (22, "22nd")],
)
def test_ordinals(number, text):
    assert ordinal(number) == text
