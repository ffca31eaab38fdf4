"""Sessions: one listener takes a test."""

import hmac
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import soundfile

from app.listen.ballots import Ballot, Head, Vote, append, from_csv, head_of, row, whole_lines
from app.listen.clips import dithered
from app.listen.design import ABX, CHOICES, Design, Item
from app.listen.refusals import Refusal
from core.errors import ForespeakError

LEAST_HEARD_S = 1.0  # of each clip before a vote counts
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

    def __init__(self, design: Design, token: str, folder: Path, writing: Lock):
        """folder: of the test; writing: held by whoever adds a vote."""
        self.token = token
        self.design = design
        self._folder = folder
        self._writing = writing
        self._votes = votes_path(folder, token)
        self._seed = seed_of(design, token)
        self._trials = draw(design, self._seed)

    def ballot(self) -> Ballot:
        """What has been answered so far."""
        try:
            ballots = from_csv(whole_lines(self._votes.read_bytes()).decode())
        except ForespeakError as error:
            raise ForespeakError(f"The file {self._votes.name} is damaged: {error}") from error
        return ballots[0] if ballots else Ballot(self._head(), ())

    def state(self) -> dict[str, Any]:
        """Where the session stands; trial counts from 0, None after the last one."""
        done = len(self.ballot().votes)
        trials = self.design.trials
        return {
            "test": self.design.test,
            "kind": self.design.kind,
            "trial": done if done < trials else None,
            "trials": trials,
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
            way: _read(self._folder / name)
            for way, name in zip((self.design.first, self.design.second), item.clips, strict=True)
        }
        ways = dict(zip(self.design.labels, (trial.a, trial.b, trial.x), strict=False))
        return number, {label: dithered(sounds[way], rng) for label, way in ways.items()}

    def vote(self, number: object, choice: object, heard: object) -> None:
        """Write the vote down, unless that trial has one: it is on the disk when this returns."""
        with self._writing:
            done = len(self.ballot().votes)
            if type(number) is not int or number < 0:  # True is an int, too
                raise Refusal(400, "A vote names its trial by number.")
            if number < done:
                return  # the answer to a first attempt was lost: the vote was not
            if number > done or done == self.design.trials:
                raise Refusal(409, "That trial is not open: load the page again.")
            line = row(self._head(), self._judged(number, choice, heard))
            try:
                append(self._votes, line)
            except OSError as error:
                reason = f"The vote could not be saved ({error.strerror}): try again."
                raise Refusal(503, reason) from error

    def _judged(self, number: int, choice: object, heard: object) -> Vote:
        """The vote, if the choice is one and enough was heard."""
        if choice not in CHOICES[self.design.kind]:
            raise Refusal(400, f"Choose one of {', '.join(CHOICES[self.design.kind])}.")
        trial = self._trials[number]
        item = self.design.items[trial.item]
        return Vote(
            trial=number,
            item=trial.item,
            text=item.text,
            clip_seed=item.seed,
            a=trial.a,
            b=trial.b,
            x=trial.x,
            choice=choice,
            heard_s=self._heard(heard, item),
            at=datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        )

    def _heard(self, heard: object, item: Item) -> str:
        """How much of each clip was heard, in words; raises unless it was enough."""
        least = min(LEAST_HEARD_S, item.samples / self.design.sample_rate) - SLACK_S
        told = []
        for label in self.design.labels:
            seconds = heard.get(label) if isinstance(heard, dict) else None
            if not isinstance(seconds, (int, float)) or not least <= seconds < A_DAY_S:
                raise Refusal(400, "Listen to every clip before you vote.")
            told.append(f"{label} {seconds:.1f}")
        return " ".join(told)

    def _head(self) -> Head:
        return head_of(self.design, self.token, self._seed)


def votes_path(folder: Path, session: str) -> Path:
    """Where a session's votes are written."""
    return folder / f"votes-{session}.csv"


def _read(path: Path) -> np.ndarray:
    try:
        return soundfile.read(path)[0]
    except (OSError, soundfile.SoundFileError) as error:
        raise ForespeakError("A clip of this test is damaged: prepare it again.") from error
