"""α, c and v against known answers, on toy models and a clock that only they move."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest
import torch

from core import costs as costs_module
from core.bench import measure_pairs
from core.costs import (
    LONGEST,
    PLACES,
    full_acceptance,
    mean_acceptance,
    measure_costs,
    measure_outlook,
    sample_costs,
)
from core.drafters import DraftModel
from core.engine import Engine, Settings
from core.errors import ForespeakError
from core.sampling import Noise, Sampling, probs
from core.speedup import Costs, best_window, predict_speedup
from core.trace import Round, Trace
from core.verify import RULES
from core.voices.base import Plan
from tests.fake_voice import EndingVoice, FakeVoice, fake_engine
from tests.fakes import ToyModel, language

BLANK = Trace("fake", "lossless", True, 3, 0.8, 0, 1.0, 0, 1.0, "cpu", 2, 5, 21.5, 22050)
ROUND = Round(0, (1, 2, 3), (0.5, 0.8, 0.5), (0.9, 0.4, 0.5), 1, 4, 0.3, (), 0.1, 0.1)


def test_acceptance_counts_visited_places_only():
    # The third guess came after a rejection: nothing was decided there.
    assert mean_acceptance(replace(BLANK, rounds=(ROUND,))) == pytest.approx((1 + 0.5) / 2)
    assert mean_acceptance(replace(BLANK, rule="same-seed", rounds=(ROUND,))) == 0.5


def test_acceptance_is_an_unbiased_estimate_of_the_overlap():
    """Against Σ min(p, q), computed from the toy languages at every place the runs visited."""
    engine = fake_engine()
    voice, sampling = engine.voice, Sampling()
    estimates, overlaps = [], []
    for seed in range(60):
        trace = engine.trace("abcdefgh", Settings(seed=seed, gamma=2))
        estimates.append(mean_acceptance(trace))
        tokens = ()
        overlap = []
        for round_ in trace.rounds:
            for row in range(min(round_.accepted + 1, len(round_.draft_tokens))):
                prefix = tokens + round_.draft_tokens[:row]
                p, q = (
                    probs(voice.target_language(prefix), sampling),
                    probs(voice.draft_language(prefix), sampling),
                )
                overlap.append(float(p.minimum(q).sum()))
            tokens += round_.tokens
        overlaps.append(sum(overlap) / len(overlap))
    assert sum(estimates) / 60 == pytest.approx(sum(overlaps) / 60, abs=0.02)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_predicted_speedup(alpha):
    costs = Costs(c=0.1, v=(1.0, 1.2, 1.4, 1.6))
    tokens = {0.0: 1, 0.5: 1.875, 1.0: 4}[alpha]
    assert predict_speedup(alpha, costs) == pytest.approx(tokens / (3 * 0.1 + 1.6))


def test_full_acceptance_is_a_share_of_the_proposals_that_follow_a_round():
    whole, cut = replace(ROUND, accepted=3), ROUND
    last = replace(ROUND, draft_tokens=(), draft_probs=(), target_probs=(), accepted=0)
    other = replace(cut, sentence=1)
    rounds = (cut, whole, whole, cut, last, other, other)
    # Before the four proposals that follow one: cut, whole, whole and, in the next sentence, cut.
    assert full_acceptance(replace(BLANK, rounds=rounds)) == 2 / 4
    assert full_acceptance(replace(BLANK, rounds=(whole,))) == 0


class Clock:
    """Time that passes only when a model runs."""

    def __init__(self) -> None:
        self.now = 0.0
        self._seen: set[tuple[int, str]] = set()

    def __call__(self) -> float:
        return self.now

    def slow(self, model: ToyModel, name: str, per_pass: float, per_row: float) -> None:
        """The first pass of each width takes a day more, as a graph's capture does."""
        forward = model.forward

        def timed(tokens: list[int]) -> torch.Tensor:
            logits = forward(tokens)
            if (len(logits), name) not in self._seen:
                self.now += 86400
                self._seen.add((len(logits), name))
            self.now += per_pass + per_row * len(logits)
            return logits

        model.forward = timed


@pytest.fixture
def timed_engine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Engine]:
    """An engine whose passes take the given seconds, each a pair: a pass, and every row of it."""

    def build(target: tuple[float, float], draft: tuple[float, float]) -> Engine:
        clock = Clock()
        monkeypatch.setattr("core.costs.perf_counter", clock)

        class TimedVoice(FakeVoice):
            def target(self, plan: Plan) -> ToyModel:
                model = super().target(plan)
                clock.slow(model, "target", *target)
                return model

            def draft(self, plan: Plan) -> ToyModel:
                model = super().draft(plan)
                clock.slow(model, "draft", *draft)
                return model

        return Engine(TimedVoice(), torch.device("cpu"))

    return build


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_costs_are_those_of_passes_as_they_are_in_use(monkeypatch, timed_engine, share: float):
    """c: after full acceptance the draft has two tokens to take in. First passes do not count."""
    monkeypatch.setattr("core.costs.full_acceptance", lambda _: share)
    engine, settings = timed_engine(target=(0, 1), draft=(0, 10)), Settings(gamma=2)
    trace = engine.trace("hello there my friend", settings)
    costs = measure_costs(engine, settings, trace)
    assert costs == Costs(c=(20 + 10 * share) / 2, v=(1, 2, 3))
    pair, *_ = measure_pairs(engine, settings, 1, ("hello there my friend",))
    assert pair.costs == costs


def test_drafters_are_timed_beside_the_same_passes():
    """Drafts are compared: one v for all, and the target left as it was found at every place."""
    target = ToyModel(language(0))
    drafters = [DraftModel(ToyModel(language(seed)), Sampling()) for seed in (1, 2)]
    tokens = [0, 1, 2] * 6
    samples = list(
        sample_costs(target, drafters, tokens, 4, Sampling(), RULES["lossless"], Noise(0), 0.5)
    )
    assert len(samples) == PLACES
    for one, other in samples:
        assert one.v == other.v
        assert (len(one.v), one.v[0]) == (5, 1)
        assert min(one.c, other.c) > 0
    assert max(target.passes) == 5
    last = len(tokens) - 4 - 1
    assert (target.length, target.tokens) == (last, tokens[: last - 1])


@pytest.mark.parametrize("which", [1, 2, 3])
def test_a_pass_that_was_held_up_is_not_what_passes_take(monkeypatch, timed_engine, which: int):
    """Whatever else a computer does now and then must not decide γ."""
    engine, settings = timed_engine(target=(0, 1), draft=(0, 10)), Settings(gamma=2)
    trace = engine.trace("hello there my friend", settings)
    undisturbed = measure_costs(engine, settings, trace)
    clock, looks, lost = costs_module.perf_counter, count(), []

    def late() -> float:
        """One timing of each series ends late, of those that count."""
        timing, end = divmod(next(looks), 2)
        series = costs_module.SETTLING + costs_module.TIMES
        if end and timing % series == costs_module.SETTLING + which - 1:
            lost.append(1000.0)
        return clock() + sum(lost)

    monkeypatch.setattr(costs_module, "perf_counter", late)
    assert measure_costs(engine, settings, trace) == undisturbed
    assert len(lost) > PLACES


def test_a_wider_pass_is_never_cheaper():
    noisy = (1.0, 0.95, 1.02, 1.46, 1.1, 1.2)
    assert Costs.typical([Costs(0.1, noisy)]).v == (1.0, 1.0, 1.02, 1.46, 1.46, 1.46)


def test_typical_costs_are_medians():
    samples = [Costs(c, (1.0, v)) for c, v in ((0.1, 9.0), (0.3, 1.0), (0.2, 2.0))]
    assert Costs.typical(samples) == Costs(0.2, (1.0, 2.0))


@pytest.mark.parametrize(("alpha", "c", "gamma"), [(0.9, 0.05, 8), (0.5, 0.15, 2), (0.1, 0.5, 1)])
def test_the_best_gamma_is_that_of_the_best_predicted_speedup(
    monkeypatch, timed_engine, alpha: float, c: float, gamma: int
):
    """With passes that cost the same however wide they are, as on a large GPU."""
    assert best_window(alpha, Costs(c, (1.0,) * (LONGEST + 1))) == gamma
    monkeypatch.setattr("core.costs.mean_acceptance", lambda _: alpha)
    assert (
        measure_outlook(timed_engine(target=(1, 0), draft=(c, 0)), Settings(gamma=4)).gamma == gamma
    )


def test_nothing_is_gained_where_every_token_of_a_pass_costs_alike(timed_engine):
    """Then the least window is the best; and γ 0, from which somebody comes, is no answer."""
    assert measure_outlook(timed_engine(target=(0, 1), draft=(1, 0)), Settings(gamma=0)).gamma == 1


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_the_best_gamma_of_a_real_clock_is_one_that_can_be_chosen(rule: str, temperature: float):
    settings = Settings(Sampling(temperature), rule)
    assert 1 <= measure_outlook(fake_engine(), settings).gamma <= LONGEST


def test_a_sentence_that_ends_too_soon_is_not_timed():
    """A place before its beginning or behind its end would be timed, or fail without a word."""
    engine = Engine(EndingVoice(), torch.device("cpu"))
    assert measure_outlook(engine, Settings(gamma=4)).gamma >= 1
    trace = engine.trace("hey", Settings(gamma=4))
    with pytest.raises(ForespeakError, match="too few to time γ 4"):
        measure_costs(engine, Settings(gamma=4), trace)


def test_another_seed_is_tried_where_the_trial_ended_at_once(monkeypatch: pytest.MonkeyPatch):
    """A voice that draws its end now and then must not fail to load; one that always does, must."""
    engine = Engine(EndingVoice(), torch.device("cpu"))
    speak, seeds = engine.trace, []

    def trace(text: str, settings: Settings) -> Trace:
        seeds.append(settings.seed)
        return speak(text if settings.seed == last else "hey", settings)

    monkeypatch.setattr(engine, "trace", trace)
    last = 5
    measure_outlook(engine, Settings(seed=3))
    assert seeds == [3, 4, 5]
    last = -1
    with pytest.raises(ForespeakError, match="too few"):
        measure_outlook(engine, Settings(seed=3))
