"""The benchmark: estimates against known answers, and a run over toy models."""

from dataclasses import replace

import pytest
import torch

from core.bench import (
    SENTENCES,
    Costs,
    Spread,
    first_difference,
    full_acceptance,
    mean_acceptance,
    measure_pairs,
    predict_speedup,
    summarize,
)
from core.drafters import DraftModel
from core.engine import Engine, Finished, Settings
from core.sampling import Sampling, probs
from core.trace import Round, Trace
from core.voices.base import Plan
from tests.fake_voice import FakeVoice, fake_engine
from tests.fakes import ToyModel

BLANK = Trace("fake", "lossless", True, 3, 0.8, 0, 1.0, 0, 1.0, "cpu", 2, 5, 21.5, 22050)
ROUND = Round(0, (1, 2, 3), (0.5, 0.8, 0.5), (0.9, 0.4, 0.5), 1, 4, 0.3, (), 0.1, 0.1)


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
    assert report["divergences"] is None
    assert pairs[0].baseline.acceptance_length == 1
    assert pairs[0].speedup == pytest.approx(
        pairs[0].speculative.tokens_per_s / pairs[0].baseline.tokens_per_s
    )


def test_the_sentences_are_read_when_it_runs(monkeypatch: pytest.MonkeyPatch):
    """A default argument would keep the list from before it was changed."""
    monkeypatch.setattr("core.bench.SENTENCES", ("hello there",))
    assert len(list(measure_pairs(fake_engine(), Settings(gamma=1), 3))) == 3


def test_full_acceptance_is_a_share_of_the_proposals_that_follow_a_round():
    whole, cut = replace(ROUND, accepted=3), ROUND
    last = replace(ROUND, draft_tokens=(), draft_probs=(), target_probs=(), accepted=0)
    other = replace(cut, sentence=1)
    rounds = (cut, whole, whole, cut, last, other, other)
    # Before the four proposals that follow one: cut, whole, whole and, in the next sentence, cut.
    assert full_acceptance(replace(BLANK, rounds=rounds)) == 2 / 4
    assert full_acceptance(replace(BLANK, rounds=(whole,))) == 0


def test_first_difference_counts_tokens_not_rounds():
    one = replace(BLANK, rounds=(ROUND, ROUND))  # 1 4 1 4
    parts = [
        replace(ROUND, draft_tokens=(), draft_probs=(), target_probs=(), accepted=0, next_token=t)
        for t in (1, 4, 1, 4)
    ]
    assert first_difference(one, replace(BLANK, rounds=tuple(parts))) is None
    wrong = (*parts[:2], replace(parts[2], next_token=2), parts[3])
    assert first_difference(one, replace(BLANK, rounds=wrong)) == 2
    assert first_difference(replace(BLANK, rounds=tuple(parts[:3])), one) == 3


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


class Clock:
    """Time that passes only when a model runs: 1 s per row of the target, 10 s of the draft."""

    def __init__(self) -> None:
        self.now = 0.0
        self.seen: set[tuple[int, float]] = set()

    def __call__(self) -> float:
        return self.now

    def slow(self, model: ToyModel, per_row: float) -> ToyModel:
        """The first pass of each width takes a day more, as a graph's capture does."""
        forward = model.forward

        def timed(tokens: list[int]) -> torch.Tensor:
            logits = forward(tokens)
            if (len(logits), per_row) not in self.seen:
                self.now += 86400
                self.seen.add((len(logits), per_row))
            self.now += per_row * len(logits)
            return logits

        model.forward = timed
        return model


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_costs_are_those_of_passes_as_they_are_in_use(monkeypatch: pytest.MonkeyPatch, share):
    """c: after full acceptance the draft has two tokens to take in. First passes do not count."""
    clock = Clock()
    monkeypatch.setattr("core.bench.perf_counter", clock)
    monkeypatch.setattr("core.bench.full_acceptance", lambda _: share)

    class TimedVoice(FakeVoice):
        def target(self, plan: Plan) -> ToyModel:
            return clock.slow(super().target(plan), 1)

        def drafter(self, plan: Plan, sampling: Sampling) -> DraftModel:
            drafter = super().drafter(plan, sampling)
            clock.slow(drafter.model, 10)
            return drafter

    engine = Engine(TimedVoice(), torch.device("cpu"))
    pair, *_ = measure_pairs(engine, Settings(gamma=2), 1, ("hello there my friend",))
    assert pair.costs == Costs(c=(20 + 10 * share) / 2, v=(1, 2, 3))


def test_the_sentences_are_varied():
    assert len(set(SENTENCES)) == 12
