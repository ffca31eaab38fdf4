"""What the page shows on each event, without a browser."""

import base64
import threading

import gradio as gr
import numpy as np
import pytest
import torch

from app.handlers import Handlers
from app.sounds import Sounds
from app.studio import Studio, load_engine
from core.engine import Engine, Settings
from core.errors import ForespeakError
from tests.fake_voice import FakeVoice, engine_pcm, fake_engine

CONTROLS = (4, 0.8, "lossless", 0, 1.0)


@pytest.fixture
def sounds():
    return Sounds()


@pytest.fixture
def handlers(sounds):
    return Handlers(Studio(fake_engine), sounds)


def test_greets_when_the_voice_is_ready(handlers):
    (first, early), (last, late) = handlers.greet()
    assert [first["kind"], last["kind"]] == ["busy", "ready"]
    assert "interactive" not in early
    assert late["interactive"]


def test_speak_mentions_the_loading_only_while_it_lasts(handlers):
    assert "Loading" in next(handlers.speak("hello", *CONTROLS))[0]["status"]
    list(handlers.greet())
    assert "Loading" not in next(handlers.speak("hello", *CONTROLS))[0]["status"]


def test_every_sample_reaches_the_player(handlers, sounds):
    values = [value for value, _ in handlers.speak("hello there\nand more", *CONTROLS)]
    pieces = sounds.fetch(values[-1]["run"], 0)
    pcm = np.frombuffer(b"".join(map(base64.b64decode, pieces)), "<i2")
    np.testing.assert_array_equal(pcm, engine_pcm("hello there\nand more"))
    assert values[-1]["pieces"] == len(pieces)
    assert [value["ended"] for value in values[1:]] == [False] * len(pieces) + [True]


def test_sound_is_there_before_the_run_has_ended(handlers, sounds):
    run = handlers.speak("a rather long sentence to speak", *CONTROLS)
    next(run)
    value, _ = next(run)
    assert len(sounds.fetch(value["run"], 0)) == 1
    run.close()


def test_the_metrics_come_last_and_hold_no_text_of_the_user(handlers):
    *_, (_, metrics) = handlers.speak("<b>hello", *CONTROLS)
    assert "Acceptance length" in metrics
    assert "hello" not in metrics


@pytest.mark.parametrize("text", ["", " \n", "..."])
def test_an_error_is_shown_and_the_next_press_works(handlers, text):
    *_, (value, _) = handlers.speak(text, *CONTROLS)
    assert value["kind"] == "error"
    assert "nothing to say" in value["status"]
    *_, (value, _) = handlers.speak("hello", *CONTROLS)
    assert value["kind"] == "ready"


def test_an_emptied_number_is_an_error(handlers):
    *_, (value, _) = handlers.speak("hello", 4, 0.8, "lossless", None, 1.0)
    assert "empty" in value["status"]


def test_the_api_gives_sound_and_metrics(handlers):
    (rate, pcm), metrics = handlers.synthesize("hello there", *CONTROLS)
    assert rate == 22050
    np.testing.assert_array_equal(pcm, engine_pcm("hello there"))
    assert metrics["tokens"] == 20


def test_the_api_reports_errors(handlers):
    with pytest.raises(gr.Error, match="nothing to say"):
        handlers.synthesize("", *CONTROLS)


def test_a_failed_load_is_tried_again():
    loads = iter([ForespeakError("The file is damaged: restore it."), fake_engine()])

    def load():
        result = next(loads)
        if isinstance(result, Exception):
            raise result
        return result

    handlers = Handlers(Studio(load), Sounds())
    assert [value["kind"] for value, _ in handlers.greet()] == ["busy", "error"]
    assert [value["kind"] for value, _ in handlers.greet()] == ["busy", "ready"]


def test_a_fault_of_the_program_is_shown_too(capsys):
    handlers = Handlers(Studio(lambda: 1 // 0), Sounds())
    *_, (value, _) = handlers.speak("hello", *CONTROLS)
    assert value["kind"] == "error"
    assert "ZeroDivisionError" in value["status"]
    assert "1 // 0" in capsys.readouterr().err


def test_an_engine_has_spoken_before_anybody_waits_for_it(monkeypatch):
    voice, spoken = FakeVoice(), []
    monkeypatch.setattr(voice, "plan", lambda *a: spoken.append(a) or FakeVoice.plan(voice, *a))
    monkeypatch.setattr(Engine, "load", lambda *_: Engine(voice, torch.device("cpu")))
    load_engine("fake", "cpu", Settings(rate=2.0))
    assert [rate for _, rate in spoken] == [2.0]


def test_many_visitors_load_the_voice_once():
    loads = []
    studio = Studio(lambda: loads.append(1) or fake_engine())
    threads = [threading.Thread(target=studio.engine) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1


def test_old_runs_make_room_and_runs_do_not_mix():
    sounds = Sounds(runs_kept=2)
    runs = [sounds.begin() for _ in range(3)]
    for number, run in enumerate(runs):
        sounds.add(run, np.array([number], np.int16))
    fetched = [sounds.fetch(run, 0) for run in runs]
    assert [len(pieces) for pieces in fetched] == [0, 1, 1]
    assert fetched[1] != fetched[2]
    assert sounds.fetch(runs[2], 1) == []
