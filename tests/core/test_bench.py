"""The benchmark: a run over toy models, and what it says of it."""

import pytest
import torch

from core.bench import SENTENCES, Spread, measure_pairs, summarize
from core.engine import Engine, Settings
from core.voices.base import Plan
from tests.fake_voice import FakeVoice, fake_engine
from tests.fakes import ToyModel


def test_spread_is_median_and_quartiles_of_what_is_there():
    assert Spread.of([1.0, None, 2.0, 3.0, 4.0, 5.0]) == Spread(3.0, 2.0, 4.0)
    assert Spread.of([None]) is None


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
    assert report["divergences"] is None
    assert pairs[0].baseline.acceptance_length == 1
    assert pairs[0].speedup == pytest.approx(
        pairs[0].speculative.tokens_per_s / pairs[0].baseline.tokens_per_s
    )


def test_the_sentences_are_read_when_it_runs(monkeypatch: pytest.MonkeyPatch):
    """A default argument would keep the list from before it was changed."""
    monkeypatch.setattr("core.bench.SENTENCES", ("hello there",))
    assert len(list(measure_pairs(fake_engine(), Settings(gamma=1), 3))) == 3


class WideVoice(FakeVoice):
    """A voice whose wide passes disagree with its narrow ones, as float rounding can make them."""

    def target(self, plan: Plan) -> ToyModel:
        model = super().target(plan)
        forward = model.forward
        model.forward = lambda tokens: (
            forward(tokens) if len(tokens) < 2 else forward(tokens).flip(-1)
        )
        return model


def test_same_seed_runs_that_leave_the_baseline_are_counted():
    """Divergences are counted, never hidden; and nothing is counted where there are none."""
    settings, texts = Settings(gamma=2, rule="same-seed"), ("hello there my friend", "and another")
    engine = fake_engine()
    report = summarize(engine, settings, list(measure_pairs(engine, settings, 1, texts)))
    assert report.divergences == []
    engine = Engine(WideVoice(), torch.device("cpu"))
    pairs = list(measure_pairs(engine, settings, 1, texts))
    assert summarize(engine, settings, pairs).divergences == [pair.divergence for pair in pairs]
    assert all(pair.divergence < 10 for pair in pairs)


def test_the_sentences_are_varied():
    assert len(set(SENTENCES)) == 12
