"""Steps: with the run's settings what happened, with others what would have; again in numpy."""

from dataclasses import replace

import numpy as np
import pytest

from core.engine import Engine, Settings
from core.recording import Recording, record
from core.sampling import Lane, Sampling
from core.steps import Step, view
from core.verify import RULES, find_rule
from core.voices.base import ASSETS
from tests.fake_voice import FakeVoice, fake_engine
from tests.fakes import ToyModel

TEXT = "hello there how are you today my friend"
SETTINGS = Settings(Sampling(0.9), gamma=4, seed=3)
OTHERS = [Sampling(0.9), Sampling(0.0), Sampling(0.3), Sampling(2.0), Sampling(0.9, top_p=0.6)]
RATIO, SAME_SEED = find_rule("lossless"), find_rule("same-seed")


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record(fake_engine(), TEXT, SETTINGS)


def steps(recording: Recording, sampling=None, rule=None, engine=None) -> list[Step]:
    settings = recording.settings
    sampling = sampling or settings.sampling
    rule = rule or (engine or fake_engine()).rule(settings)
    return [view(recording, n, sampling, rule) for n in range(len(recording.trace.rounds))]


# The law itself, in numpy and from the papers, without a line of the engine's.


def numpy_probs(logits: np.ndarray, sampling: Sampling) -> np.ndarray:
    """[V] -> [V]: temperature, then the nucleus."""
    logits = logits.astype(np.float64)
    if sampling.temperature == 0:
        return np.eye(len(logits))[logits.argmax()]
    weights = np.exp((logits - logits.max()) / sampling.temperature)
    p = weights / weights.sum()
    order = np.argsort(-p, kind="stable")
    before = np.cumsum(p[order]) - p[order]
    kept = np.zeros_like(p)
    kept[order[before < sampling.top_p]] = p[order[before < sampling.top_p]]
    return kept / kept.sum()


def numpy_numbers(seed: int, lane: Lane, position: int, width: int) -> np.ndarray:
    block, row = divmod(position, 64)
    key = np.array((seed, 0), dtype=np.uint64)
    bits = np.random.Philox(key=key, counter=(0, 0, lane, block))
    return np.random.Generator(bits).random((64, width))[row]


def quantile(p: np.ndarray, u: float) -> int:
    return int(np.searchsorted(np.cumsum(p), u * p.sum(), side="right"))


def check_against_numpy(step: Step, recording: Recording, sampling: Sampling, tolerance: float):
    """Every number of a step under the ratio test."""
    round_, seed = recording.trace.rounds[step.index], recording.trace.seed
    p = [numpy_probs(row.numpy(), sampling) for row in recording.target_logits[step.index]]
    q = [numpy_probs(row.numpy(), sampling) for row in recording.draft_logits[step.index]]
    np.testing.assert_allclose(step.target_probs.numpy(), p, atol=tolerance)
    if q:
        np.testing.assert_allclose(step.draft_probs.numpy(), q, atol=tolerance)
    accepts, resamples, drafts = (
        numpy_numbers(seed, lane, round_.position, 32)
        for lane in (Lane.ACCEPT, Lane.RESAMPLE, Lane.DRAFT)
    )
    accepted = 0
    for row, token in enumerate(round_.draft_tokens):
        chance = (
            min(1, p[row][token] / q[row][token]) if q[row][token] else float(p[row][token] > 0)
        )
        seen = step.rows[row]
        assert (seen.token, seen.own) == (token, None)
        assert seen.p == pytest.approx(p[row][token], abs=tolerance)
        assert seen.q == pytest.approx(q[row][token], abs=tolerance)
        assert seen.overlap == pytest.approx(np.minimum(p[row], q[row]).sum(), abs=tolerance)
        assert seen.accept == pytest.approx(chance, rel=1e-3, abs=tolerance)
        assert seen.draw == accepts[row]
        assert seen.accepted == (accepts[row] < chance)
        if not seen.accepted:
            break
        accepted += 1
    assert step.accepted == accepted
    assert len(step.rows) == min(accepted + 1, len(round_.draft_tokens))
    last = p[accepted]
    if accepted < len(round_.draft_tokens):
        left = np.maximum(p[accepted] - q[accepted], 0)
        # Nothing is left where p is q: a token that neither says was drafted by other settings.
        last = left / left.sum() if left.sum() > 0 else last
        np.testing.assert_allclose(step.residual.numpy(), last, atol=100 * tolerance)
    else:
        assert step.residual is None
    assert step.next_token == quantile(last, resamples[accepted])
    assert step.next_prob == pytest.approx(p[accepted][step.next_token], abs=tolerance)
    would = tuple(quantile(row, u) for row, u in zip(q, drafts, strict=False))
    assert step.drafted_as == would


@pytest.mark.parametrize("sampling", OTHERS)
def test_every_number_of_the_ratio_test_is_that_of_the_papers(recording, sampling):
    for step in steps(recording, sampling, RATIO):
        check_against_numpy(step, recording, sampling, 1e-9)


def check_against_trace(recording: Recording, exact: bool, engine: Engine | None = None) -> None:
    """With its own settings: what was recorded, to the last bit on the computer it ran on."""
    same = (lambda x: x) if exact else (lambda x: pytest.approx(x, abs=1e-5))
    for step, round_ in zip(steps(recording, engine=engine), recording.trace.rounds, strict=True):
        rows, tokens = range(len(round_.draft_tokens)), round_.draft_tokens
        assert (step.position, step.draft_tokens) == (round_.position, tokens)
        assert [float(step.target_probs[r, tokens[r]]) for r in rows] == same(
            list(round_.target_probs)
        )
        assert [float(step.draft_probs[r, tokens[r]]) for r in rows] == same(
            list(round_.draft_probs)
        )
        assert (step.accepted, step.next_token) == (round_.accepted, round_.next_token)
        assert step.next_prob == same(round_.next_prob)
        assert [row.draw for row in step.rows if row.draw is not None] == list(round_.draws)
        assert [row.accepted for row in step.rows][: round_.accepted] == [True] * round_.accepted
        assert step.drafted_as == tokens
        assert step.is_recorded


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("sampling", OTHERS)
@pytest.mark.parametrize("gamma", [0, 1, 4])
def test_with_the_runs_settings_it_is_what_happened(rule, sampling, gamma):
    settings = Settings(sampling, rule, gamma, seed=5)
    check_against_trace(record(fake_engine(), TEXT, settings), exact=True)


def test_under_other_settings_something_else_would_have_happened(recording):
    recorded = steps(recording)
    cold = steps(recording, Sampling(0.2))
    assert not any(step.is_recorded for step in cold)
    assert [s.accepted for s in cold] != [s.accepted for s in recorded]
    assert any(step.drafted_as != step.draft_tokens for step in cold)
    assert all(s.draft_tokens == r.draft_tokens for s, r in zip(cold, recorded, strict=True))


def test_a_token_that_the_draft_could_not_have_said_is_no_division_by_zero(recording):
    greedy = steps(recording, Sampling(0.0))
    rows = [row for step in greedy for row in step.rows]
    assert any(row.q == 0 for row in rows)
    assert {row.accept for row in rows} == {0.0, 1.0}


def test_the_same_seed_rule_compares_with_the_targets_own_token(recording):
    for step in steps(recording, rule=SAME_SEED):
        assert not step.is_recorded
        for number, row in enumerate(step.rows):
            p = step.target_probs[number].numpy()
            noise = -np.log(-np.log(numpy_numbers(3, Lane.GUMBEL, step.position + number, len(p))))
            assert row.own == np.argmax(np.log(p) + noise)
            assert row.accepted == (row.own == row.token)
            assert (row.accept, row.draw) == (None, None)
        assert step.residual is None
        if step.accepted < len(step.draft_tokens):
            assert step.next_token == step.rows[step.accepted].own


def test_the_cache_is_as_long_as_the_targets_own_was(monkeypatch):
    lengths = []

    class Watched(ToyModel):
        def forward(self, tokens):
            before = self.length
            logits = super().forward(tokens)
            lengths.append([before, self.length])
            return logits

        def rollback(self, length):
            super().rollback(length)
            lengths[-1].append(self.length)

    def watched(voice, _):
        return Watched(voice.target_language)

    monkeypatch.setattr(FakeVoice, "target", watched)
    recording = record(fake_engine(), TEXT, SETTINGS)
    assert [list(step.cache) for step in steps(recording)] == lengths
    assert lengths[-1][2] == recording.length


def test_a_recording_is_not_changed_by_looking(recording):
    before = [rows.clone() for rows in recording.draft_logits + recording.target_logits]
    for sampling in OTHERS:
        steps(recording, sampling)
    after = recording.draft_logits + recording.target_logits
    assert all(bool((one == two).all()) for one, two in zip(before, after, strict=True))


def test_the_shipped_recording_is_what_its_trace_says():
    recording = Recording.load(ASSETS / "lessons" / "example.safetensors")
    check_against_trace(recording, exact=False)
    for sampling in (recording.settings.sampling, Sampling(0.5, top_p=0.9)):
        for step in steps(recording, sampling, RATIO)[::3]:
            check_against_numpy(step, recording, sampling, 1e-5)


def test_the_shipped_recording_shows_everything_that_can_happen():
    trace = Recording.load(ASSETS / "lessons" / "example.safetensors").trace
    rejected = {r.accepted for r in trace.rounds if r.accepted < len(r.draft_tokens)}
    assert rejected == set(range(trace.gamma))
    assert any(r.accepted == trace.gamma for r in trace.rounds)


@pytest.fixture(scope="module")
def joe() -> Engine:
    return Engine.load("joe", "cpu")


@pytest.mark.voice
@pytest.mark.parametrize("rule", RULES)
def test_of_the_embedded_voice(joe, rule):
    settings = Settings(Sampling(0.8, top_p=0.95), rule, seed=7)
    recording = record(joe, "It guesses, then it checks.", settings)
    check_against_trace(recording, exact=True, engine=joe)
    if rule == "lossless":
        for step in steps(recording):
            check_against_numpy(step, recording, settings.sampling, 1e-5)


def test_a_tolerance_is_a_setting_as_well():
    settings = replace(SETTINGS, rule="ssd", tolerance=0.4)
    recording = record(fake_engine(), TEXT, settings)
    check_against_trace(recording, exact=True)
    strict = steps(recording, rule=find_rule("ssd", 0.0))
    assert not any(step.is_recorded for step in strict)
    plain = steps(recording, rule=RATIO)
    assert [step.accepted for step in strict] == [step.accepted for step in plain]


def test_block_verification_shows_every_row():
    """A row that fails does not end the round there."""
    recording = record(fake_engine(), TEXT, replace(SETTINGS, rule="block"))
    seen = steps(recording)
    assert all(len(step.rows) == len(step.draft_tokens) for step in seen)
    assert any(row.draw >= row.accept for step in seen for row in step.rows[: step.accepted])


def test_top_k_stays_the_runs_own():
    settings = replace(SETTINGS, sampling=Sampling(0.9, top_k=2))
    recording = record(fake_engine(), "hello", settings)
    for step in steps(recording):
        assert (step.target_probs > 0).sum(1).max() <= 2
