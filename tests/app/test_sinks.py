"""Where sound goes: files, memory."""

import wave

import numpy as np
import pytest

from app.sinks import Memory
from app.wav import WavFile
from core.errors import ForespeakError


def test_pieces_become_one_file(tmp_path):
    pieces = [np.arange(5, dtype=np.int16), np.array([-32768, 32767], np.int16)]
    with WavFile(tmp_path / "x.wav") as sink:
        sink.begin(16000)
        for piece in pieces:
            sink.write(piece)
        assert not (tmp_path / "x.wav").exists()
    with wave.open(str(tmp_path / "x.wav")) as file:
        assert file.getframerate() == 16000
        assert file.readframes(100) == np.concatenate(pieces).astype("<i2").tobytes()


def test_an_exception_drops_the_file(tmp_path):
    def fail():
        with WavFile(tmp_path / "x.wav") as sink:
            sink.begin(16000)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_memory_keeps_pieces_until_an_exception():
    memory = Memory()
    assert memory.pcm().dtype == np.int16
    with memory:
        memory.begin(16000)
        memory.write(np.array([1, -32768], np.int16))
        memory.write(np.array([3], np.int16))
    assert memory.pcm().tolist() == [1, -32768, 3]
    assert memory.pcm().dtype == np.int16
    with pytest.raises(RuntimeError), memory:
        raise RuntimeError
    assert not len(memory.pcm())


def test_a_full_disk_is_an_error_the_user_can_mend(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    def fill():
        with WavFile(tmp_path / "x.wav") as sink:
            sink.begin(16000)
            sink.write(np.zeros(1, np.int16))

    monkeypatch.setattr(wave.Wave_write, "writeframesraw", full)
    with pytest.raises(ForespeakError, match="No space left"):
        fill()
    assert list(tmp_path.iterdir()) == []
