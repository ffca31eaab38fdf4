"""What a count of votes says, by the binomial law. Pure functions.

ABX: right answers of all, tested one-sided against guessing. AB: votes for the first way of those
for either, tested two-sided; votes for neither are counted apart.

Pooled, AB takes the pair of clips as its unit, and what most listeners prefer of it: by chance one
take is nicer than the other, all who hear them agree on that, and so their votes are no independent
evidence on the ways. In ABX it is a coin of its own for every answer whether A or B is right:
answers of many listeners to one pair are independent as long as they guess.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from scipy.stats import beta, binom, binomtest

from app.listen.ballots import Ballot
from app.listen.design import ABX

LEVEL = 0.05  # of significance
CONFIDENCE = 0.95
POWER = 0.8
CHANCE = 0.5
ANSWERS, VOTES, PAIRS = "answers", "votes", "pairs of clips"  # units of a count


@dataclass(frozen=True)
class Count:
    """right: of `of`, in AB those for the first way; ties: for neither, not in `of`."""

    right: int
    of: int
    ties: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.right + other.right, self.of + other.of, self.ties + other.ties)


@dataclass(frozen=True)
class Verdict:
    """unit: what was counted; p: of so many or more by chance alone; interval: of the true share,
    Clopper-Pearson; detects: as `detectable` gives it."""

    kind: str
    count: Count
    unit: str
    p: float
    interval: tuple[float, float]
    detects: float | None

    @property
    def significant(self) -> bool:
        return self.p <= LEVEL


def judge_session(ballot: Ballot) -> Verdict:
    """Of one session."""
    kind = ballot.head.kind
    return judge(kind, count_votes(ballot), ANSWERS if kind == ABX else VOTES)


def judge_pooled(kind: str, ballots: Iterable[Ballot]) -> Verdict:
    """Of complete sessions of one test, each of another listener."""
    if kind == ABX:
        return judge(kind, sum(map(count_votes, ballots), Count(0, 0)), ANSWERS)
    return judge(kind, count_pairs(ballots), PAIRS)


def count_votes(ballot: Ballot) -> Count:
    """The votes of one session."""
    if ballot.head.kind == ABX:
        return Count(sum(bool(vote.correct) for vote in ballot.votes), len(ballot.votes))
    chosen = [vote.chosen for vote in ballot.votes]
    ties = chosen.count("")
    return Count(chosen.count(ballot.head.first), len(chosen) - ties, ties)


def count_pairs(ballots: Iterable[Ballot]) -> Count:
    """AB: pairs of clips of which most prefer the first way's; a pair without a majority is a
    tie."""
    lead: Counter[int] = Counter()
    for ballot in ballots:
        worth = {ballot.head.first: 1, ballot.head.second: -1, "": 0}
        for vote in ballot.votes:
            lead[vote.item] += worth[vote.chosen]
    first, second = (sum(sign * value > 0 for value in lead.values()) for sign in (1, -1))
    return Count(first, first + second, len(lead) - first - second)


def judge(kind: str, count: Count, unit: str) -> Verdict:
    """The exact test of a count."""
    if not count.of:
        return Verdict(kind, count, unit, 1.0, (0.0, 1.0), None)
    side = "greater" if kind == ABX else "two-sided"
    p = binomtest(count.right, count.of, CHANCE, side).pvalue
    both = binomtest(count.right, count.of, CHANCE).proportion_ci(CONFIDENCE, "exact")
    interval = float(both.low), float(both.high)
    return Verdict(kind, count, unit, float(p), interval, detectable(kind, count.of))


def critical(kind: str, of: int) -> int | None:
    """The smallest count that is significant; None if not even all of them are."""
    level = LEVEL if kind == ABX else LEVEL / 2
    right = int(binom.isf(level, of, CHANCE)) + 1  # the first with P(X >= right) <= level
    return right if right <= of else None


def detectable(kind: str, of: int) -> float | None:
    """The smallest true share, in whole percent, whose count is significant with probability
    POWER or more.

    In AB the other tail would add to the power of a share above one half: next to nothing.
    """
    right = critical(kind, of)
    if right is None:
        return None
    share = beta.ppf(POWER, right, of - right + 1)  # P(X >= right) as a function of the share
    return math.ceil(100 * share) / 100


def least_trials(kind: str) -> int:
    """So many trials must be there for any result to be significant."""
    return next(of for of in range(1, 100) if critical(kind, of) is not None)
