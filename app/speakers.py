"""This computer's loudspeakers, through PortAudio (sounddevice)."""

import queue
import threading
from types import TracebackType
from typing import Any

import numpy as np

from app.outputs import find_output, import_sounddevice
from core.errors import ForespeakError


class Speakers:
    """Implements `Sink`: plays pieces as they arrive, and silence while none has.

    Leaving it waits until all has been heard; leaving it on an exception falls silent at once.
    """

    def __init__(self, device: int | None = None):
        """device: its number as `list_outputs` gives it, None for the default one.

        Raises if there is nothing to play on; opens nothing yet.
        """
        self._sounddevice = import_sounddevice()
        self._device = find_output(self._sounddevice, device)
        self._pieces: queue.SimpleQueue[np.ndarray | None] = queue.SimpleQueue()
        self._rest = np.empty(0, np.int16)
        self._silent = threading.Event()  # nothing plays any more
        self._heard = False  # to the end
        self._completed = False
        self._resampler: Any = None
        self._stream: Any = None

    def begin(self, sample_rate: int) -> None:
        rate = self._supported_rate(sample_rate)
        if rate != sample_rate:
            import soxr

            self._resampler = soxr.ResampleStream(sample_rate, rate, 1, dtype="int16")
        try:
            self._stream = self._sounddevice.OutputStream(
                samplerate=rate,
                device=self._device["index"],
                channels=1,
                dtype="int16",
                callback=self._fill,
                finished_callback=self._silent.set,
            )
            self._stream.start()
        except self._sounddevice.PortAudioError as error:
            raise ForespeakError(
                f"Cannot play on {self._device['name']}: close what else uses it."
            ) from error

    def write(self, pcm: np.ndarray) -> None:
        self._check()
        if self._resampler:
            pcm = self._resampler.resample_chunk(pcm)
        self._pieces.put(pcm)

    def complete(self) -> None:
        """No further piece will come."""
        if self._resampler:
            nothing = np.empty(0, np.int16)
            self._pieces.put(self._resampler.resample_chunk(nothing, last=True))
        self._pieces.put(None)
        self._completed = True

    def wait(self, seconds: float) -> bool:
        """Whether all has been heard, within that time. Raises if the device gave up."""
        self._silent.wait(seconds)
        self._check()
        return self._heard

    def __enter__(self) -> "Speakers":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._stream is None:
            return
        try:
            if kind is None:
                if not self._completed:
                    self.complete()
                # With a timeout: on Windows an untimed wait cannot be interrupted by Ctrl-C.
                while not self.wait(0.1):
                    pass
        finally:
            # Also where Ctrl-C ends the waiting: whatever is still queued is not played.
            self._stream.abort()
            self._stream.close()

    def _check(self) -> None:
        if self._silent.is_set() and not self._heard:
            raise ForespeakError(f"{self._device['name']} stopped playing: connect it again.")

    def _supported_rate(self, sample_rate: int) -> int:
        """`sample_rate` if the device takes it, else the device's own; Hz."""
        try:
            self._sounddevice.check_output_settings(
                device=self._device["index"], channels=1, dtype="int16", samplerate=sample_rate
            )
        except self._sounddevice.PortAudioError:
            return int(self._device["default_samplerate"])
        return sample_rate

    def _fill(self, out: np.ndarray, frames: int, time: Any, status: Any) -> None:  # noqa: ARG002
        """PortAudio's thread asks for the next samples; out [frames, 1]."""
        filled, ended = 0, False
        while filled < frames and not ended:
            if not len(self._rest):
                try:
                    piece = self._pieces.get_nowait()
                except queue.Empty:
                    break
                ended = piece is None
                self._rest = np.empty(0, np.int16) if ended else piece
            count = min(frames - filled, len(self._rest))
            out[filled : filled + count, 0] = self._rest[:count]
            self._rest = self._rest[count:]
            filled += count
        out[filled:] = 0
        if ended:
            self._heard = True
            raise self._sounddevice.CallbackStop
