"""Results as the page shows them: of one session, and of many pooled."""

from collections.abc import Sequence
from typing import Any

from app.listen.ballots import Ballot, Head, from_csv
from app.listen.figure import render
from app.listen.verdict import Count, Verdict, count, judge
from app.listen.ways import title_of
from app.listen.words import pooled_sentences, sentences
from core.errors import ForespeakError

ALL = "all"  # listeners together
OWN = ("test", "session", "seed")  # of a head: what two sessions of the same test may differ in


def session_result(ballot: Ballot, same: bool) -> dict[str, Any]:
    """Of one listener, everything revealed. same: the two ways gave the same clips."""
    verdict = judge(ballot.head.kind, count(ballot))
    rows = [
        {
            "trial": vote.trial,
            "text": vote.text,
            "a": vote.a,
            "b": vote.b,
            "x": vote.x or None,
            "choice": vote.choice,
            "correct": vote.correct,
        }
        for vote in ballot.votes
    ]
    return {
        **_result(verdict, ballot.head, sentences(verdict, ballot.head, same)),
        "figure": render(ballot.head, {"this session": verdict}, "svg").decode(),
        "rows": rows,
    }


def pooled_result(head: Head, ballots: Sequence[Ballot], same: bool = False) -> dict[str, Any]:
    """Of all complete sessions together; the others are named. head: of any of them."""
    judged = verdicts(head, ballots)
    complete = len(judged) - 1
    words = pooled_sentences(judged[ALL], head, complete, len(ballots), same)
    return {
        "sessions": [_row(ballot) for ballot in ballots],
        "pooled": _result(judged[ALL], head, words),
        "figure": render(head, judged, "svg").decode(),
    }


def verdicts(head: Head, ballots: Sequence[Ballot]) -> dict[str, Verdict]:
    """By listener, in order, and of all together: complete sessions only."""
    counts = [count(ballot) for ballot in ballots if ballot.complete]
    found = {f"listener {n}": judge(head.kind, one) for n, one in enumerate(counts, 1)}
    return found | {ALL: judge(head.kind, sum(counts, Count(0, 0)))}


def from_files(files: Sequence[str]) -> list[Ballot]:
    """The sessions of several files of one test. Raises where they do not belong together."""
    ballots: dict[str, Ballot] = {}
    for number, text in enumerate(files, 1):
        try:
            found = from_csv(text)
        except ForespeakError as error:
            raise ForespeakError(f"File {number}: {error}") from error
        for ballot in found:
            if ballot.head.session in ballots:
                raise ForespeakError(
                    f"File {number} has session {ballot.head.session} again: give each file once."
                )
            ballots[ballot.head.session] = ballot
    if not ballots:
        raise ForespeakError("There are no votes in these files.")
    check_alike(list(ballots.values()))
    return list(ballots.values())


def check_alike(ballots: Sequence[Ballot]) -> None:
    """Raise unless all are of one test: the same ways, settings, texts and seeds."""
    first = _design(ballots[0].head)
    items: dict[int, tuple[str, int]] = {}
    for ballot in ballots:
        design = _design(ballot.head)
        for name, value in design.items():
            if value != first[name]:
                raise ForespeakError(
                    f"These are votes of different tests ({name}: {first[name]} and {value}): "
                    "pool one test at a time."
                )
        for vote in ballot.votes:
            if items.setdefault(vote.item, (vote.text, vote.clip_seed)) != (
                vote.text,
                vote.clip_seed,
            ):
                raise ForespeakError(
                    "These are votes of different tests (other texts or seeds): pool one test at "
                    "a time."
                )


def _design(head: Head) -> dict[str, Any]:
    return {name: value for name, value in vars(head).items() if name not in OWN}


def _row(ballot: Ballot) -> dict[str, Any]:
    """A listener's line; of who has not finished only how far they are."""
    head = {
        "session": ballot.head.session,
        "done": ballot.complete,
        "votes": len(ballot.votes),
        "trials": ballot.head.trials,
    }
    if not ballot.complete:
        return head | {"right": None, "of": None, "ties": None, "p": None}
    verdict = judge(ballot.head.kind, count(ballot))
    return head | vars(verdict.count) | {"p": verdict.p}


def _result(verdict: Verdict, head: Head, words: list[str]) -> dict[str, Any]:
    return {
        "words": words,
        "kind": verdict.kind,
        "pair": {
            "first": {"name": head.first, "title": title_of(head.first)},
            "second": {"name": head.second, "title": title_of(head.second)},
        },
        **vars(verdict.count),
        "p": verdict.p,
        "interval": verdict.interval,
        "detects": verdict.detects,
    }
