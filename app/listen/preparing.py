"""Runs that prepare a listening test: every clip is spoken before the first listener comes."""

import hashlib
import io
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import soundfile

from app import __version__
from app.listen.clips import gain_for, matched
from app.listen.design import Design, Item
from app.listen.plan import Plan
from app.listen.sessions import now
from app.listen.store import Store, new_id
from app.listen.ways import Booth
from app.runs import Run
from app.spelling import SPELLED, spelled
from app.studio import Studio
from core.errors import ForespeakError
from core.files import cannot_write
from core.voices.base import Voice

# Finer than the 16 bits that are sent, and with room for any peak: the gain for all clips is known
# only after the last one.
FILE = {"format": "WAV", "subtype": "FLOAT"}


@dataclass(frozen=True)
class Rendered:
    """A trial's item, and the largest sample of its clips."""

    item: Item
    peak: float


def prepare(run: Run, studio: Studio, store: Store, plan: Plan, lan: str | None) -> str:
    """Speak all clips, store the test, and tell its links.

    lan: the page's address for other computers on the local network, if it has one.
    """
    with studio.use(plan.order.voice, run.status, run.check) as ready:
        plan = plan.drafted_by(ready.engine.voice)
        check_speakable(plan, ready.engine.voice, run.check)
    test = new_id()
    booth = Booth(ready.engine, ready.gamma, plan.recorded, run.check)
    with _made_whole(store.folder(test)) as folder:
        run.status("Rendering the clips…", "speaking")
        design = _design(test, plan, booth, list(_rendered(run, studio, plan, booth, folder)))
        store.add(design)
    run.put({"kind": "prepared", "test": test, "key": design.key, "lan": lan})
    return " ".join(["The test is ready.", *_notes(plan, design.gamma)])


def _notes(plan: Plan, gamma: int) -> Iterator[str]:
    """What else whoever prepares it should know."""
    if plan.order.adaptive:
        yield f"γ does not adapt in a test: it is the automatic one, {gamma}."
    numbers = [number for number, text in enumerate(plan.texts, 1) if spelled(text)]
    if numbers:
        yield f"Text {', '.join(map(str, numbers))}: {SPELLED[0].lower()}{SPELLED[1:]}"


def check_speakable(plan: Plan, voice: Voice, check: Callable[[], None]) -> None:
    """Raise for the first text that has nothing to say. check: called before each of them."""
    for number, text in enumerate(plan.texts, 1):
        check()
        if next(iter(voice.sentences(text)), None) is None:
            raise ForespeakError(
                f"Text {number} has nothing to say: give it some letters or digits."
            )


@contextmanager
def _made_whole(folder: Path) -> Iterator[Path]:
    """A new folder, which vanishes again if what fills it fails."""
    try:
        folder.mkdir(parents=True)
        yield folder
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise cannot_write(folder, error) from error
        raise


def _rendered(
    run: Run, studio: Studio, plan: Plan, booth: Booth, folder: Path
) -> Iterator[Rendered]:
    """A turn for each pair of clips: whoever else wants the voice gets it in between."""
    takes = Takes(plan)
    for number in range(plan.trials):
        with studio.use(plan.order.voice, run.status, run.check):
            text = plan.texts[number % len(plan.texts)]
            order = replace(plan.order, text=text, seed=plan.order.seed + number)
            clips = []
            for way in (plan.first, plan.second):
                _progress(run, 2 * number + len(clips), 2 * plan.trials)
                clips.append(booth.speak(way.name, order))
        takes.add(text, clips)
        rate = booth.engine.voice.codec.sample_rate
        pair = matched(*clips, rate)
        names = secrets.token_hex(8) + ".wav", secrets.token_hex(8) + ".wav"
        for name, clip in zip(names, pair, strict=True):
            (folder / name).write_bytes(_wav(clip, rate))
        item = Item(text, order.seed, names, len(pair[0]), bool(np.array_equal(*pair)))
        yield Rendered(item, max(float(np.abs(clip).max()) for clip in pair))


class Takes:
    """Every pair of clips of a test so far: none may come twice, for its second trial would ask
    nothing new. That one clip of a short text comes again is chance."""

    def __init__(self, plan: Plan):
        self._sampling = plan.order.sampling
        self._seen: set[tuple[str, bytes]] = set()

    def add(self, text: str, pair: Sequence[np.ndarray]) -> None:
        """Raises ForespeakError where another seed gave the same pair."""
        take = text, hashlib.sha256(b"".join(clip.tobytes() for clip in pair)).digest()
        if take in self._seen:
            raise ForespeakError(
                f"“{text}” came out the same with two seeds: temperature "
                f"{self._sampling.temperature:g} and top-p {self._sampling.top_p:g} leave too "
                "little to chance. Raise them, or give longer texts, or one for each trial."
            )
        self._seen.add(take)


def _wav(clip: np.ndarray, rate: int) -> bytes:
    # By way of memory: a full disk is then told by the system, and not by the sound library.
    file = io.BytesIO()
    soundfile.write(file, clip, rate, **FILE)
    return file.getvalue()


def _progress(run: Run, done: int, of: int) -> None:
    text = f"Rendering clip {done + 1} of {of}…"
    run.put({"kind": "progress", "done": done, "of": of, "text": text})


def _design(test: str, plan: Plan, booth: Booth, rendered: list[Rendered]) -> Design:
    order = plan.order
    return Design(
        test=test,
        key=secrets.token_urlsafe(12),
        secret=secrets.token_hex(16),
        version=__version__,
        voice=order.voice,
        kind=plan.kind,
        first=plan.first.name,
        second=plan.second.name,
        first_title=plan.first.title,
        second_title=plan.second.title,
        temperature=order.sampling.temperature,
        top_p=order.sampling.top_p,
        gamma=order.drafted(booth.gamma).gamma,
        rate=order.rate,
        sample_rate=booth.engine.voice.codec.sample_rate,
        gain=gain_for(max(trial.peak for trial in rendered)),
        items=tuple(trial.item for trial in rendered),
        at=now(),
    )
