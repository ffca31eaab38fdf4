"""A recording on disk, as one that came with the program."""

import pytest

from core.engine import Settings
from core.recording import record
from core.sampling import Sampling
from tests.fake_voice import fake_engine

TEXT = "hello there how are you today my friend"
SETTINGS = Settings(Sampling(0.9), gamma=4, seed=3)


@pytest.fixture(scope="session")
def recording():
    return record(fake_engine(), TEXT, SETTINGS)


@pytest.fixture
def folder(tmp_path, recording):
    """Of chapters, their recordings and sounds."""
    lessons = tmp_path / "lessons"
    lessons.mkdir()
    recording.save(lessons / "shipped.safetensors")
    (lessons / "broken.safetensors").write_bytes(b"no recording")
    (lessons / "codebooks-1.flac").write_bytes(b"fLaC and so on")
    (lessons / "01-first.md").write_text("# First\n\nText.\n\n```figure step\n```\n")
    (tmp_path / "secret.flac").write_bytes(b"secret")
    return lessons
