"""α, c and v against known answers, on toy models and a clock that only they move."""

import pytest
import torch

from core.bench import measure_pairs
from core.costs import Sweep, costs_of, is_complete, mean_acceptance, measure_costs
from core.engine import Engine, Settings
from core.errors import ForespeakError
from core.sampling import Sampling, probs
from core.speedup import Costs, predict_speedup
from core.trace import Round
from tests.fake_voice import EndingVoice, fake_engine

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


def sweep(*rounds: tuple[int, float, float]) -> list[Round]:
    """Rounds by drafted tokens, and seconds of the proposal and of the pass."""
    return [
        Round(0, (1,) * n, (0.5,) * n, (0.5,) * n, 0, 4, 0.3, (), draft_s, verify_s)
        for n, draft_s, verify_s in rounds
    ]


def test_costs_are_medians_by_what_was_drafted_in_passes_over_one_token():
    rounds = sweep((2, 3, 8), (1, 2, 6), (0, 0.5, 4), (2, 3, 10), (1, 90, 6), (0, 0, 4), (1, 2, 70))
    assert costs_of(rounds, 2) == Costs((0, 0.5, 0.75), (1, 1.5, 2.25))


def test_what_was_never_drafted_lies_between_its_neighbours():
    """Prompt lookup finds what it finds."""
    assert costs_of(sweep((0, 0, 1), (2, 1, 3)), 3) == Costs((0, 0.5, 1, 1), (1, 2, 3, 3))


def test_costs_are_those_of_passes_as_they_are_in_use(timed_engine):
    """First passes do not count."""
    engine, settings = timed_engine(target=(0, 1), draft=(10, 0)), Settings(gamma=2)
    trace = engine.trace("hello there my friend", settings)
    costs = measure_costs(engine, settings, trace)
    assert costs == Costs((0, 10, 20), (1, 2, 3))
    pair, *_ = measure_pairs(engine, settings, 1, ("hello there my friend",))
    assert pair.costs == costs


def test_every_gamma_has_its_turn():
    engine, settings = fake_engine(), Settings(gamma=3)
    plan = engine.plan("hello there", settings)
    drafted = [len(round_.draft_tokens) for round_ in engine.rounds(plan, settings, Sweep(3))]
    assert drafted[:9] == [3, 2, 1, 0, 3, 2, 1, 0, 3]
    assert not is_complete([ROUND] * 3, 3)
    assert is_complete([ROUND] * 4, 3)


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
