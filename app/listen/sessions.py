"""Sessions: one listener takes a test."""

import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from filelock import FileLock
from pydantic import TypeAdapter, ValidationError

from app.listen.ballots import Ballot, Head, Start, Vote, head_of
from app.listen.clips import dithered
from app.listen.design import ABX, ANSWERS, LEAST_HEARD_S, Design, Item
from app.listen.refusals import Refusal
from app.listen.votes_csv import append, from_csv, row, whole_lines
from core.errors import ForespeakError

PATIENCE_S = 10.0  # that others may take to write
SLACK_S = 0.05  # that a browser's clock may be off
A_DAY_S = 86_400.0


@dataclass(frozen=True)
class Trial:
    """Which item a trial plays, and which way each clip is made; x: empty in AB."""

    item: int
    a: str
    b: str
    x: str


def seed_of(design: Design, session: str) -> str:
    """What a session's assignments are drawn with: nobody without the secret can tell it."""
    return hmac.digest(design.secret.encode(), session.encode(), "sha256").hex()[:32]


def draw(design: Design, seed: str) -> list[Trial]:
    """The order of the trials, which way is A, and which of the two is X.

    Each by a coin of its own. Were they balanced, whoever counts could guess the last ones, and
    guessing would no longer follow the binomial law.
    """
    rng = np.random.default_rng(int(seed, 16))
    trials = []
    for item in rng.permutation(design.trials).tolist():
        ways = design.first, design.second
        swap, x = rng.integers(2, size=2).tolist()
        a, b = reversed(ways) if swap else ways
        trials.append(Trial(item, a, b, ways[x] if design.kind == ABX else ""))
    return trials


class Session:
    """A listener's way through a test. Its votes are on the disk, and nothing else is kept."""

    def __init__(self, design: Design, token: str, folder: Path):
        """folder: of the test."""
        self.token = token
        self.design = design
        self._folder = folder
        self._votes = votes_path(folder, token)

    @cached_property
    def _seed(self) -> str:
        return seed_of(self.design, self.token)

    @cached_property
    def _trials(self) -> list[Trial]:
        return draw(self.design, self._seed)

    @cached_property
    def _head(self) -> Head:
        start = read_start(self._folder, self.token)
        return head_of(self.design, start, self.token, self._seed)

    def ballot(self) -> Ballot:
        """What has been answered so far. Raises where it cannot be read."""
        ballot = self.readable()
        if ballot.damage:
            raise ForespeakError(ballot.damage)
        return ballot

    def readable(self) -> Ballot:
        """The same, but damage is told in the ballot."""
        try:
            ballots = from_csv(whole_lines(self._votes.read_bytes()).decode())
        except (OSError, ValueError, ForespeakError) as error:
            damage = f"The file {self._votes.name} is damaged: {error}"
            return Ballot(self._head, (), damage)
        return ballots[0] if ballots else Ballot(self._head, ())

    def state(self) -> dict[str, Any]:
        """Where the session stands; trial counts from 0, None after the last one."""
        done = len(self.ballot().votes)
        trials = self.design.trials
        return self.design.form | {
            "trial": done if done < trials else None,
            "done": done == trials,
        }

    def clips(self) -> tuple[int, dict[str, np.ndarray]]:
        """The next trial's number and its clips, int16 [samples] each, by their labels.

        Both files are read in the same order whatever is A, and every clip gets noise of its own.
        """
        number = len(self.ballot().votes)
        if number == self.design.trials:
            raise Refusal(409, "This test is over: every trial has its vote.")
        trial, rng = self._trials[number], np.random.default_rng()
        item = self.design.items[trial.item]
        sounds = {
            way: self.design.gain * _read(self._folder / name)
            for way, name in zip((self.design.first, self.design.second), item.clips, strict=True)
        }
        ways = dict(zip(self.design.labels, (trial.a, trial.b, trial.x), strict=False))
        return number, {label: dithered(sounds[way], rng) for label, way in ways.items()}

    def vote(self, number: object, choice: object, heard: object) -> None:
        """Write the vote down, unless that trial has one: it is on the disk when this returns."""
        with writing(self._folder):
            done = len(self.ballot().votes)
            if type(number) is not int or number < 0:  # True is an int, too
                raise Refusal(400, "A vote names its trial by number.")
            if number < done:
                return  # the answer to a first attempt was lost: the vote was not
            if number > done or done == self.design.trials:
                raise Refusal(409, "That trial is not open: load the page again.")
            append(self._votes, row(self._head, self._judged(number, choice, heard)))

    def _judged(self, number: int, choice: object, heard: object) -> Vote:
        """The vote, if the choice is one and enough was heard."""
        choices = list(ANSWERS[self.design.kind])
        if choice not in choices:
            raise Refusal(400, f"Choose one of {', '.join(choices)}.")
        trial = self._trials[number]
        item = self.design.items[trial.item]
        return Vote(
            trial=number,
            item=trial.item,
            text=item.text,
            clip_seed=item.seed,
            first_clip=item.clips[0],
            second_clip=item.clips[1],
            same=item.same,
            a=trial.a,
            b=trial.b,
            x=trial.x,
            choice=choice,
            heard_s=self._heard(heard, item),
            at=now(),
        )

    def _heard(self, heard: object, item: Item) -> str:
        """How much of each clip was heard, in words; raises unless it was enough."""
        least = min(LEAST_HEARD_S, item.samples / self.design.sample_rate) - SLACK_S
        told = []
        for label in self.design.labels:
            seconds = heard.get(label) if isinstance(heard, dict) else None
            if type(seconds) not in (int, float) or not least <= seconds < A_DAY_S:
                raise Refusal(400, "Listen to every clip before you vote.")
            told.append(f"{label} {seconds:.1f}")
        return " ".join(told)


def votes_path(folder: Path, session: str) -> Path:
    """Where a session's votes are written."""
    return folder / f"votes-{session}.csv"


def start_path(folder: Path, session: str) -> Path:
    """Where it is written who began a session, and when."""
    return folder / f"start-{session}.json"


def read_start(folder: Path, session: str) -> Start:
    """Who began it, and when; a session without a whole file for that is nobody's."""
    try:
        content = start_path(folder, session).read_bytes()
        return TypeAdapter(Start).validate_json(content, strict=True)
    except (OSError, ValidationError):
        return Start(session, "")


def now() -> str:
    """UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """For who adds to a test: one at a time of all servers over the folder. A fault of the disk
    is a refusal."""
    try:
        with FileLock(folder / "lock", timeout=PATIENCE_S, poll_interval=0.01):
            yield
    except OSError as error:
        reason = error.strerror or "another server holds the folder"
        raise Refusal(503, f"This could not be saved ({reason}): try again.") from error


def _read(path: Path) -> np.ndarray:
    try:
        return soundfile.read(path)[0]
    except (OSError, soundfile.SoundFileError) as error:
        raise ForespeakError("A clip of this test is damaged: prepare it again.") from error
