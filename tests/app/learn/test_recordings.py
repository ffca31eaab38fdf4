"""Recordings by id: shipped ones, students' own, and the sound of both."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from app import runs as runs_module
from app.learn import recordings as module
from app.learn.handlers import LearnHandlers
from app.learn.recordings import Busy, Recordings
from app.orders import AUTOMATIC, DRAFT, NO_DRAFT, Order
from app.runs import Runs
from app.spelling import SPELLED
from app.studio import Studio
from core.errors import ForespeakError
from core.ideas import Idea, excerpt, imagine, was_rejected
from core.recording import Recording, record
from tests.app.conftest import finished, wait_until
from tests.app.learn.conftest import SETTINGS, TEXT
from tests.fake_voice import ToneCodec, engine_pcm, fake_engine

ME = SimpleNamespace(session_hash="me")


@pytest.fixture
def runs():
    return Runs()


@pytest.fixture
def recordings(studio, runs, folder):
    return Recordings(studio, runs, folder)


def own(recordings, runs, text=TEXT, draft=DRAFT, gamma=4, rule="lossless"):
    """Lines of a run that records."""
    order = Order.from_controls(text, "joe", draft, rule, gamma, 0.9, 1, 3, 1)
    return finished(runs.start(lambda run: recordings.record(run, order)))


def recorded(lines) -> str:
    (line,) = [line for line in lines if line["kind"] == "recorded"]
    return line["recording"]


def test_a_students_own_is_the_run_that_would_have_been(recordings, runs):
    lines = own(recordings, runs)
    assert [line["kind"] for line in lines][-2:] == ["recorded", "end"]
    assert lines[-1]["state"] == "done"
    trace = recordings.find(recorded(lines)).recording.trace
    expected = engine_pcm(TEXT, seed=3, sampling=SETTINGS.sampling)
    np.testing.assert_array_equal(trace.pcm(), expected)
    assert trace.gamma == 4


def test_another_script_is_told(recordings, runs):
    assert own(recordings, runs)[-1]["text"] == "Recorded."
    assert own(recordings, runs, text="你好")[-1]["text"] == f"Recorded. {SPELLED}"


def test_it_has_a_draft_even_if_none_was_asked_for(recordings, runs, studio):
    """Without one there would be nothing to step through."""
    lines = own(recordings, runs, draft=NO_DRAFT, gamma=AUTOMATIC)
    trace = recordings.find(recorded(lines)).recording.trace
    assert trace.gamma == studio.ready("joe").gamma


@pytest.mark.parametrize(("text", "said"), [("...", "nothing to say"), ("a" * 300, "up to 12 s")])
def test_what_cannot_be_recorded_says_why(recordings, runs, text, said):
    lines = own(recordings, runs, text)
    assert lines[-1]["state"] == "failed"
    assert said in lines[-1]["text"]
    assert not any(line["kind"] == "recorded" for line in lines)


def test_it_stops_when_nobody_listens_any_more(recordings, runs):
    order = Order.from_controls(TEXT, "joe", DRAFT, "lossless", 4, 0.9, 1, 3, 1)

    def work(run):
        run.stop()
        return recordings.record(run, order)

    assert finished(runs.start(work))[-1]["state"] == "stopped"


def test_the_button_starts_such_a_run(recordings, runs):
    controls = (TEXT, "joe", DRAFT, "lossless", 4, 0.9, 1, 3, 1)
    value = LearnHandlers(runs, recordings).record(ME, *controls)
    run = runs.find(value["run"])
    assert run.owner == "me"
    assert recordings.find(recorded(finished(run)))


def test_wrong_settings_are_told_by_the_run(recordings, runs):
    value = LearnHandlers(runs, recordings).record(
        ME, TEXT, "joe", DRAFT, "lossless", 4, 9.0, 1, 3, 1
    )
    assert "out of range" in finished(runs.find(value["run"]))[-1]["text"]


def test_shipped_ones_need_no_model(runs, folder, recording):
    studio = Studio(lambda _: pytest.fail("loaded"))
    recordings = Recordings(studio, runs, folder)
    entry = recordings.find("shipped")
    assert entry.recording.trace == recording.trace
    assert recordings.find("shipped") is entry
    assert len(recordings.sound(entry, 3, "kept"))


def test_a_damaged_one_says_so_each_time(recordings):
    for _ in range(2):
        with pytest.raises(ForespeakError, match="damaged"):
            recordings.find("broken")


@pytest.mark.parametrize("id", ["", "nowhere", "../secret", "shipped.safetensors"])
def test_others_are_not_there(recordings, id):
    assert recordings.find(id) is None


def test_the_oldest_of_the_students_make_room_and_shipped_ones_stay(recordings, runs, monkeypatch):
    """By their bytes: one of a long sentence takes as much as many of short ones."""
    assert recordings.find("shipped")
    first = recorded(own(recordings, runs, "hello"))
    size = recordings.find(first).size
    monkeypatch.setattr(module, "KEPT", 2.5 * size)
    second, third = (recorded(own(recordings, runs, "hello")) for _ in range(2))
    assert recordings.find(first) is None
    assert recordings.find(second)
    assert recordings.find(third)
    long = recorded(own(recordings, runs, "hello" * 20))
    assert recordings.find(second) is recordings.find(third) is None
    assert recordings.find(long)  # the newest stays, however large
    assert recordings.find("shipped")


def test_logits_sound_and_ideas_are_what_takes_room(recordings, runs):
    entry = recordings.find(recorded(own(recordings, runs)))
    trace = entry.recording.trace
    rows = sum(2 * len(round_.draft_tokens) + 1 for round_ in trace.rounds)
    logits = rows * trace.codebook_size * entry.recording.target_logits[0].element_size()
    assert entry.size == logits + len(trace.sound)
    entry.ideas[0] = Idea(0, np.zeros(1000, np.int16))
    assert entry.size == logits + len(trace.sound) + 2000


def test_one_that_is_recorded_later_is_found_and_a_newer_file_replaces_it(recordings, folder):
    assert recordings.find("later") is None
    made = [record(fake_engine(), text, SETTINGS) for text in ("hello", "good bye")]
    for age, recording in enumerate(made):
        recording.save(folder / "later.safetensors")
        os.utime(folder / "later.safetensors", (age, age))  # clocks of file systems are coarse
        assert recordings.find("later").recording.trace == recording.trace
    (folder / "later.safetensors").unlink()
    assert recordings.find("later") is None


class TestSound:
    def rejected(self, recording: Recording) -> int:
        return next(n for n, r in enumerate(recording.trace.rounds) if was_rejected(r))

    def test_what_was_kept(self, recordings):
        entry = recordings.find("shipped")
        trace = entry.recording.trace
        heard = recordings.sound(entry, 2, "kept")
        np.testing.assert_array_equal(heard, excerpt(trace, trace.rounds[2]))

    def test_an_idea_is_made_by_the_voice_that_spoke(self, recordings, runs):
        entry = recordings.find(recorded(own(recordings, runs)))
        trace, index = entry.recording.trace, self.rejected(entry.recording)
        heard = recordings.sound(entry, index, "rejected")
        idea = imagine(ToneCodec(), trace, trace.rounds[index])
        np.testing.assert_array_equal(heard, excerpt(trace, trace.rounds[index], idea))

    def test_an_idea_is_made_once(self, recordings, runs, monkeypatch):
        entry = recordings.find(recorded(own(recordings, runs)))
        index = self.rejected(entry.recording)
        first = recordings.sound(entry, index, "rejected")
        monkeypatch.setattr(module, "imagine", lambda *_: pytest.fail("made again"))
        np.testing.assert_array_equal(recordings.sound(entry, index, "rejected"), first)

    def test_few_may_wait(self, studio, runs, recordings, monkeypatch):
        """Each holds one of the threads that answer the whole page."""
        waiting, start = [], runs.start
        monkeypatch.setattr(runs, "start", lambda work: waiting.append(start(work)) or waiting[-1])
        entry = recordings.find("shipped")
        index = self.rejected(entry.recording)
        with ThreadPoolExecutor(module.WAITING) as pool:
            with studio.use("fake"):
                patient = [
                    pool.submit(recordings.sound, entry, index, "rejected")
                    for _ in range(module.WAITING)
                ]
                wait_until(lambda: len(waiting) == module.WAITING)
                with pytest.raises(Busy, match="try again"):
                    recordings.sound(entry, index, "rejected")
            assert all(len(one.result()) for one in patient)
        assert len(recordings.sound(entry, index, "rejected"))

    def test_none_waits_for_ever(self, studio, runs, recordings, monkeypatch):
        """Nor does its run, which would still take its turn."""
        monkeypatch.setattr(module, "PATIENCE", 0.05)
        monkeypatch.setattr(runs_module, "PATIENCE", 0.05)
        waiting, start = [], runs.start
        monkeypatch.setattr(runs, "start", lambda work: waiting.append(start(work)) or waiting[-1])
        entry = recordings.find("shipped")
        with studio.use("fake"):
            for _ in range(module.WAITING + 1):
                with pytest.raises(Busy, match="try again"):
                    recordings.sound(entry, self.rejected(entry.recording), "rejected")
            assert [finished(run)[-1]["state"] for run in waiting] == ["stopped"] * len(waiting)

    def test_of_what_was_shipped_with_it_no_model_is_needed(self, runs, folder, recording):
        index = self.rejected(recording)
        idea = imagine(ToneCodec(), recording.trace, recording.trace.rounds[index])
        replace(recording, ideas={index: idea}).save(folder / "heard.safetensors")
        recordings = Recordings(Studio(lambda _: pytest.fail("loaded")), runs, folder)
        heard = recordings.sound(recordings.find("heard"), index, "rejected")
        expected = excerpt(recording.trace, recording.trace.rounds[index], idea)
        np.testing.assert_array_equal(heard, expected)

    def test_where_nothing_was_rejected_there_is_none(self, recordings):
        entry = recordings.find("shipped")
        full = next(n for n, r in enumerate(entry.recording.trace.rounds) if not was_rejected(r))
        assert recordings.sound(entry, full, "rejected") is None

    def test_a_voice_that_cannot_be_loaded_says_so(self, runs, folder, recording):
        def load(_):
            raise ForespeakError("The file is damaged: restore it.")

        recordings = Recordings(Studio(load), runs, folder)
        with pytest.raises(ForespeakError, match="restore it"):
            recordings.sound(recordings.find("shipped"), self.rejected(recording), "rejected")


class TestRule:
    def test_of_groups_it_needs_the_codec(self, runs, folder):
        studio = Studio(lambda _: fake_engine())
        recordings = Recordings(studio, runs, folder)
        entry = recordings.find("shipped")
        with pytest.raises(ForespeakError, match="needs the voice's codec"):
            recordings.rule(entry, "pcg", None)
        studio.ready(entry.voice)
        assert recordings.rule(entry, "pcg", 0.5).tolerance.value == 0.5

    def test_others_need_nothing(self, recordings):
        assert recordings.rule(recordings.find("shipped"), "ssd", None).name == "ssd"

    def test_what_is_no_rule(self, recordings):
        with pytest.raises(ForespeakError, match="Unknown rule"):
            recordings.rule(recordings.find("shipped"), "x", None)
