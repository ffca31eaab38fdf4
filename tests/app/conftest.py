"""A studio with the fake voice, and a way to read a run to its end."""

import json
import time

import pytest

from app.studio import Studio
from tests.fake_voice import fake_engine


@pytest.fixture(scope="session")
def studio():
    return Studio(lambda _: fake_engine())


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """Tests read a run when it has ended, which takes long on a busy computer."""
    monkeypatch.setattr("app.runs.PATIENCE", 60.0)


def wait_until(holds, seconds=30.0):
    """Return once `holds()` does; fails after a while."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.005)


def lines_of(run):
    """All lines that a run has so far."""
    return [json.loads(line) for line in run.lines(0)]


def finished(run):
    """The lines of a run that is waited for."""
    wait_until(lambda: run.ended)
    return lines_of(run)
