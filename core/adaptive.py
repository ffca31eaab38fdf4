"""How many tokens each round drafts: always as many, or as many as pay where the round begins."""

from collections.abc import Sequence
from typing import Protocol

from core.speedup import Outlook
from core.trace import Round


class Window(Protocol):
    """Decides γ round by round, before anything is drafted.

    From emitted tokens and past verdicts only: a decision that looked at the drafted tokens
    themselves, as when unlikely ones are dropped, would bias what is emitted.
    """

    def gamma(self, position: int) -> int:
        """Tokens to draft in the round whose first token is `position`."""

    def learn(self, round_: Round) -> None:
        """Take note of a round that is over."""


class Fixed:
    """The same γ in every round."""

    def __init__(self, gamma: int):
        self._gamma = gamma

    def gamma(self, position: int) -> int:  # noqa: ARG002
        return self._gamma

    def learn(self, round_: Round) -> None:
        pass


class Adaptive:
    """The γ that pays most, by the codebook at which the round begins.

    α of each codebook is estimated while speaking, c and v are measured beforehand. Over a whole
    run Σ tokens / Σ cost is greatest if each round maximises tokens - rate x cost, where rate is
    that very quotient: so a window grows as long as one more guess earns more than time earns
    elsewhere. Where no guess does, nothing is drafted, but for a short probe now and then.
    """

    MEMORY = 100  # verdicts per codebook, and rounds, after which the past has faded
    TRUST = 10  # verdicts that the outlook counts for, at the beginning
    MARGIN = 0.02  # of its tokens must a round gain for γ to change
    PROBE_EVERY = 32  # rounds that drafted nothing
    PROBE = 1  # tokens

    def __init__(self, outlook: Outlook, num_codebooks: int):
        """outlook: v spans the windows to choose from; α is the first estimate."""
        self._outlook = outlook
        self._accepted = [outlook.alpha * self.TRUST] * num_codebooks
        self._judged = [float(self.TRUST)] * num_codebooks
        self._rate = _Mean(outlook.speedup, self.MEMORY)
        self._gammas = [outlook.gamma] * num_codebooks
        self._idle = [0] * num_codebooks

    def gamma(self, position: int) -> int:
        codebook = position % len(self._gammas)
        gamma = self._gammas[codebook] = self._choose(codebook)
        self._idle[codebook] = 0 if gamma else self._idle[codebook] + 1
        if self._idle[codebook] == self.PROBE_EVERY:
            self._idle[codebook] = 0
            return self.PROBE
        return gamma

    def learn(self, round_: Round) -> None:
        """Rows after a rejection were never judged: they say nothing of α."""
        for row in range(round_.tested):
            codebook = (round_.position + row) % len(self._gammas)
            fade = 1 - 1 / self.MEMORY
            self._accepted[codebook] = fade * self._accepted[codebook] + (row < round_.accepted)
            self._judged[codebook] = fade * self._judged[codebook] + 1
        self._rate.add(len(round_.tokens), self._outlook.costs.of_round(len(round_.draft_tokens)))

    def _choose(self, codebook: int) -> int:
        """The best γ; the last one as long as it is nearly as good."""
        tokens = self._expected_tokens(codebook)
        gains = [
            count - self._rate.value * self._outlook.costs.of_round(gamma)
            for gamma, count in enumerate(tokens)
        ]
        last = self._gammas[codebook]
        best = max(range(len(gains)), key=gains.__getitem__)
        return best if gains[best] > gains[last] + self.MARGIN * tokens[last] else last

    def _expected_tokens(self, codebook: int) -> Sequence[float]:
        """Tokens that a round from this codebook on emits, for γ from 0."""
        tokens, reached = [1.0], 1.0
        for row in range(len(self._outlook.costs.v) - 1):
            q = (codebook + row) % len(self._gammas)
            reached *= self._accepted[q] / self._judged[q]
            tokens.append(tokens[-1] + reached)
        return tokens


class _Mean:
    """A quotient of sums that forgets."""

    def __init__(self, value: float, memory: int):
        self._memory = memory
        self._over, self._under = value * memory, float(memory)

    @property
    def value(self) -> float:
        return self._over / self._under

    def add(self, over: float, under: float) -> None:
        fade = 1 - 1 / self._memory
        self._over = fade * self._over + over
        self._under = fade * self._under + under
