"""The speed-up that α, c and v predict."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate
from statistics import median


@dataclass(frozen=True)
class Costs:
    """In units of a one-token target pass: of proposals by γ from 0, and of passes by width from 1.

    A target pass is `forward`, `probs` and the rule's verdict; a proposal is `propose`, drawing
    included.
    """

    draft: tuple[float, ...]
    v: tuple[float, ...]

    @classmethod
    def steady(cls, c: float, v: tuple[float, ...]) -> "Costs":
        """Of a draft whose every step takes c."""
        return cls(tuple(c * gamma for gamma in range(len(v))), v)

    @property
    def c(self) -> float:
        """A draft step: the mean over the widest window, as arXiv 2211.17192 counts."""
        return self.draft[-1] / (len(self.draft) - 1)

    @classmethod
    def typical(cls, samples: Iterable["Costs"]) -> "Costs":
        """Medians. What does more never counts as cheaper: that is noise, which would choose γ."""
        samples = tuple(samples)
        return cls(_middle(s.draft for s in samples), _middle(s.v for s in samples))

    def of_round(self, gamma: int) -> float:
        """A round that drafts gamma tokens, and verifies them."""
        return self.draft[gamma] + self.v[gamma]

    def within(self, gamma: int) -> "Costs":
        """The same for a shorter window."""
        return Costs(self.draft[: gamma + 1], self.v[: gamma + 1])


def _middle(series: Iterable[tuple[float, ...]]) -> tuple[float, ...]:
    """Medians of each place, none less than the one before."""
    return tuple(accumulate(map(median, zip(*series, strict=True)), max))


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
