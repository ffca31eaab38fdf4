"""α, c and v against known answers, on toy models and a clock that only they move."""

from dataclasses import replace
from itertools import count

import pytest
import torch

from core import costs as costs_module
from core.bench import measure_pairs
from core.costs import (
    PLACES,
    full_acceptance,
    mean_acceptance,
    measure_costs,
    sample_costs,
)
from core.drafters import DraftModel
from core.engine import Engine, Settings
from core.errors import ForespeakError
from core.sampling import Noise, Sampling, probs
from core.speedup import Costs, predict_speedup
from core.trace import Round, Trace
from core.verify import RULES
from tests.fake_voice import EndingVoice, fake_engine
from tests.fakes import ToyModel, language

BLANK = Trace("fake", "lossless", True, 3, 0.8, 0, 1.0, 0, 1.0, "cpu", 2, 5, 21.5, 22050)
ROUND = Round(0, (1, 2, 3), (0.5, 0.8, 0.5), (0.9, 0.4, 0.5), 1, 4, 0.3, (), 0.1, 0.1)


def test_acceptance_counts_visited_places_only():
    # The third guess came after a rejection: nothing was decided there.
    assert mean_acceptance((ROUND,), "lossless") == pytest.approx((1 + 0.5) / 2)
    assert mean_acceptance((ROUND,), "same-seed") == 0.5


def test_acceptance_is_an_unbiased_estimate_of_the_overlap():
    """Against Σ min(p, q), computed from the toy languages at every place the runs visited."""
    engine = fake_engine()
    voice, sampling = engine.voice, Sampling()
    estimates, overlaps = [], []
    for seed in range(60):
        trace = engine.trace("abcdefgh", Settings(seed=seed, gamma=2))
        estimates.append(mean_acceptance(trace.rounds, trace.rule))
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
    costs = Costs.steady(0.1, (1.0, 1.2, 1.4, 1.6))
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


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_costs_are_those_of_passes_as_they_are_in_use(monkeypatch, timed_engine, share: float):
    """After full acceptance the draft has two tokens to take in. First passes do not count."""
    monkeypatch.setattr("core.costs.full_acceptance", lambda _: share)
    engine, settings = timed_engine(target=(0, 1), draft=(0, 10)), Settings(gamma=2)
    trace = engine.trace("hello there my friend", settings)
    costs = measure_costs(engine, settings, trace)
    assert costs == Costs.steady((20 + 10 * share) / 2, (1, 2, 3))
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
    assert Costs.typical([Costs.steady(0.1, noisy)]).v == (1.0, 1.0, 1.02, 1.46, 1.46, 1.46)


def test_typical_costs_are_medians():
    samples = [Costs.steady(c, (1.0, v)) for c, v in ((0.1, 9.0), (0.3, 1.0), (0.2, 2.0))]
    assert Costs.typical(samples) == Costs.steady(0.2, (1.0, 2.0))


def test_a_sentence_that_ends_too_soon_is_not_timed():
    """A place before its beginning or behind its end would be timed, or fail without a word."""
    engine = Engine(EndingVoice(), torch.device("cpu"))
    trace = engine.trace("hey", Settings(gamma=4))
    with pytest.raises(ForespeakError, match="too few to time γ 4"):
        measure_costs(engine, Settings(gamma=4), trace)
