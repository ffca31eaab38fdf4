"""A verdict in plain words: what was found, what it means, what could have been missed."""

from collections.abc import Iterable

from app.listen.ballots import Head
from app.listen.design import ABX
from app.listen.verdict import CHANCE, POWER, Verdict
from app.listen.ways import all_ways, title_of


def sentences(verdict: Verdict, head: Head, same: bool = False) -> list[str]:
    """same: in every trial the two ways gave the same clip."""
    told = list(_abx(verdict) if verdict.kind == ABX else _ab(verdict, head))
    told += _limits(verdict)
    if same:
        told.append(
            "The two clips of every trial are the same, sample for sample: nobody could tell them "
            "apart."
        )
    elif verdict.kind == ABX and _both_exact(head):
        told.append(
            "Both ways draw from the same distribution, so their clips differ as two takes of one "
            "speaker do. Telling two takes apart is no sign of a fault: which one is preferred is "
            "the question for an AB test."
        )
    return told


def pooled_sentences(
    verdict: Verdict, head: Head, complete: int, begun: int, same: bool
) -> list[str]:
    """Of several listeners; the sessions that are not complete do not count."""
    if not complete:
        return ["Nobody has finished the test yet: only finished sessions count."]
    told = [f"{complete} finished {'session' if complete == 1 else 'sessions'}, pooled."]
    told += sentences(verdict, head, same)
    if begun > complete:
        told.append(f"Not counted, because not finished: {begun - complete}.")
    told.append(
        "Decide beforehand how many listeners take the test: who stops as soon as a result looks "
        "good finds differences that are not there."
    )
    return told


def _abx(verdict: Verdict) -> Iterable[str]:
    count = verdict.count
    yield f"{count.right} of {count.of} answers are right; guessing gives half of them on average."
    if verdict.significant:
        yield (
            f"Significant: guessing alone does so well or better in {chance(verdict.p)} of all "
            "tests. The two can be told apart."
        )
    else:
        yield (
            f"Not significant: guessing alone does so well or better in {chance(verdict.p)} of all "
            "tests. This does not show that the two are identical."
        )


def _ab(verdict: Verdict, head: Head) -> Iterable[str]:
    count = verdict.count
    first, second = title_of(head.first), title_of(head.second)
    neither = f", and {count.ties} for neither" if count.ties else ""
    yield f"{count.right} votes for {first}, {count.of - count.right} for {second}{neither}."
    if verdict.significant:
        liked = first if count.right > count.of / 2 else second
        yield (
            f"Significant: without any preference so clear a result comes in {chance(verdict.p)} "
            f"of all tests. {liked} is preferred."
        )
    else:
        yield (
            f"Not significant: without any preference a result at least as clear comes in "
            f"{chance(verdict.p)} of all tests. This does not show that the two are equally good."
        )


def _limits(verdict: Verdict) -> Iterable[str]:
    """How sure the share is, and what so many votes could have found."""
    low, high = verdict.interval
    share = "right answers" if verdict.kind == ABX else "votes for the first"
    yield f"The true share of {share} is between {low:.0%} and {high:.0%} (95% interval)."
    if verdict.significant and verdict.kind == ABX and low <= CHANCE:
        yield (
            "The interval looks to both sides and the test to one: so it can hold 50% although the "
            "result is significant."
        )
    if verdict.detects is None:
        yield "So few votes cannot be significant, whatever they are."
    elif not verdict.significant:
        yield (
            f"With {verdict.count.of} votes a true share of {verdict.detects:.0%} is found "
            f"{POWER:.0%} of the time; a smaller one is easily missed."
        )


def chance(p: float) -> str:
    """A probability in percent: 4.1%, less than 0.1%."""
    return "less than 0.1%" if p < 0.001 else f"{p:.1%}"


def _both_exact(head: Head) -> bool:
    ways = all_ways()
    return all(name in ways and ways[name].exact for name in (head.first, head.second))
