"""Runs: what a worker thread says of its work, as numbered lines that a browser follows."""

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.faults import explain
from app.wire import Lane, Line
from core.errors import ForespeakError

PATIENCE = 3.0  # seconds that a run goes on with nobody listening: a reload takes less
KEPT = 200e6  # bytes of lines of runs that have ended: their sound and records take as much again


class Stopped(Exception):  # noqa: N818 - no error: somebody wanted it
    """Raised inside a run that has been stopped, or that nobody listens to any more."""


class Run:
    """One press of a button. Its worker writes; any thread may read, listen and stop it.

    lanes: one of a live run or a replay, two of a race: for the exports.
    """

    def __init__(self, owner: str | None = None):
        self.id = secrets.token_urlsafe(12)
        self.owner = owner
        self.lanes: list[Lane] = []
        self._lines: list[bytes] = []
        self._size = 0
        self._ended = threading.Event()
        self._failure: str | None = None
        self._stopped = False
        self._listeners = 0
        self._left = time.monotonic()
        self._lock = threading.Lock()

    def put(self, line: Line) -> None:
        """Append a line; it gets the next number."""
        with self._lock:
            numbered = {"n": len(self._lines), **line}
            text = json.dumps(numbered, separators=(",", ":"), allow_nan=False)
            self._lines.append(text.encode() + b"\n")
            self._size += len(text)

    def status(self, text: str, state: str) -> None:
        """Append what the run is at; state: queued, loading, speaking or playing."""
        self.put({"kind": "status", "text": text, "state": state})

    def end(self, state: str, text: str) -> None:
        """Append the last line; state: done, stopped or failed."""
        self.put({"kind": "end", "state": state, "text": text})
        self._failure = text if state == "failed" else None
        self._ended.set()

    def lines(self, after: int) -> list[bytes]:
        """The lines there are, from number `after` on."""
        with self._lock:
            return self._lines[after:]

    @property
    def size(self) -> int:
        """Characters of all lines together."""
        return self._size

    @property
    def ended(self) -> bool:
        """Whether there will be no further line."""
        return self._ended.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Until the run has ended, or so long at most; whether it has. Raises what it failed of."""
        ended = self._ended.wait(seconds)
        if self._failure is not None:
            raise ForespeakError(self._failure)
        return ended

    def stop(self) -> None:
        """Let the run end soon: as soon as its worker has a look."""
        self._stopped = True

    def check(self) -> None:
        """For the worker: raises Stopped if nobody wants the run any more."""
        with self._lock:
            alone = not self._listeners and time.monotonic() - self._left > PATIENCE
            self._stopped |= alone
        if self._stopped:
            raise Stopped

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Somebody follows the run meanwhile."""
        with self._lock:
            self._listeners += 1
        try:
            yield
        finally:
            with self._lock:
                self._listeners -= 1
                self._left = time.monotonic()


Work = Callable[[Run], str]
"""What a run does: it writes the lines, and returns the text of the last one."""


class Runs:
    """All runs that can still be asked for; the oldest that have ended make room for new ones."""

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}
        self._lock = threading.Lock()

    def start(self, work: Work, owner: str | None = None) -> Run:
        """Let a thread do the work, one that ends with it: the helpers that PyTorch gives to a
        thread (OpenMP's) stay with it, and those of two living threads would get in each other's
        way on the few cores that there are. All passes would take more than twice as long.

        owner: whose run it is; a former one of the same owner is stopped.
        """
        run = Run(owner)
        with self._lock:
            for other in self._runs.values():
                if owner is not None and other.owner == owner:
                    other.stop()
            self._runs[run.id] = run
            self._make_room()
        threading.Thread(target=_work, args=(run, work), daemon=True).start()
        return run

    def find(self, id: str) -> Run | None:
        """The run of that id, if it is still there."""
        return self._runs.get(id)

    def _make_room(self) -> None:
        kept = 0
        ended = [run for run in self._runs.values() if run.ended]
        for age, run in enumerate(reversed(ended)):
            kept += run.size
            if age and kept > KEPT:  # the newest stays, however large
                del self._runs[run.id]


def _work(run: Run, work: Work) -> None:
    try:
        run.end("done", work(run))
    except Stopped:
        run.end("stopped", "Stopped.")
    except Exception as error:
        run.end("failed", explain(error))
