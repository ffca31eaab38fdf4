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


class Within:
    """Another window, cut where it would reach over a multiple of `span` tokens."""

    def __init__(self, window: Window, span: int):
        self._window = window
        self._span = span

    def gamma(self, position: int) -> int:
        return min(self._window.gamma(position), self._span - position % self._span - 1)

    def learn(self, round_: Round) -> None:
        self._window.learn(round_)


class Adaptive:
    """The γ that pays most, by the codebook at which the round begins.

    α of each codebook is estimated while speaking, c and v are measured beforehand. Over a whole
    run Σ tokens / Σ cost is greatest if each round maximises tokens - rate x cost, where rate is
    that very quotient: so a window grows as long as one more guess earns more than time earns
    elsewhere. Where no guess does, nothing is drafted. A codebook that no window reaches any
    more is probed now and then, as long as it could pay at all.
    """

    MEMORY = 200  # verdicts per codebook, and rounds, after which the past has faded
    # Verdicts that the first estimate counts for: a sentence has no more than a few dozen of each
    # codebook, and chance among the first ten would choose worse windows than it.
    TRUST = 40
    # Verdicts that an old estimate counts for in a probe; so many in a row can overthrow it.
    PROBE = 10
    MARGIN = 0.02  # of its tokens must a round gain for γ to change
    PATIENCE = 256  # rounds without a verdict on a codebook, after which it is probed

    def __init__(self, outlook: Outlook, num_codebooks: int):
        """outlook: v spans the windows to choose from; α is the first estimate."""
        self._outlook = outlook
        self._widest = outlook.widest
        self._accepted = [outlook.alpha * self.TRUST] * num_codebooks
        self._judged = [float(self.TRUST)] * num_codebooks
        self._rate = _Mean(outlook.speedup, self.MEMORY)
        self._gammas = [outlook.gamma] * num_codebooks
        self._unheard = [0] * num_codebooks  # rounds since the last verdict
        self._repeats = [0] * num_codebooks  # accepted probes in a row

    def gamma(self, position: int) -> int:
        """One more than pays, if nothing has been heard for long of the codebook behind."""
        codebook = position % len(self._gammas)
        gamma = self._gammas[codebook] = self._choose(codebook)
        behind = (position + gamma) % len(self._gammas)
        if self._unheard[behind] < self.PATIENCE or not self._could_pay(codebook, gamma):
            return gamma
        self._fade(behind, min(1.0, self.PROBE / self._judged[behind]))
        return gamma + 1

    def learn(self, round_: Round) -> None:
        """Rows behind the first that did not stand say nothing of α."""
        self._unheard = [rounds + 1 for rounds in self._unheard]
        chosen = self._gammas[round_.position % len(self._gammas)]
        for row in range(round_.tested):
            codebook = (round_.position + row) % len(self._gammas)
            self._fade(codebook, 1 - 1 / self.MEMORY)
            self._accepted[codebook] += row < round_.accepted
            self._judged[codebook] += 1
            # A probe that was accepted is repeated at once, but not for ever: that a guess is
            # right does not make it worth its cost.
            again = row == chosen < round_.accepted and self._repeats[codebook] < self.PROBE
            self._repeats[codebook] = self._repeats[codebook] + 1 if again else 0
            self._unheard[codebook] = self.PATIENCE if again else 0
        self._rate.add(len(round_.tokens), self._outlook.costs.of_round(len(round_.draft_tokens)))

    def _fade(self, codebook: int, share: float) -> None:
        """Let what is known of a codebook count for less."""
        self._accepted[codebook] *= share
        self._judged[codebook] *= share

    def _choose(self, codebook: int) -> int:
        """The best γ; the last one as long as it is nearly as good."""
        tokens = self._expected_tokens(codebook)
        gains = self._gains(tokens)
        last = self._gammas[codebook]
        best = max(range(len(gains)), key=gains.__getitem__)
        return best if gains[best] > gains[last] + self.MARGIN * tokens[last] else last

    def _could_pay(self, codebook: int, gamma: int) -> bool:
        """Whether a wider window would gain something if all further guesses were right."""
        tokens = self._expected_tokens(codebook)[: gamma + 1]
        reached = tokens[-1] - tokens[-2] if gamma else 1.0
        further = [tokens[-1] + reached * n for n in range(1, self._widest - gamma + 1)]
        gains = self._gains([*tokens, *further])
        return max(gains) > gains[gamma]

    def _gains(self, tokens: Sequence[float]) -> list[float]:
        """What a round of each γ from 0 earns more than its time would earn elsewhere."""
        return [
            count - self._rate.value * self._outlook.costs.of_round(gamma)
            for gamma, count in enumerate(tokens)
        ]

    def _expected_tokens(self, codebook: int) -> list[float]:
        """Tokens that a round from this codebook on emits, for γ from 0."""
        tokens, reached = [1.0], 1.0
        for row in range(self._widest):
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
