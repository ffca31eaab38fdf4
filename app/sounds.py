"""Sound on its way to the players: kept here until they have fetched it."""

import base64
import secrets
import threading
from collections import OrderedDict

import numpy as np


class Sounds:
    """Numbered pieces of 16-bit sound per run, as base64 of little-endian int16.

    A player is told how many pieces there are and fetches those it lacks, so none is lost
    if the page skips an update. The oldest runs make room for new ones.
    """

    def __init__(self, runs_kept: int = 4):
        self._runs_kept = runs_kept
        self._runs: OrderedDict[str, list[str]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self) -> str:
        """A new run; its name cannot be guessed, for only its own page may fetch it."""
        run = secrets.token_urlsafe(12)
        with self._lock:
            self._runs[run] = []
            while len(self._runs) > self._runs_kept:
                self._runs.popitem(last=False)
        return run

    def add(self, run: str, pcm: np.ndarray) -> None:
        """Append a piece, int16 [samples]; nothing happens if the run had to make room."""
        piece = base64.b64encode(pcm.astype("<i2").tobytes()).decode("ascii")
        with self._lock:
            if run in self._runs:
                self._runs[run].append(piece)

    def fetch(self, run: str, first: int) -> list[str]:
        """All pieces from number `first` on; none if the run is not there any more."""
        with self._lock:
            return self._runs.get(run, [])[first:]
