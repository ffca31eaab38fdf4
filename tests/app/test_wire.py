"""Events as lines, live and replayed."""

import base64
import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from app.replay import SILENT, replay, replay_events
from app.runs import Run
from app.wire import Lane
from core.engine import Settings
from core.errors import ForespeakError
from core.metrics import measure
from tests.app.conftest import lines_of
from tests.fake_voice import StagedVoice, engine_pcm, fake_engine

TEXT = "hello there\nand then some more of it"


def lines(events, lane):
    """As a browser gets them."""
    return json.loads(json.dumps([lane.add(event) for event in events]))


def of_kind(lines, kind):
    return [line for line in lines if line["kind"] == kind]


@pytest.fixture(params=[0, 3])
def spoken(request):
    lane = Lane(1, 195.0)
    return lane, lines(fake_engine().synthesize(TEXT, Settings(gamma=request.param)), lane)


def test_a_lane_tells_everything_of_the_trace(spoken):
    lane, told = spoken
    trace = json.loads(json.dumps(asdict(lane.trace())))
    assert {line["lane"] for line in told} == {1}
    rest = {"kind", "lane", "index", "ends_itself", "pcm", "metrics"}
    for kind, field in (("sentence", "sentences"), ("round", "rounds"), ("audio", "chunks")):
        records = [
            {name: value for name, value in line.items() if name not in rest}
            for line in of_kind(told, kind)
        ]
        assert records == trace[field]
    (started,) = of_kind(told, "started")
    assert started["baseline_tokens_per_s"] == 195.0
    assert "recorded" not in started
    blank = {"earlier", "sentences", "rounds", "chunks", "sound"}
    assert started["trace"] == {n: v for n, v in trace.items() if n not in blank} | {"total_s": 0}


def test_the_sound_is_the_engines(spoken):
    lane, told = spoken
    pieces = [np.frombuffer(base64.b64decode(line["pcm"]), "<i2") for line in told if "pcm" in line]
    np.testing.assert_array_equal(np.concatenate(pieces), lane.pcm())
    if lane.trace().gamma:
        np.testing.assert_array_equal(lane.pcm(), engine_pcm(TEXT, gamma=3))


def test_every_piece_of_sound_comes_with_the_metrics_up_to_it(spoken):
    lane, told = spoken
    trace = lane.trace()
    rounds = 0
    for number, line in enumerate(of_kind(told, "audio"), 1):
        rounds = sum(before["kind"] == "round" for before in told[: told.index(line)])
        upto = replace(
            trace, rounds=trace.rounds[:rounds], chunks=trace.chunks[:number], total_s=line["at_s"]
        )
        assert line["metrics"] == json.loads(json.dumps(asdict(measure(upto))))
    (end,) = of_kind(told, "finished")
    assert end["metrics"] == json.loads(json.dumps(asdict(measure(trace))))


def test_a_replay_tells_what_the_live_run_told(spoken):
    lane, told = spoken
    trace = lane.trace().with_sound(lane.pcm())
    again = lines(replay_events(trace), Lane(1, 195.0))
    assert again == told


def test_what_a_sentence_needs_first_is_told_and_told_again():
    """A replay knows how it ended, not round by round."""
    lane = Lane(0, None)
    told = lines(fake_engine(StagedVoice()).synthesize("hello\nyou", Settings()), lane)
    ends = {line["sentence"]: line for line in of_kind(told, "earlier")}
    trace = lane.trace()
    assert [said.tokens for said in trace.earlier] == [line["tokens"] for line in ends.values()]
    again = lines(replay_events(trace.with_sound(lane.pcm())), Lane(0, None))
    assert of_kind(again, "earlier") == list(ends.values())
    stopped = Lane(0, None)
    events = fake_engine(StagedVoice()).synthesize("hello", Settings())
    told = [stopped.add(next(events)) for _ in range(2)]
    assert told[-1]["kind"] == "earlier"
    assert stopped.trace().earlier == ()  # of a sentence that has not begun


def test_a_lane_of_a_run_that_was_stopped_has_what_there_was():
    lane = Lane(0, None)
    assert lane.trace() is None
    assert len(lane.pcm()) == 0
    events = fake_engine().synthesize(TEXT, Settings())
    told = [lane.add(next(events)) for _ in range(8)]
    trace = lane.trace()
    assert len(trace.rounds) == len(of_kind(told, "round"))
    assert len(lane.pcm()) == sum(chunk.samples for chunk in trace.chunks)
    assert trace.total_s == (trace.chunks[-1].at_s if trace.chunks else 0)


class TestReplay:
    @pytest.fixture
    def trace(self):
        lane = Lane(0, None)
        lines(fake_engine().synthesize(TEXT, Settings()), lane)
        return lane.trace().with_sound(lane.pcm())

    def replayed(self, trace, path):
        trace.save(path)
        run = Run()
        return replay(run, path), lines_of(run)

    def test_a_file_is_told_as_recorded(self, trace, tmp_path):
        text, told = self.replayed(trace, tmp_path / "t.json")
        assert text == "Replayed."
        (started,) = of_kind(told, "started")
        assert started["recorded"] is True
        assert started["baseline_tokens_per_s"] is None
        assert len(of_kind(told, "audio")) == len(trace.chunks)

    def test_a_trace_without_sound_is_shown_and_says_so(self, trace, tmp_path):
        text, told = self.replayed(replace(trace, sound=""), tmp_path / "t.json")
        assert text == SILENT
        assert {line["pcm"] for line in of_kind(told, "audio")} == {""}

    def test_what_can_be_saved_again_is_what_was_opened(self, trace, tmp_path):
        trace.save(tmp_path / "t.json")
        run = Run()
        replay(run, tmp_path / "t.json")
        (lane,) = run.lanes
        assert lane.trace().with_sound(lane.pcm()) == trace

    def test_a_damaged_file_is_named_without_its_folder(self, tmp_path):
        path = tmp_path / "mine.json"
        path.write_text("no trace")
        with pytest.raises(ForespeakError, match=r"^mine\.json is not a trace"):
            replay(Run(), path)

    def test_sound_that_does_not_fit_is_refused(self, trace, tmp_path):
        wrong = replace(trace, chunks=trace.chunks[:-1])
        with pytest.raises(ForespeakError, match="record it again"):
            self.replayed(wrong, tmp_path / "t.json")
