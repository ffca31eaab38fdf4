"""Which sessions belong together, and which of them count."""

from collections.abc import Iterable, Sequence
from typing import Any

from app.listen.ballots import Ballot, Head, Vote
from app.listen.votes_csv import from_saved
from app.listen.words import Pairs
from core.errors import ForespeakError

MOST_FILES, MOST_VOTES = 1000, 100_000
# Of a head: what two sessions of the same test may differ in.
OWN = ("listener", "begun", "test", "session", "seed")


def from_files(files: Sequence[str]) -> list[Ballot]:
    """The sessions of several files of one test, in the order in which they began. Raises where
    they do not belong together."""
    if len(files) > MOST_FILES:
        raise ForespeakError(f"These are {len(files)} files: give at most {MOST_FILES}.")
    ballots: dict[str, Ballot] = {}
    votes = 0
    for number, text in enumerate(files, 1):
        for ballot in _read(text, number):
            if ballot.head.session in ballots:
                raise ForespeakError(
                    f"File {number} has session {ballot.head.session} again: give each file once."
                )
            ballots[ballot.head.session] = ballot
            votes += len(ballot.votes)
        if votes > MOST_VOTES:
            raise ForespeakError(f"These are more than {MOST_VOTES} votes: give fewer files.")
    if not ballots:
        raise ForespeakError("There are no votes in these files.")
    _check_alike(list(ballots.values()))
    return sorted(ballots.values(), key=lambda ballot: ballot.head.begun)


def counted(ballots: Sequence[Ballot]) -> list[Ballot]:
    """The session that each listener completed first: who hears a test again knows it."""
    first: dict[str, Ballot] = {}
    for ballot in sorted(filter(_complete, ballots), key=lambda ballot: ballot.votes[-1].at):
        first.setdefault(ballot.head.listener, ballot)
    return [ballot for ballot in ballots if first.get(ballot.head.listener) is ballot]


def pairs_of(ballots: Iterable[Ballot]) -> Pairs:
    """The pairs of clips that were heard."""
    same = {vote.item: vote.same for ballot in ballots for vote in ballot.votes}
    return Pairs(sum(same.values()), len(same))


def _complete(ballot: Ballot) -> bool:
    return ballot.complete


def _read(text: str, number: int) -> list[Ballot]:
    try:
        text.encode()  # what JSON lets through is not all text
        return from_saved(text)
    except UnicodeEncodeError as error:
        raise ForespeakError(f"File {number} is not in UTF-8: choose a file of votes.") from error
    except ForespeakError as error:
        raise ForespeakError(f"File {number}: {error}") from error


def _check_alike(ballots: Sequence[Ballot]) -> None:
    """Raise unless all are of one test: the same ways, settings, texts and seeds."""
    first = _design(ballots[0].head)
    items: dict[int, tuple[Any, ...]] = {}
    for ballot in ballots:
        for name, value in _design(ballot.head).items():
            if value != first[name]:
                raise ForespeakError(
                    f"These are votes of different tests ({name}: {first[name]} and {value}): "
                    "pool one test at a time."
                )
        for vote in ballot.votes:
            if items.setdefault(vote.item, _item(vote)) != _item(vote):
                raise ForespeakError(
                    "These are votes of different tests (other texts, seeds or clips): pool one "
                    "test at a time."
                )


def _design(head: Head) -> dict[str, Any]:
    return {name: value for name, value in vars(head).items() if name not in OWN}


def _item(vote: Vote) -> tuple[Any, ...]:
    return vote.text, vote.clip_seed, vote.same
