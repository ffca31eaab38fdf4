"""Recordings to step through: those that came with the program, and what students made."""

import secrets
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.orders import Order
from app.runs import Run, Runs
from app.studio import Studio
from core.errors import ForespeakError
from core.ideas import Idea, excerpt, imagine, was_rejected
from core.recording import Recording, record
from core.verify import Rule, find_rule

KEPT = 24  # of students' recordings: one takes some ten megabytes
WAS_KEPT = "kept"
SOUNDS = ("rejected", WAS_KEPT)


@dataclass(frozen=True)
class Entry:
    """voice: whose codec can say more, as the studio calls it."""

    recording: Recording
    voice: str


class Recordings:
    """All that can be asked for by id; the oldest of the students' make room for new ones."""

    def __init__(self, studio: Studio, runs: Runs, folder: Path):
        """folder: of the shipped ones, each loaded when it is first asked for."""
        self._studio = studio
        self._runs = runs
        self._shipped = {path.stem: path for path in sorted(folder.glob("*.safetensors"))}
        self._entries: dict[str, Entry] = {}
        self._own: list[str] = []
        self._lock = threading.Lock()

    def record(self, run: Run, order: Order) -> str:
        """The work of a run: speak the first sentence with a draft, and keep it."""
        with self._studio.use(order.voice, run.status, run.check) as ready:
            run.status("Recording the first sentence…", "speaking")
            settings = order.drafted(ready.gamma)
            recording = record(ready.engine, order.text, settings, run.check)
        run.put({"kind": "recorded", "recording": self._keep(Entry(recording, order.voice))})
        return "Recorded."

    def find(self, id: str) -> Entry | None:
        """The recording of that id, if it is still there; raises ForespeakError if its file is
        damaged."""
        with self._lock:
            if id in self._shipped and id not in self._entries:
                recording = Recording.load(self._shipped[id])
                self._entries[id] = Entry(recording, recording.trace.voice)
            return self._entries.get(id)

    def rule(self, entry: Entry, name: str, tolerance: float | None) -> Rule:
        """A rule to try on a recording; raises ForespeakError if it is none, or must wait."""
        rule = find_rule(name, tolerance)
        if not rule.acoustic:
            return rule
        ready = self._studio.found(entry.voice)
        if ready is None:
            raise ForespeakError(f"{rule.title} needs the voice's codec: wait until it is loaded.")
        return rule.hearing(ready.engine.voice.codec.groups)

    def sound(self, entry: Entry, index: int, name: str) -> np.ndarray | None:
        """Around a round, int16 [samples]: what was kept, or as if what was rejected had been;
        None if nothing was."""
        trace = entry.recording.trace
        round_ = trace.rounds[index]
        if name == WAS_KEPT:
            return excerpt(trace, round_)
        if not was_rejected(round_):
            return None
        return excerpt(trace, round_, self._idea(entry, index))

    def _idea(self, entry: Entry, index: int) -> Idea:
        trace = entry.recording.trace
        if index in entry.recording.ideas:
            return entry.recording.ideas[index]
        made = []

        def work(run: Run) -> str:
            with self._studio.use(entry.voice, run.status, run.check) as ready:
                made.append(imagine(ready.engine.voice.codec, trace, trace.rounds[index]))
            return "Done."

        run = self._runs.start(work)  # `Runs.start` tells why the models get a thread that ends
        with run.listening():
            run.wait()
        return made[0]

    def _keep(self, entry: Entry) -> str:
        id = secrets.token_urlsafe(12)
        with self._lock:
            self._entries[id] = entry
            self._own.append(id)
            while len(self._own) > KEPT:
                del self._entries[self._own.pop(0)]
        return id
