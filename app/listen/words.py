"""A verdict in plain words: what was found, what it means, what could have been missed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.listen.design import ABX, Terms
from app.listen.verdict import CHANCE, CONFIDENCE, LEVEL, PAIRS, POWER, Verdict

NAMED = 10  # sessions that a sentence names


@dataclass(frozen=True)
class Pairs:
    """The pairs of clips that were judged. same: those whose two clips are one, sample for
    sample."""

    same: int
    of: int

    @property
    def all_same(self) -> bool:
        return self.same == self.of


@dataclass(frozen=True)
class Told:
    """finding: what answers the test's question; words: further sentences."""

    finding: str
    words: tuple[str, ...]
    significant: bool


def tell(verdict: Verdict, terms: Terms, pairs: Pairs) -> Told:
    """A verdict on some pairs."""
    counted = _counted(verdict, terms)
    if pairs.all_same:
        finding = (
            f"{counted} By chance alone: the two clips of every pair are the same, sample for "
            "sample."
        )
        return Told(finding, (), False)
    finding = _abx(verdict) if verdict.kind == ABX else _ab(verdict, terms)
    words = (counted, *_limits(verdict, terms), *_cautions(verdict, pairs))
    return Told(finding, words, verdict.significant)


def tell_pooled(verdict: Verdict, terms: Terms, pairs: Pairs, sessions: int) -> Told:
    """Of several finished sessions, each of another listener."""
    if not sessions:
        return Told("Nobody has finished the test yet: only finished sessions count.", (), False)
    told = tell(verdict, terms, pairs)
    words = [f"{sessions} finished {'session' if sessions == 1 else 'sessions'}, pooled."]
    words += told.words
    if verdict.unit == PAIRS:
        words.append(
            "Each pair of clips counts once, for what most listeners prefer of it: by chance one "
            "take is nicer than the other, and more listeners do not change that. More pairs do."
        )
    else:
        words.append(
            "The interval describes these listeners and clips, not all listeners and all clips."
        )
    words.append(
        "Decide beforehand how many listeners take the test: who stops as soon as a result looks "
        "good finds differences that are not there."
    )
    return Told(told.finding, tuple(words), told.significant)


def left_out(why: str, numbers: Sequence[int]) -> Iterable[str]:
    """A sentence on sessions that do not count; none where there are none."""
    if not numbers:
        return
    named = ", ".join(f"Session {number}" for number in numbers[:NAMED])
    more = f" and {len(numbers) - NAMED} more" if len(numbers) > NAMED else ""
    yield f"Not counted, because {why}: {named}{more}."


def percentage(p: float) -> str:
    """A probability in percent: 4.1%, less than 0.1%; never rounded across the level."""
    return "less than 0.1%" if p < 0.001 else f"{100 * p:.{_digits(100 * p, 100 * LEVEL, 1)}f}%"


def probability(p: float) -> str:
    """As a statistician writes it."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.{_digits(p, LEVEL, 3)}f}"


def _digits(value: float, level: float, digits: int) -> int:
    """So many that the rounded value is on the same side of the level."""
    while (round(value, digits) <= level) != (value <= level):
        digits += 1
    return digits


def _counted(verdict: Verdict, terms: Terms) -> str:
    count = verdict.count
    if verdict.kind == ABX:
        return f"{count.right} of {count.of} answers are right; guessing gives half on average."
    first, second = terms.first_title, terms.second_title
    if verdict.unit == PAIRS:
        undecided = f"; {count.ties} without a majority" if count.ties else ""
        return (
            f"Most listeners prefer {first} in {count.right} pairs of clips, {second} in "
            f"{count.of - count.right}{undecided}."
        )
    neither = f", and {count.ties} for neither" if count.ties else ""
    votes = "vote" if count.right == 1 else "votes"
    return f"{count.right} {votes} for {first}, {count.of - count.right} for {second}{neither}."


def _abx(verdict: Verdict) -> str:
    by_chance = f"guessing alone does so well or better in {percentage(verdict.p)} of all tests."
    if verdict.significant:
        return f"Significant: {by_chance} The two can be told apart."
    return f"Not significant: {by_chance} This does not show that the two are identical."


def _ab(verdict: Verdict, terms: Terms) -> str:
    count, by_chance = verdict.count, f"in {percentage(verdict.p)} of all tests"
    if not count.of:
        return f"Nobody preferred either: there is no majority in any of {count.ties} trials."
    if verdict.significant:
        liked = terms.first_title if count.right > count.of / 2 else terms.second_title
        return (
            f"Significant: without any preference so clear a result comes {by_chance}. {liked} is "
            "preferred."
        )
    return (
        f"Not significant: without any preference a result at least as clear comes {by_chance}. "
        "This does not show that the two are equally good."
    )


def _limits(verdict: Verdict, terms: Terms) -> Iterable[str]:
    """How sure the share is, and what so many votes could have found."""
    low, high = verdict.interval
    sure = f"with {CONFIDENCE:.0%} confidence between {low:.0%} and {high:.0%}"
    if verdict.kind == ABX:
        yield f"The true share of right answers is {sure}."
    elif verdict.count.of:
        yield f"The true share of {verdict.unit} for {terms.first_title} is {sure}."
    if verdict.kind == ABX and verdict.significant and low <= CHANCE:
        yield (
            "The interval looks to both sides and the test to one: so it can hold 50% although the "
            "result is significant."
        )
    if verdict.kind == ABX and high < CHANCE:
        yield "Fewer are right than guessing gives: were the answers swapped?"
    if verdict.detects is None:
        yield f"So few {verdict.unit} cannot be significant, whatever they are."
    elif not verdict.significant:
        yield (
            f"With {verdict.count.of} {verdict.unit} a true share of {verdict.detects:.0%} is "
            f"found at least {POWER:.0%} of the time; a smaller one is easily missed."
        )


def _cautions(verdict: Verdict, pairs: Pairs) -> Iterable[str]:
    """What the clips themselves leave open."""
    if pairs.same:
        yield (
            f"In {pairs.same} of {pairs.of} pairs the two clips are the same, sample for sample: "
            "nobody could tell these apart."
        )
    if verdict.kind == ABX:
        yield (
            "The two clips of a pair are different takes: they can be told apart even if nothing "
            "but chance differs between the two ways. Which way is better is a question for an AB "
            "test."
        )
