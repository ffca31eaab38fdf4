"""Ballots: what one listener answered, as rows of a CSV file that outlives a crash."""

import csv
import io
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from app.listen.design import ABX, CHOICES, Design, Terms
from core.errors import ForespeakError


@dataclass(frozen=True)
class Head(Terms):
    """What all rows of a session have in common. seed: what its assignments were drawn with."""

    session: str
    trials: int
    seed: str


@dataclass(frozen=True)
class Vote:
    """One trial's answer. trial and item count from 0; a, b, x: which way each clip was made
    (x: empty in AB); heard_s: seconds of each clip, as "A 1.2 B 3.0"; at: UTC."""

    trial: int
    item: int
    text: str
    clip_seed: int
    a: str
    b: str
    x: str
    choice: str
    heard_s: str
    at: str

    @property
    def chosen(self) -> str:
        """The way that was pointed at; empty for neither."""
        return {"A": self.a, "B": self.b}.get(self.choice, "")

    @property
    def correct(self) -> bool | None:
        """In ABX."""
        return self.chosen == self.x if self.x else None


@dataclass(frozen=True)
class Ballot:
    """A session's votes so far, in the order of its trials."""

    head: Head
    votes: tuple[Vote, ...]

    @property
    def complete(self) -> bool:
        return len(self.votes) == self.head.trials

    @property
    def begun(self) -> str:
        """When the first vote was given, UTC; after all others if there is none."""
        return self.votes[0].at if self.votes else "never"


HEAD = tuple(field.name for field in fields(Head))
VOTE = tuple(field.name for field in fields(Vote))
COLUMNS = (*HEAD, *VOTE, "correct")


def head_of(design: Design, session: str = "", seed: str = "") -> Head:
    """Of one of the test's sessions; or, without one, what all of them share."""
    terms = {field.name: getattr(design, field.name) for field in fields(Terms)}
    return Head(**terms, session=session, trials=design.trials, seed=seed)


def header() -> bytes:
    """The first line of every file of votes."""
    return _line(COLUMNS)


def row(head: Head, vote: Vote) -> bytes:
    """A line. No value of it has a line break."""
    correct = "" if vote.correct is None else int(vote.correct)
    return _line((*asdict(head).values(), *asdict(vote).values(), correct))


def to_csv(ballots: Iterable[Ballot]) -> str:
    """A file with all of them."""
    lines = (row(ballot.head, vote) for ballot in ballots for vote in ballot.votes)
    return b"".join((header(), *lines)).decode()


def append(path: Path, line: bytes) -> None:
    """Add a line that is on the disk when this returns, in place of a torn one."""
    with path.open("r+b") as file:
        file.truncate(len(whole_lines(file.read())))
        file.seek(0, os.SEEK_END)
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def whole_lines(data: bytes) -> bytes:
    """All but a line at the end that was being written when its writer died."""
    return data[: data.rfind(b"\n") + 1]


def from_csv(text: str) -> list[Ballot]:
    """The sessions of a file of votes, checked row by row. Raises ForespeakError."""
    rows = csv.DictReader(io.StringIO(text.lstrip("\ufeff"), newline=""), strict=True)
    heads, votes = TypeAdapter(Head), TypeAdapter(Vote)
    found: dict[str, Ballot] = {}
    try:
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise ForespeakError("This is not a file of votes: choose one that was saved here.")
        for values in rows:
            head = heads.validate_python({name: values[name] for name in HEAD})
            vote = votes.validate_python({name: values[name] for name in VOTE})
            before = found.get(head.session, Ballot(head, ()))
            found[head.session] = Ballot(head, (*before.votes, vote))
            if head != before.head or not _possible(head, vote, len(before.votes)):
                raise damaged(rows.line_num)
    except (ValidationError, csv.Error) as error:
        raise damaged(rows.line_num) from error
    return list(found.values())


def damaged(line: int) -> ForespeakError:
    return ForespeakError(f"Line {line} of the votes has been changed or is damaged.")


def _possible(head: Head, vote: Vote, trial: int) -> bool:
    """Whether the vote can be that of trial number `trial`."""
    pair = {head.first, head.second}
    return (
        vote.trial == trial < head.trials
        and vote.choice in CHOICES.get(head.kind, ())
        and len(pair) == 2
        and {vote.a, vote.b} == pair
        and (vote.x in pair if head.kind == ABX else not vote.x)
    )


def _line(values: Iterable[object]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue().encode()
