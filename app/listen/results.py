"""Results as the page shows them: of one session, and of many pooled."""

from collections.abc import Sequence
from typing import Any

from app.listen.ballots import Ballot, Head
from app.listen.figure import render
from app.listen.pooling import counted, pairs_of
from app.listen.verdict import Verdict, count_votes, judge_pooled, judge_session
from app.listen.words import Told, left_out, tell, tell_pooled

ALL = "all"  # sessions together


def session_result(ballot: Ballot) -> dict[str, Any]:
    """Of one session, everything revealed."""
    verdict = judge_session(ballot)
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
    told = tell(verdict, ballot.head, pairs_of([ballot]))
    return {
        **_result(verdict, ballot.head, told),
        "figure": render(ballot.head, {"this session": verdict}, "svg").decode(),
        "rows": rows,
    }


def pooled_result(head: Head, ballots: Sequence[Ballot]) -> dict[str, Any]:
    """Of all sessions that count together; the others are named. head: of any of them; ballots:
    numbered as they are here."""
    judged = verdicts(head, ballots)
    ours = counted(ballots)
    names = {ballot.head.session for ballot in ours}
    told = tell_pooled(judged[ALL], head, pairs_of(ours), len(ours))
    result = _result(judged[ALL], head, told)
    result["words"] += _left_out(ballots, names)
    return {
        "sessions": [_row(ballot, ballot.head.session in names) for ballot in ballots],
        "pooled": result,
        "figure": render(head, judged, "svg").decode(),
    }


def verdicts(head: Head, ballots: Sequence[Ballot]) -> dict[str, Verdict]:
    """By session, in order, and of all together: those that count only."""
    ours = counted(ballots)
    numbers = {ballot.head.session: number for number, ballot in enumerate(ballots, 1)}
    found = {f"session {numbers[b.head.session]}": judge_session(b) for b in ours}
    return found | {ALL: judge_pooled(head.kind, ours)}


def _left_out(ballots: Sequence[Ballot], names: set[str]) -> list[str]:
    """On every session that does not count, why. names: of those that do."""
    numbered = list(enumerate(ballots, 1))
    again = [n for n, b in numbered if b.complete and b.head.session not in names]
    unfinished = [n for n, b in numbered if not (b.complete or b.damage)]
    return [
        *left_out("not finished", unfinished),
        *left_out("the same listener had finished before", again),
        *(f"Session {n} does not count. {b.damage}" for n, b in numbered if b.damage),
    ]


def _row(ballot: Ballot, counts: bool) -> dict[str, Any]:
    """A session's line; of one that is not finished only how far it is. No p: of many sessions
    some have a small one by chance."""
    row = {
        "session": ballot.head.session,
        "done": ballot.complete,
        "counts": counts,
        "votes": len(ballot.votes),
        "trials": ballot.head.trials,
    }
    if not ballot.complete:
        return row | {"right": None, "of": None, "ties": None}
    return row | vars(count_votes(ballot))


def _result(verdict: Verdict, head: Head, told: Told) -> dict[str, Any]:
    return {
        "finding": told.finding,
        "words": list(told.words),
        "significant": told.significant,
        "kind": verdict.kind,
        "pair": {
            "first": {"name": head.first, "title": head.first_title},
            "second": {"name": head.second, "title": head.second_title},
        },
        "unit": verdict.unit,
        **vars(verdict.count),
        "p": verdict.p,
        "interval": verdict.interval,
        "detects": verdict.detects,
    }
