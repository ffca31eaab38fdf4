"""WAV files, 16-bit mono."""

import os
import wave
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import numpy as np

from app.files import check_writable
from core.errors import ForespeakError
from core.files import cannot_write


def open_wave(file: str | BinaryIO, sample_rate: int) -> wave.Wave_write:
    """16-bit mono, ready for little-endian frames."""
    opened = wave.open(file, "wb")  # noqa: SIM115 - whoever asked closes it
    opened.setparams((1, 2, sample_rate, 0, "NONE", ""))
    return opened


def wav_bytes(pcm: np.ndarray, sample_rate: int) -> bytes:
    """A whole file of int16 [samples]."""
    file = BytesIO()
    with open_wave(file, sample_rate) as sound:
        sound.writeframes(pcm.astype("<i2").tobytes())
    return file.getvalue()


class WavFile:
    """Implements `Sink`: a file that grows beside its place and is renamed once it is whole."""

    def __init__(self, path: Path):
        """Raises if there is no writing there; opens nothing yet."""
        if path.suffix.lower() != ".wav":
            raise ForespeakError(f"{path} is not a WAV file: name it {path.stem or 'speech'}.wav.")
        check_writable(path)
        self.path = path
        # The process id keeps two commands that write the same file apart.
        self._partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
        self._wave: wave.Wave_write | None = None

    def begin(self, sample_rate: int) -> None:
        try:
            self._wave = open_wave(str(self._partial), sample_rate)
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def write(self, pcm: np.ndarray) -> None:
        try:
            self._wave.writeframesraw(pcm.astype("<i2").tobytes())
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def __enter__(self) -> "WavFile":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._wave is None:
            return
        try:
            self._wave.close()
            if kind is None:
                self._partial.replace(self.path)
        except OSError as failure:
            raise cannot_write(self.path, failure) from failure
        finally:
            self._partial.unlink(missing_ok=True)
