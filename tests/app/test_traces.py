"""The recorded runs that come with the program."""

from pathlib import Path

import pytest

from app.page import ASSETS
from app.replay import replay
from app.runs import Run
from core.trace import Trace

TRACES = sorted((ASSETS / "traces").glob("*.json"))


def test_there_are_three():
    assert len(TRACES) == 3


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_each_is_whole_and_is_replayed_with_its_sound(path: Path):
    run = Run()
    assert replay(run, path) == "Replayed."
    (lane,) = run.lanes
    trace = Trace.load(path)
    assert len(lane.pcm()) == len(trace.pcm()) > 2 * trace.sample_rate
    planned = sum(sentence.frames for sentence in trace.sentences) * trace.num_codebooks
    assert sum(len(round_.tokens) for round_ in trace.rounds) == planned
