"""The embedded voice itself: lossless on its own first tokens, same-seed to the sample."""

import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import numpy as np
import pytest
import torch
from torch import Tensor

from core.adaptive import Fixed
from core.costs import LONGEST, measure_outlook
from core.decode import autoregressive, speculative
from core.drafters import DraftModel, LanguageModel
from core.engine import AudioReady, Engine, Finished, Settings
from core.lm.compiled import CompiledState
from core.lm.runtime import DecoderState
from core.lm.state import SentenceState
from core.rules.exact import Verdict, accept_probability
from core.sampling import Draws, Noise, Sampling, probs
from core.trace import Trace
from core.verify import RULES, Rule
from core.voices.base import Plan

pytestmark = pytest.mark.voice

SENTENCE = "The quick brown fox jumps over the lazy dog."
TEXT = f"{SENTENCE} Was it asleep? Nobody in the whole village knew."
SAMPLES = 12_000
FAR = 4  # spreads of the score; at 12,000 draws they are 1 % of total variation
SPOKEN = 100  # tokens before the place of the test: in mid-speech draft and target disagree more
LENGTH, GAMMA = 4, 2  # two rounds at least
SCORED = 3  # tokens whose joint distribution is compared


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.load("joe", "cpu")


def speak(engine: Engine, text: str, settings: Settings) -> tuple[np.ndarray, Trace]:
    """Waveform and trace of a whole run."""
    events = list(engine.synthesize(text, settings))
    assert isinstance(events[-1], Finished)
    sound = [event.samples for event in events if isinstance(event, AudioReady)]
    return np.concatenate(sound), events[-1].trace


def tokens_of(trace: Trace, sentence: int) -> list[int]:
    """All that was emitted in one sentence."""
    return [token for r in trace.rounds if r.sentence == sentence for token in r.tokens]


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
            self._model.rollback(len(self._spoken) + 1)
            self._rows[key] = self._model.forward(key)[-1]
        return self._rows[key]


@pytest.fixture(scope="module")
def models(engine: Engine) -> tuple[Memo, Memo]:
    """Target and draft, both in the middle of the same sentence."""
    plan = engine.voice.plan(SENTENCE, 1.0)
    target, draft = engine.voice.target(plan), engine.voice.draft(plan)
    rounds = autoregressive(target, SPOKEN, Sampling(), RULES["lossless"], Noise(5))
    spoken = [token for r in rounds for token in r.tokens]
    return Memo(engine.voice.target(plan), spoken), Memo(draft, spoken)


def sample(models: tuple[Memo, Memo], rule: Rule) -> Counter:
    """How often the next SCORED tokens are these, over SAMPLES seeds."""
    target, draft = models
    counts: Counter = Counter()
    for seed in range(SAMPLES):
        target.rewind()
        draft.rewind()
        noise, drafter = Noise(seed), DraftModel(draft, Sampling())
        tokens: list[int] = []
        rounds = speculative(target, drafter, LENGTH, Fixed(GAMMA), Sampling(), rule, noise)
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
def bracket(models: tuple[Memo, Memo]) -> tuple[float, float]:
    """What as many draws score by chance: mean and spread."""
    rng, target = np.random.default_rng(0), models[0]
    scores = [total_variation(target, sample_exactly(target, rng)) for _ in range(30)]
    return float(np.mean(scores)), float(np.std(scores, ddof=1))


@pytest.mark.parametrize("rule", [rule for rule in RULES.values() if rule.lossless])
def test_two_rounds_of_the_real_voice_follow_the_target(models, bracket, rule: Rule):
    """A biased rule, or draws that share noise, would move the joint distribution."""
    mean, spread = bracket
    score = total_variation(models[0], sample(models, rule))
    assert abs(score - mean) < FAR * spread


def test_the_bracket_has_teeth(models, bracket):
    """The same test must fail a rule that is only slightly wrong."""
    mean, spread = bracket
    mutant = replace(RULES["lossless"], verify=verify_without_residual)
    assert total_variation(models[0], sample(models, mutant)) > mean + FAR * spread


def test_same_seed_gives_the_waveform_of_the_baseline(engine: Engine):
    """Speculation must not change a single sample when both draw the same keyed noise."""
    settings = Settings(rule="same-seed", seed=7)
    baseline, plain = speak(engine, TEXT, replace(settings, gamma=0))
    waveform, trace = speak(engine, TEXT, settings)
    assert len(trace.sentences) == 3
    for index in range(3):
        assert tokens_of(trace, index) == tokens_of(plain, index)
    np.testing.assert_array_equal(waveform, baseline)
    assert len(trace.rounds) < len(plain.rounds)


@pytest.mark.parametrize("draft", ["feature", "heads", "ngram"])
def test_every_draft_leaves_the_baseline_s_tokens_under_the_same_seed(engine: Engine, draft: str):
    """Weights of another target, a hidden state that is not the last verified token's: such a
    draft would still be harmless, and must be good for something; repetition hardly ever is."""
    settings = Settings(rule="same-seed", seed=7, draft=draft)
    _, plain = speak(engine, SENTENCE, replace(settings, gamma=0))
    _, trace = speak(engine, SENTENCE, settings)
    assert trace.draft == draft
    assert tokens_of(trace, 0) == tokens_of(plain, 0)
    assert draft == "ngram" or len(trace.rounds) < 0.6 * len(plain.rounds)


@pytest.mark.parametrize("rate", [0.5, 1.0, 2.0])
def test_the_sound_has_the_length_of_its_frames(engine: Engine, rate: float):
    """A lost or doubled frame would be heard as a skip, or shift all that follows."""
    waveform, trace = speak(engine, SENTENCE, Settings(rate=rate))
    samples_per_frame = trace.sample_rate / trace.frame_rate
    assert len(waveform) == sum(s.frames for s in trace.sentences) * samples_per_frame
    assert np.isfinite(waveform).all()
    assert 0.02 < np.abs(waveform).max() <= 1


def test_the_automatic_window_drafts_more_than_one_token(engine: Engine):
    """α is high and wide passes are cheap, so γ 1 would mean that something was timed wrongly."""
    assert 2 <= measure_outlook(engine, Settings()).gamma <= LONGEST


def test_runs_under_way_at_once_do_not_disturb_each_other(engine: Engine):
    """Two tabs of the page share the voice's weights, and nothing else."""
    settings = Settings(seed=3)
    texts = (SENTENCE, "And now for something else altogether, said the other one.")
    alone = [speak(engine, text, settings) for text in texts]
    both_ready = Barrier(2)

    def speak_together(text: str) -> tuple[np.ndarray, Trace]:
        both_ready.wait()
        return speak(engine, text, settings)

    for _ in range(2):
        with ThreadPoolExecutor(2) as threads:
            together = list(threads.map(speak_together, texts))
        for (waveform, trace), (wanted, plain) in zip(together, alone, strict=True):
            assert tokens_of(trace, 0) == tokens_of(plain, 0)
            np.testing.assert_array_equal(waveform, wanted)
        times = [[r.at_s for r in trace.rounds] for _, trace in together]
        assert min(times[0][-1], times[1][-1]) > max(times[0][0], times[1][0])  # truly at once


def test_cancelling_leaves_nothing_behind(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    """A run that is closed midway must give its caches back, and not change the next one."""
    expected, _ = speak(engine, "Short.", Settings())
    states: list[weakref.ref[SentenceState]] = []

    def watched(start: Callable[[Plan], SentenceState]) -> Callable[[Plan], SentenceState]:
        def watch(plan: Plan) -> SentenceState:
            state = start(plan)
            states.append(weakref.ref(state))
            return state

        return watch

    for model in ("target", "draft"):
        monkeypatch.setattr(engine.voice, model, watched(getattr(engine.voice, model)))
    run = engine.synthesize(SENTENCE, Settings())
    for _ in range(20):
        next(run)
    assert [type(state()) for state in states] == [DecoderState, CompiledState]
    run.close()
    assert [state() for state in states] == [None, None]
    waveform, _ = speak(engine, "Short.", Settings())
    np.testing.assert_array_equal(waveform, expected)
