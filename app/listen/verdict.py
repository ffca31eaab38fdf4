"""What a count of votes says, by the binomial law. Pure functions.

ABX: right answers of all, tested one-sided against guessing. AB: votes for the first way of those
for either, tested two-sided; votes for neither are counted apart.
"""

from dataclasses import dataclass

from scipy.stats import beta, binom, binomtest

from app.listen.ballots import Ballot
from app.listen.design import ABX

LEVEL = 0.05  # of significance
CONFIDENCE = 0.95
POWER = 0.8
CHANCE = 0.5


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
    """p: of so many or more by chance alone; interval: of the true share, Clopper-Pearson;
    detects: the smallest true share that this many votes find with probability POWER."""

    kind: str
    count: Count
    p: float
    interval: tuple[float, float]
    detects: float | None

    @property
    def significant(self) -> bool:
        return self.p <= LEVEL


def count(ballot: Ballot) -> Count:
    """The votes of one session."""
    if ballot.head.kind == ABX:
        return Count(sum(bool(vote.correct) for vote in ballot.votes), len(ballot.votes))
    chosen = [vote.chosen for vote in ballot.votes]
    ties = chosen.count("")
    return Count(chosen.count(ballot.head.first), len(chosen) - ties, ties)


def judge(kind: str, count: Count) -> Verdict:
    """The exact test of a count."""
    if not count.of:
        return Verdict(kind, count, 1.0, (0.0, 1.0), None)
    side = "greater" if kind == ABX else "two-sided"
    p = binomtest(count.right, count.of, CHANCE, side).pvalue
    both = binomtest(count.right, count.of, CHANCE).proportion_ci(CONFIDENCE, "exact")
    interval = float(both.low), float(both.high)
    return Verdict(kind, count, float(p), interval, detectable(kind, count.of))


def critical(kind: str, of: int) -> int | None:
    """The smallest count that is significant; None if not even all of them are."""
    level = LEVEL if kind == ABX else LEVEL / 2
    right = int(binom.isf(level, of, CHANCE)) + 1  # the first with P(X >= right) <= level
    return right if right <= of else None


def detectable(kind: str, of: int) -> float | None:
    """The true share whose count is significant with probability POWER.

    In AB the other tail would add to the power of a share above one half: next to nothing.
    """
    right = critical(kind, of)
    if right is None:
        return None
    return float(beta.ppf(POWER, right, of - right + 1))  # P(X >= right) as a function of the share


def least_trials(kind: str) -> int:
    """So many trials must be there for any result to be significant."""
    return next(of for of in range(1, 100) if critical(kind, of) is not None)
