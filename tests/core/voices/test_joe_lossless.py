"""In mid-sentence the embedded voice says what its target would say, whoever drafts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from core.adaptive import Fixed
from core.decode import autoregressive, speculative
from core.drafters import Draft, Drafter, DraftModel, Draw, LanguageModel
from core.engine import Engine, Settings
from core.lm.runtime import DecoderState
from core.rules.exact import Verdict, accept_probability
from core.sampling import Draws, Noise, Sampling, probs
from core.verify import RULES, Rule

pytestmark = pytest.mark.voice

SENTENCE = "The quick brown fox jumps over the lazy dog."
SAMPLES = 12_000
FAR = 4  # spreads of the score; at 12,000 draws they are 1 % of total variation
SPOKEN = 100  # tokens before the place of the test: in mid-speech draft and target disagree more
LENGTH, GAMMA = 4, 2  # two rounds at least
SCORED = 3  # tokens whose joint distribution is compared


class Memo:
    """A `LanguageModel` that asks the real one once per prefix, so thousands of runs take seconds.

    It begins where the real one has taken in `spoken`.
    """

    def __init__(self, model: LanguageModel, spoken: Sequence[int] = ()):
        self._model = model
        self._spoken = tuple(spoken)
        self._rows = {(): model.forward(self._spoken)[-1]}
        self.rewind()

    def rewind(self) -> None:
        self.tokens: list[int] = []
        self.length = 0

    def rollback(self, length: int) -> None:
        self.length = length
        del self.tokens[max(0, length - 1) :]

    def forward(self, tokens: Sequence[int]) -> Tensor:
        first = self.length
        self.tokens += tokens
        self.length += len(tokens) + (first == 0)
        return torch.stack([self.row(self.tokens[:n]) for n in range(first, self.length)])

    def row(self, prefix: Sequence[int]) -> Tensor:
        """Logits after `prefix`."""
        key = tuple(prefix)
        if key not in self._rows:
            self._rows[key] = self.ask(key)
        return self._rows[key]

    def ask(self, key: tuple[int, ...]) -> Tensor:
        """The real one's answer."""
        self._model.rollback(len(self._spoken) + 1)
        return self._model.forward(key)[-1]


class MemoTarget(Memo):
    """One whose hidden states are remembered too; positions count from the sentence's start."""

    def __init__(self, model: DecoderState, spoken: Sequence[int]):
        super().__init__(model, spoken)
        self._model = model
        self._features: dict[tuple[int, ...], Tensor] = {}

    def ask(self, key: tuple[int, ...]) -> Tensor:
        logits = super().ask(key)
        self._features[key] = self._model.feature(len(self._spoken) + len(key)).clone()
        return logits

    def feature(self, position: int) -> Tensor:
        if position <= len(self._spoken):
            return self._model.feature(position)
        return self._features[tuple(self.tokens[: position - len(self._spoken)])]


class Continuing:
    """A drafter that knows what was spoken before the place of the test."""

    def __init__(self, drafter: Drafter, spoken: Sequence[int]):
        self._drafter = drafter
        self._spoken = list(spoken)

    def propose(self, tokens: Sequence[int], count: int, draw: Draw) -> Draft:
        return self._drafter.propose([*self._spoken, *tokens], count, draw)


class Place:
    """The embedded voice in the middle of a sentence."""

    def __init__(self, engine: Engine):
        self._engine = engine
        self._plan = engine.voice.plan(SENTENCE, 1.0)
        speaking = engine.voice.target(self._plan)
        rounds = autoregressive(speaking, SPOKEN, Sampling(), RULES["lossless"], Noise(5))
        self._spoken = [token for r in rounds for token in r.tokens]
        self.target = MemoTarget(engine.voice.target(self._plan), self._spoken)
        self._draft = Memo(engine.voice.draft(self._plan), self._spoken)
        self._others = {name: self._continuing(name) for name in ("feature", "heads", "ngram")}

    def drafter(self, name: str) -> Drafter:
        """It, and the target, where the sentence stands; only draft models hold a state."""
        self.target.rewind()
        self._draft.rewind()
        return self._others[name] if name in self._others else DraftModel(self._draft, Sampling())

    def _continuing(self, name: str) -> Drafter:
        drafter = self._engine.drafter(self._plan, self.target, Settings(draft=name))
        return Continuing(drafter, self._spoken)


@pytest.fixture(scope="module")
def place() -> Place:
    return Place(Engine.load("joe", "cpu"))


def sample(place: Place, rule: Rule, draft: str = "model") -> Counter:
    """How often the next SCORED tokens are these, over SAMPLES seeds."""
    counts: Counter = Counter()
    for seed in range(SAMPLES):
        noise, drafter = Noise(seed), place.drafter(draft)
        tokens: list[int] = []
        rounds = speculative(place.target, drafter, LENGTH, Fixed(GAMMA), Sampling(), rule, noise)
        while len(tokens) < SCORED:
            tokens += next(rounds).tokens
        counts[tuple(tokens[:SCORED])] += 1
    return counts


def sample_exactly(target: Memo, rng: np.random.Generator) -> Counter:
    """The same counts, drawn from the target's own probabilities by other means."""
    counts: Counter = Counter({(): SAMPLES})
    for _ in range(SCORED):
        longer: Counter = Counter()
        for prefix, count in counts.items():
            following = rng.multinomial(count, chances(target, prefix))
            for token in following.nonzero()[0].tolist():
                longer[(*prefix, token)] = int(following[token])
        counts = longer
    return counts


def chances(target: Memo, prefix: Sequence[int]) -> np.ndarray:
    """Of each token after `prefix`."""
    return probs(target.row(prefix).double(), Sampling()).numpy()


def total_variation(target: Memo, counts: Counter) -> float:
    """Distance between the counts and the target's exact joint distribution.

    Only what was seen can exceed its probability, and the excess is half of the difference.
    """
    excess = 0.0
    for tokens, count in counts.items():
        exact = 1.0
        for n, token in enumerate(tokens):
            exact *= float(chances(target, tokens[:n])[token])
        excess += max(0.0, count / SAMPLES - exact)
    return excess


def verify_without_residual(
    draft_tokens: Sequence[int], draft_probs: Tensor, target_probs: Tensor, rng: Draws
) -> Verdict:
    """A mutant: redraws from p where it should redraw from the residual."""
    for row, token in enumerate(draft_tokens):
        accept = accept_probability(float(target_probs[row, token]), float(draft_probs[row, token]))
        if not rng.accept(row, accept):
            return row, rng.resample(row, target_probs[row])
    return len(draft_tokens), rng.resample(len(draft_tokens), target_probs[len(draft_tokens)])


@pytest.fixture(scope="module")
def bracket(place: Place) -> tuple[float, float]:
    """What as many draws score by chance: mean and spread."""
    rng, target = np.random.default_rng(0), place.target
    scores = [total_variation(target, sample_exactly(target, rng)) for _ in range(30)]
    return float(np.mean(scores)), float(np.std(scores, ddof=1))


@pytest.mark.parametrize("draft", ["model", "feature", "heads", "ngram"])
@pytest.mark.parametrize("rule", [rule for rule in RULES.values() if rule.lossless])
def test_two_rounds_of_the_real_voice_follow_the_target(
    place: Place, bracket: tuple[float, float], rule: Rule, draft: str
):
    """A biased rule, draws that share noise, or a q that is not what was drawn from would move the
    joint distribution."""
    mean, spread = bracket
    score = total_variation(place.target, sample(place, rule, draft))
    assert abs(score - mean) < FAR * spread


@pytest.mark.parametrize("draft", ["model", "feature"])
def test_the_bracket_has_teeth(place: Place, bracket: tuple[float, float], draft: str):
    """The same test must fail a rule that is only slightly wrong."""
    mean, spread = bracket
    mutant = replace(RULES["lossless"], verify=verify_without_residual)
    assert total_variation(place.target, sample(place, mutant, draft)) > mean + FAR * spread
