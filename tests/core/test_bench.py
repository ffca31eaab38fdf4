"""The benchmark: estimates against known answers, and a run over toy models."""

from dataclasses import replace

import pytest

from core.bench import (
    SENTENCES,
    Costs,
    Spread,
    mean_acceptance,
    measure_pairs,
    predict_speedup,
    summarize,
)
from core.engine import Engine, Finished, Settings
from core.sampling import Sampling, probs
from core.trace import Round, Trace
from tests.fake_voice import fake_engine

BLANK = Trace("fake", "lossless", True, 2, 0.8, 0, 1.0, 0, 1.0, "cpu", 2, 5, 21.5, 22050)
ROUND = Round(0, (1, 2, 3), (0.5, 0.8, 0.5), (0.9, 0.4, 0.5), 1, 4, 0.3, 0.1, 0.1)


def test_spread_is_median_and_quartiles_of_what_is_there():
    assert Spread.of([1.0, None, 2.0, 3.0, 4.0, 5.0]) == Spread(3.0, 2.0, 4.0)
    assert Spread.of([None]) is None


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
        trace = spoken(engine, "abcdefgh", Settings(seed=seed, gamma=2))
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


def spoken(engine: Engine, text: str, settings: Settings) -> Trace:
    *_, last = engine.synthesize(text, settings)
    assert isinstance(last, Finished)
    return last.trace


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_predicted_speedup(alpha):
    costs = Costs(c=0.1, v=(1.0, 1.2, 1.4, 1.6))
    tokens = {0.0: 1, 0.5: 1.875, 1.0: 4}[alpha]
    assert predict_speedup(alpha, costs) == pytest.approx(tokens / (3 * 0.1 + 1.6))


def test_a_run_reports_what_the_command_promises():
    engine, settings = fake_engine(), Settings(gamma=2)
    pairs = list(measure_pairs(engine, settings, 2, ("hello there my friend", "and another")))
    report = summarize(engine, settings, pairs).to_dict()
    assert len(pairs) == report["pairs"] == 4
    for key in (
        "baseline_tokens_per_s",
        "speculative_tokens_per_s",
        "speedup",
        "predicted_speedup",
        "alpha",
        "c",
        "acceptance_length",
        "ttfa_ms",
        "rtf",
    ):
        spread = report[key]
        assert 0 < spread["q1"] <= spread["median"] <= spread["q3"], key
    assert report["v"]["1"]["median"] == 1
    assert set(report["v"]) == {"1", "2", "3"}
    assert len(report["acceptance_rate_per_codebook"]) == 2
    assert pairs[0].baseline.acceptance_length == 1
    assert pairs[0].speedup == pytest.approx(
        pairs[0].speculative.tokens_per_s / pairs[0].baseline.tokens_per_s
    )


def test_the_sentences_are_varied():
    assert len(set(SENTENCES)) == 12
