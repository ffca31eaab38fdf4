"""Votes as lines of a CSV file, which outlives a crash."""

import csv
import io
import os
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from app.listen.ballots import Ballot, Head, Vote, possible
from app.listen.design import ANSWERS, MOST_TRIALS
from core.errors import ForespeakError

HEAD = tuple(field.name for field in fields(Head))
VOTE = tuple(field.name for field in fields(Vote))
COLUMNS = (*HEAD, *VOTE, "correct")
# What a spreadsheet takes for a formula at a cell's start, and the sign that makes it a text.
FORMULA, QUOTE = ("=", "+", "-", "@", "\t"), "'"


def header() -> bytes:
    """The first line of every file of votes."""
    return _line(COLUMNS)


def row(head: Head, vote: Vote) -> bytes:
    """A line. No value of it has a line break."""
    return _line((*asdict(head).values(), *asdict(vote).values(), _correct(vote)))


def to_csv(ballots: Iterable[Ballot]) -> str:
    """A file with all of them."""
    lines = (row(ballot.head, vote) for ballot in ballots for vote in ballot.votes)
    return b"".join((header(), *lines)).decode()


def append(path: Path, line: bytes) -> None:
    """Add a line that is on the disk when this returns, in place of a torn one."""
    with path.open("r+b") as file:
        data = file.read()
        whole = len(whole_lines(data))
        if whole < len(data):
            file.truncate(whole)
        file.seek(whole)
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def whole_lines(data: bytes) -> bytes:
    """All but a line at the end that was being written when its writer died."""
    return data[: data.rfind(b"\n") + 1]


def from_saved(text: str) -> list[Ballot]:
    """The same as `from_csv`, but without a torn line at the end."""
    try:
        return from_csv(text)
    except ForespeakError:
        whole = text[: text.rfind("\n") + 1]
        if whole in ("", text):
            raise
        return from_csv(whole)


def from_csv(text: str) -> list[Ballot]:
    """The sessions of a file of votes, checked row by row. Raises ForespeakError."""
    rows = csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), strict=True)
    reader = _Reader()
    found: dict[str, tuple[Head, list[Vote]]] = {}
    try:
        if tuple(next(rows, ())) != COLUMNS:
            raise ForespeakError("This is not a file of votes: choose one that was saved here.")
        for values in filter(None, rows):
            head, vote = reader.read(values)
            known, votes = found.setdefault(head.session, (head, []))
            if known == head and vote in votes:
                raise ForespeakError(f"It has session {head.session} twice: give each file once.")
            if known != head or not possible(head, vote, votes):
                raise _Damage
            votes.append(vote)
    except (_Damage, ValidationError, csv.Error) as error:
        raise ForespeakError(
            f"Line {rows.line_num} of the votes has been changed or is damaged."
        ) from error
    return [Ballot(head, tuple(votes)) for head, votes in found.values()]


class _Damage(Exception):  # noqa: N818 - told as a ForespeakError, with the line
    pass


class _Reader:
    """Reads row after row."""

    def __init__(self) -> None:
        self._head, self._vote = TypeAdapter(Head), TypeAdapter(Vote)
        self._heads: dict[tuple[str, ...], Head] = {}  # most rows have one that is known

    def read(self, values: list[str]) -> tuple[Head, Vote]:
        if tuple(values) == COLUMNS:
            raise ForespeakError("It is several files in one: give each of them by itself.")
        if len(values) != len(COLUMNS):
            raise _Damage
        values = [value.removeprefix(QUOTE) for value in values]
        told = tuple(values[: len(HEAD)])
        if told not in self._heads:
            self._heads[told] = self._head.validate_python(dict(zip(HEAD, told, strict=True)))
        head = self._heads[told]
        vote = self._vote.validate_python(dict(zip(VOTE, values[len(HEAD) : -1], strict=True)))
        if (
            not 0 < head.trials <= MOST_TRIALS
            or vote.choice not in ANSWERS.get(head.kind, ())
            or values[-1] != _correct(vote)
        ):
            raise _Damage
        return head, vote


def _correct(vote: Vote) -> str:
    return "" if vote.correct is None else str(int(vote.correct))


def _line(values: Iterable[object]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow(map(_cell, values))
    return text.getvalue().encode()


def _cell(value: object) -> object:
    """A text is a text in every spreadsheet, and a truth is a number."""
    if isinstance(value, str) and value.startswith((*FORMULA, QUOTE)):
        return QUOTE + value
    return int(value) if isinstance(value, bool) else value
