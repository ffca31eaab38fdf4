"""The speed-up that α, c and v predict."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate
from statistics import median


@dataclass(frozen=True)
class Costs:
    """In units of a one-token target pass: c, and v by pass width from 1.

    A target pass is `forward` and `probs`. A draft step is a whole `propose`, drawing included,
    over γ: the mean of steps as they are in use. After full acceptance the first of them takes
    in two tokens, and counts as often as that happened in the run.
    """

    c: float
    v: tuple[float, ...]

    @classmethod
    def typical(cls, samples: Iterable["Costs"]) -> "Costs":
        """Medians. A wider pass never counts as cheaper: that is noise, which would choose γ."""
        c, v = zip(*((sample.c, sample.v) for sample in samples), strict=True)
        return cls(median(c), tuple(accumulate(map(median, zip(*v, strict=True)), max)))

    def of_round(self, gamma: int) -> float:
        """A round that drafts gamma tokens, and verifies them."""
        return gamma * self.c + self.v[gamma]

    def within(self, gamma: int) -> "Costs":
        """The same for a shorter window."""
        return replace(self, v=self.v[: gamma + 1])


def predict_speedup(alpha: float, costs: Costs) -> float:
    """E / (γ c + v(γ + 1)), with E = 1 + α + ... + α^γ tokens per round (arXiv 2211.17192).

    It takes acceptance at one place to be independent of the next; γ is what v spans.
    """
    gamma = len(costs.v) - 1
    tokens = sum(alpha**i for i in range(gamma + 1))
    return tokens / costs.of_round(gamma)


def best_window(alpha: float, costs: Costs) -> int:
    """The γ, from 1 to what v spans, whose predicted speed-up is greatest."""
    windows = range(1, len(costs.v))
    return max(windows, key=lambda gamma: predict_speedup(alpha, costs.within(gamma)))


@dataclass(frozen=True)
class Outlook:
    """What drafting yields and costs with one voice on one computer; v goes up to LONGEST + 1."""

    alpha: float
    costs: Costs

    @property
    def widest(self) -> int:
        """The greatest γ whose cost is known."""
        return len(self.costs.v) - 1

    @property
    def gamma(self) -> int:
        """The best γ."""
        return best_window(self.alpha, self.costs)

    @property
    def speedup(self) -> float:
        """What is predicted for it."""
        return predict_speedup(self.alpha, self.costs.within(self.gamma))

    def within(self, gamma: int) -> "Outlook":
        """The same for windows up to gamma."""
        return replace(self, costs=self.costs.within(gamma))
