"""What the buttons start, without a browser."""

import json
import threading
from types import SimpleNamespace

import gradio as gr
import numpy as np
import pytest

from app import handlers as module
from app.handlers import DEFAULT_OUTPUT, Handlers
from app.orders import AUTOMATIC, DRAFT
from app.runs import Runs
from app.studio import Studio
from core.errors import ForespeakError
from core.trace import Trace
from tests.app.conftest import finished, wait_until
from tests.core.traces import EXAMPLE
from tests.fake_voice import engine_pcm

ME = SimpleNamespace(session_hash="me")
CONTROLS = ("joe", DRAFT, "lossless", 4, 0.8, 1, 3, 1)


@pytest.fixture
def runs():
    return Runs()


@pytest.fixture
def handlers(studio, runs):
    return Handlers(studio, runs, {})


def run_of(runs, value):
    return runs.find(value["run"])


def test_speak_names_a_run_that_speaks(handlers, runs):
    value = handlers.speak(ME, False, DEFAULT_OUTPUT, "hello", *CONTROLS)
    assert value["muted"] is False
    assert finished(run_of(runs, value))[-1]["state"] == "done"
    pcm = run_of(runs, value).lanes[0].pcm()
    np.testing.assert_array_equal(pcm, engine_pcm("hello", seed=3))


@pytest.mark.parametrize(("chosen", "number"), [(DEFAULT_OUTPUT, None), (None, None), (3, 3)])
def test_with_speakers_the_browser_is_silent(handlers, runs, monkeypatch, chosen, number):
    asked = []

    def speakers(device):
        asked.append(device)
        raise ForespeakError("No audio output device was found: connect one.")

    monkeypatch.setattr(module, "Speakers", speakers)
    value = handlers.speak(ME, True, chosen, "hello", *CONTROLS)
    assert value["muted"] is True
    end = finished(run_of(runs, value))[-1]
    assert (end["state"], end["text"]) == (
        "failed",
        "No audio output device was found: connect one.",
    )
    assert asked == [number]


def test_race_names_a_run_of_two_lanes(handlers, runs):
    value = handlers.race(ME, "hello", *CONTROLS)
    finished(run_of(runs, value))
    assert len(run_of(runs, value).lanes) == 2


@pytest.mark.parametrize("start", ["speak", "race"])
def test_what_is_wrong_with_the_controls_is_told_by_the_run(handlers, runs, start):
    controls = ("hello", "joe", DRAFT, "lossless", 4, 0.8, 1, None, 1)
    speakers = (False, DEFAULT_OUTPUT) if start == "speak" else ()
    value = getattr(handlers, start)(ME, *speakers, *controls)
    assert "empty" in finished(run_of(runs, value))[-1]["text"]


def test_a_second_press_stops_the_first_run(handlers, runs):
    long = "\n".join(["a long text"] * 500)
    first = run_of(runs, handlers.speak(ME, False, DEFAULT_OUTPUT, long, *CONTROLS))
    second = run_of(runs, handlers.race(ME, "hello", *CONTROLS))
    assert finished(first)[-1]["state"] == "stopped"
    assert finished(second)[-1]["state"] == "done"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t.json"
    EXAMPLE.save(path)
    return path


def test_an_uploaded_trace_is_replayed_in_the_live_tab(handlers, runs, path):
    value, tabs = handlers.replay_file(ME, str(path))
    assert tabs.selected == "live"
    assert finished(run_of(runs, value))[-1]["state"] == "done"


def test_a_saved_trace_is_replayed_without_any_engine(runs, path):
    def load(_):
        raise ForespeakError("The file is damaged: restore it.")

    handlers = Handlers(Studio(load), runs, {"two sentences": path})
    value, _ = handlers.replay_saved(ME, "two sentences")
    assert finished(run_of(runs, value))[-1]["state"] == "done"


@pytest.mark.parametrize("content", [None, "", "{}", '{"schema": 2}', "\x00"])
def test_a_damaged_trace_is_told(handlers, runs, tmp_path, content):
    path = tmp_path / "t.json"
    if content is not None:
        path.write_text(content)
    value, _ = handlers.replay_file(ME, str(path))
    end = finished(run_of(runs, value))[-1]
    assert end["state"] == "failed"
    assert end["text"].startswith(("t.json is", "Cannot read t.json"))


@pytest.mark.parametrize("name", [None, "other", "../t"])
def test_a_trace_that_is_not_among_the_saved_ones(runs, studio, path, name):
    value, _ = Handlers(studio, runs, {"t": path}).replay_saved(ME, name)
    assert "choose one" in finished(run_of(runs, value))[-1]["text"]


def test_the_speakers_there_are(handlers, monkeypatch):
    monkeypatch.setattr(module, "list_outputs", lambda: [("Card", 3)])
    _, outputs = handlers.outputs()
    assert outputs["choices"] == [("default", DEFAULT_OUTPUT), ("Card", 3)]


def test_no_speakers_are_told(handlers, monkeypatch):
    def nothing():
        raise ForespeakError("No audio output device was found: connect one.")

    monkeypatch.setattr(module, "list_outputs", nothing)
    switch, _ = handlers.outputs()
    assert switch["interactive"] is False
    assert "connect one" in switch["info"]


class TestApi:
    def test_it_gives_sound_trace_and_metrics(self, handlers, tmp_path):
        (rate, pcm), trace, metrics = handlers.synthesize("hello there", *CONTROLS)
        assert rate == 22050
        np.testing.assert_array_equal(pcm, engine_pcm("hello there", seed=3))
        assert metrics["tokens"] == 20
        path = tmp_path / "t.json"
        path.write_text(json.dumps(trace))
        np.testing.assert_array_equal(Trace.load(path).pcm(), pcm)

    @pytest.mark.parametrize(
        ("text", "rate", "message"), [("", 1, "nothing to say"), ("hello", 9, "rate 9")]
    )
    def test_it_reports_errors(self, handlers, text, rate, message):
        with pytest.raises(gr.Error, match=message):
            handlers.synthesize(text, "joe", DRAFT, "lossless", AUTOMATIC, 0.8, 1, 3, rate)

    def test_it_waits_in_the_same_line(self, handlers, studio):
        done = []
        with studio.use("joe"):
            thread = threading.Thread(
                target=lambda: done.append(handlers.synthesize("hello", *CONTROLS))
            )
            thread.start()
            threading.Event().wait(0.2)
            assert not done
        thread.join()
        wait_until(lambda: done)
