"""Recordings to step through: those that came with the program, and what students made."""

import secrets
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from app.orders import DRAFT, Order
from app.runs import Run, Runs
from app.spelling import SPELLED, spelled
from app.studio import Studio
from core.errors import ForespeakError
from core.ideas import Idea, excerpt, imagine, was_rejected
from core.recording import Recording, record
from core.verify import Rule, find_rule

KEPT = 200e6  # bytes of students' recordings: one takes some ten megabytes
WAITING = 2  # requests that may wait for the model: each holds a thread, of which there are few
PATIENCE = 20.0  # seconds that one waits
WAS_KEPT = "kept"
SOUNDS = ("rejected", WAS_KEPT)


class Busy(ForespeakError):  # noqa: N818 - an answer, not a fault
    """The model is in use: later it may not be."""


@dataclass(frozen=True)
class Entry:
    """voice: whose codec can say more, as the studio calls it; ideas: made since, by round."""

    recording: Recording
    voice: str
    ideas: dict[int, Idea] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes, nearly."""
        recording = self.recording
        logits = (*recording.draft_logits, *recording.target_logits)
        sounds = [idea.pcm for idea in self.ideas.copy().values()]
        return sum(array.nbytes for array in (*logits, *sounds)) + len(recording.trace.sound)


class Recordings:
    """All that can be asked for by id; the oldest of the students' make room for new ones."""

    def __init__(self, studio: Studio, runs: Runs, folder: Path):
        """folder: of the shipped ones, each loaded when it is first asked for."""
        self._studio = studio
        self._runs = runs
        self._folder = folder
        self._shipped: dict[tuple[str, int], Entry] = {}  # by name, and when the file was written
        self._own: dict[str, Entry] = {}  # the oldest first
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(WAITING)

    def record(self, run: Run, order: Order) -> str:
        """The work of a run: speak the first sentence with a draft, and keep it."""
        with self._studio.use(order.voice, run.status, run.check) as ready:
            run.status("Recording the first sentence…", "speaking")
            voice = ready.engine.voice
            if DRAFT not in voice.drafts:
                raise ForespeakError(
                    f"Step mode shows what a draft model guesses, and {voice.name} has none: "
                    "choose another voice."
                )
            outlook = self._studio.outlook(order.voice, DRAFT, order.rule)
            settings = replace(order.drafted(outlook.gamma, outlook), draft=DRAFT)
            recording = record(ready.engine, order.text, settings, run.check)
        run.put({"kind": "recorded", "recording": self._keep(Entry(recording, order.voice))})
        return f"Recorded. {SPELLED}" if spelled(order.text) else "Recorded."

    def find(self, id: str) -> Entry | None:
        """The recording of that id, if it is still there; raises ForespeakError if its file is
        damaged."""
        with self._lock:
            return self._own.get(id) or self._find_shipped(id)

    def _find_shipped(self, id: str) -> Entry | None:
        """Looked for each time: who records one finds it after a reload."""
        paths = {path.stem: path for path in self._folder.glob("*.safetensors")}
        if id not in paths:
            return None
        key = id, paths[id].stat().st_mtime_ns
        if key not in self._shipped:
            recording = Recording.load(paths[id])
            self._shipped[key] = Entry(recording, recording.trace.voice)
        return self._shipped[key]

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
        None if nothing was. Raises Busy where that must be made and the model is in use."""
        trace = entry.recording.trace
        round_ = trace.rounds[index]
        if name == WAS_KEPT:
            return excerpt(trace, round_)
        if not was_rejected(round_):
            return None
        return excerpt(trace, round_, self._idea(entry, index))

    def _idea(self, entry: Entry, index: int) -> Idea:
        """Known, or made now and kept."""
        for known in (entry.recording.ideas, entry.ideas):
            if index in known:
                return known[index]
        if not self._places.acquire(blocking=False):
            raise Busy("Others wait for this sound, too: try again in a moment.")
        try:
            return self._imagine(entry, index)
        finally:
            self._places.release()

    def _imagine(self, entry: Entry, index: int) -> Idea:
        trace = entry.recording.trace

        def work(run: Run) -> str:
            with self._studio.use(entry.voice, run.status, run.check) as ready:
                codec = ready.engine.voice.codec
                entry.ideas[index] = imagine(codec, trace, trace.rounds[index])
            return "Done."

        run = self._runs.start(work)  # `Runs.start` tells why the models get a thread that ends
        with run.listening():
            if not run.wait(PATIENCE):  # nobody listens to it any more then, and it ends soon
                raise Busy("The voice is speaking for somebody else: try again when it is done.")
        with self._lock:
            self._make_room()
        return entry.ideas[index]

    def _keep(self, entry: Entry) -> str:
        id = secrets.token_urlsafe(12)
        with self._lock:
            self._own[id] = entry
            self._make_room()
        return id

    def _make_room(self) -> None:
        kept = 0
        for age, (id, entry) in enumerate(reversed(list(self._own.items()))):
            kept += entry.size
            if age and kept > KEPT:  # the newest stays, however large
                del self._own[id]
