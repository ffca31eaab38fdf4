"""Ballots: what one listener answered in one session."""

from dataclasses import dataclass, fields

from app.listen.design import ABX, Design, Terms


@dataclass(frozen=True)
class Start:
    """listener: a word that a browser made up, to tell its sessions from those of others; begun:
    UTC."""

    listener: str
    begun: str


@dataclass(frozen=True)
class Head(Terms, Start):
    """What all rows of a session have in common. seed: what its assignments were drawn with."""

    session: str
    trials: int
    seed: str


@dataclass(frozen=True)
class Vote:
    """One trial's answer. trial and item count from 0; first_clip, second_clip: files of the ways;
    same: whether these are the same, sample for sample; a, b, x: which way each clip was made (x:
    empty in AB); heard_s: seconds of each clip, as "A 1.2 B 3.0"; at: UTC."""

    trial: int
    item: int
    text: str
    clip_seed: int
    first_clip: str
    second_clip: str
    same: bool
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
    """A session's votes so far, in the order of its trials; damage: why they cannot be read."""

    head: Head
    votes: tuple[Vote, ...]
    damage: str = ""

    @property
    def complete(self) -> bool:
        return len(self.votes) == self.head.trials


def head_of(design: Design, start: Start, session: str, seed: str) -> Head:
    """Of one of the test's sessions."""
    terms = {field.name: getattr(design, field.name) for field in fields(Terms)}
    return Head(**terms, **vars(start), session=session, trials=design.trials, seed=seed)


def shared_head(design: Design) -> Head:
    """What all of a test's sessions have in common."""
    return head_of(design, Start("", ""), "", "")


def possible(head: Head, vote: Vote, before: list[Vote]) -> bool:
    """Whether the vote can follow those before it."""
    pair = {head.first, head.second}
    return (
        vote.trial == len(before) < head.trials
        and 0 <= vote.item < head.trials
        and all(vote.item != other.item for other in before)
        and len(pair) == 2
        and {vote.a, vote.b} == pair
        and (vote.x in pair if head.kind == ABX else not vote.x)
    )
