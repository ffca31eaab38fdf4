"""Every metric against an example worked out by hand, and while the run goes on."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.metrics import Meter, measure
from core.trace import Chunk, Round
from tests.core.traces import EXAMPLE, make_round, make_trace


def test_metrics_worked_out_by_hand() -> None:
    """Denominators: skipped drafts, the bonus, or places never reached counted as guesses."""
    metrics = measure(EXAMPLE)
    assert metrics.tokens == 4 + 2 + 1 + 3 + 1
    assert metrics.acceptance_rate == 6 / 11
    assert metrics.acceptance_length == 11 / 5
    # Codebook 0: places 0, 2, 4 and 8 yes, 6 no. Codebook 1: 1 and 7 yes, 5 no.
    assert metrics.per_codebook == (4 / 5, 2 / 3)
    # First in the window: yes yes no yes; second: yes no (–) yes; third: yes.
    assert metrics.per_position == (3 / 4, 2 / 3, 1.0)
    assert metrics.tokens_per_s == pytest.approx(11 / 0.5)
    assert metrics.audio_s == 1.5
    assert metrics.wall_s == 3.0
    assert metrics.rtf == 2.0
    assert metrics.ttfa_s == 0.5
    # Plays 0.5 to 1.0, waits 0.25, plays 1.25 to 1.95 and on: the third came in time.
    assert metrics.underrun_s == pytest.approx(0.25)


def test_codebook_follows_the_position_in_the_sentence() -> None:
    """A count over all sentences shifts the phase where a sentence is an odd number of tokens."""
    rounds = (make_round(0, 1, 0), make_round(0, 1, 1, sentence=1), make_round(1, 1, 1))
    assert measure(make_trace(rounds)).per_codebook == (1 / 2, 1.0)


def test_more_codebooks_than_were_drafted() -> None:
    """A codebook or place that was never drafted has no rate; 0 would be a claim."""
    metrics = measure(make_trace((make_round(0, 1, 1),), num_codebooks=4, gamma=5))
    assert metrics.per_codebook == (1.0, None, None, None)
    assert metrics.per_position == (1.0, None, None, None, None)


def test_baseline_and_empty_traces_have_no_rates_and_no_division_by_zero() -> None:
    """A baseline drafts nothing; a stopped run may hold nothing at all."""
    baseline = measure(
        make_trace((make_round(0, 0, 0, 0, 0.5), make_round(1, 0, 0, 0, 0.5)), gamma=0)
    )
    assert baseline.acceptance_rate is None
    assert baseline.per_codebook == (None, None)
    assert baseline.per_position == ()
    assert baseline.acceptance_length == 1
    assert baseline.tokens_per_s == 2
    empty = measure(make_trace())
    assert (empty.audio_s, empty.rtf, empty.ttfa_s, empty.underrun_s) == (0, 0, 0, 0)
    assert (empty.tokens, empty.tokens_per_s, empty.acceptance_length) == (0, 0, 0)
    assert empty.acceptance_rate is None


@given(
    st.lists(
        st.integers(0, 4).flatmap(lambda g: st.tuples(st.just(g), st.integers(0, g))), max_size=20
    ),
    st.integers(1, 5),
)
def test_acceptance_counts_add_up(verdicts: list[tuple[int, int]], codebooks: int) -> None:
    """The same acceptances counted by codebook, by place, and in all."""
    rounds: list[Round] = []
    for drafted, accepted in verdicts:
        position = sum(len(r.tokens) for r in rounds)
        rounds.append(make_round(position, drafted, accepted, 0.1, 0.2))
    metrics = measure(make_trace(tuple(rounds), num_codebooks=codebooks, gamma=4))
    drafted = sum(d for d, _ in verdicts)
    accepted = sum(a for _, a in verdicts)
    judged = sum(min(a + 1, d) for d, a in verdicts)
    assert metrics.tokens == accepted + len(rounds)
    assert (metrics.acceptance_rate is None) == (drafted == 0)
    if drafted:
        assert metrics.acceptance_rate == accepted / drafted
    # Chance of reaching a place: the product of the rates before it, where γ never shrank.
    full = [v for v in verdicts if v[0] == 4]
    if len(full) == len(verdicts) > 0:
        reached = len(verdicts)
        for place, rate in enumerate(metrics.per_position):
            kept = sum(a > place for _, a in verdicts)
            assert (rate or 0.0) * reached == pytest.approx(kept)
            reached = kept
    by_codebook = [0] * codebooks
    for r in rounds:
        for row in range(min(r.accepted + 1, len(r.draft_tokens))):
            by_codebook[(r.position + row) % codebooks] += 1
    assert sum(by_codebook) == judged
    weighed = sum(
        (rate or 0) * n for rate, n in zip(metrics.per_codebook, by_codebook, strict=True)
    )
    assert weighed == pytest.approx(accepted)
    for rates in (metrics.per_codebook, metrics.per_position):
        assert all(rate is None or 0 <= rate <= 1 for rate in rates)


@pytest.mark.parametrize(
    ("chunks", "wanted"),
    [
        ([], 0.0),
        ([(100, 5.0)], 0.0),  # the wait for the first sound is TTFA, not an underrun
        ([(1000, 0.0), (1000, 1.0)], 0.0),  # in the last moment
        ([(1000, 0.0), (1000, 1.5)], 0.5),
        ([(1000, 0.0), (1000, 0.1), (1000, 2.5)], 0.5),  # the buffered second second helps
        ([(1000, 0.0), (1000, 1.5), (1000, 2.5)], 0.5),  # an earlier wait gives later ones time
        ([(100, 0.0), (100, 1.0), (100, 2.0)], 0.9 + 0.9),
        ([(1000, 0.0), (0, 9.0)], 8.0),
    ],
)
def test_underrun(chunks: list[tuple[int, float]], wanted: float) -> None:
    """RTF below 1 can still gap; a wait counted twice, or buffered sound forgotten."""
    starts = [sum(n for n, _ in chunks[:i]) for i in range(len(chunks))]
    records = [Chunk(0, 10 * s, 10 * n, at) for s, (n, at) in zip(starts, chunks, strict=True)]
    assert measure(make_trace(chunks=tuple(records))).underrun_s == pytest.approx(wanted)


@given(
    st.lists(st.tuples(st.integers(1, 20_000), st.floats(0, 3)), min_size=1, max_size=12),
    st.floats(0, 5),
)
def test_underrun_is_the_head_start_that_playback_would_have_needed(
    chunks: list[tuple[int, float]], begin: float
) -> None:
    """Another definition of the same number: start that much later and nothing waits."""
    at, start, records, needed = begin, 0, [], 0.0
    for samples, gap in chunks:
        records.append(Chunk(0, start, samples, at))
        needed = max(needed, at - begin - start / 10_000)
        start += samples
        at += gap
    waited = measure(make_trace(chunks=tuple(records))).underrun_s
    assert waited == pytest.approx(needed, abs=1e-9)


@st.composite
def some_round(draw: st.DrawFn) -> Round:
    drafted = draw(st.integers(0, 3))
    accepted = draw(st.integers(0, drafted))
    seconds = draw(st.floats(0, 1))
    return make_round(draw(st.integers(0, 99)), drafted, accepted, seconds, seconds / 3)


some_chunk = st.builds(
    Chunk, st.integers(0, 2), st.integers(0, 9999), st.integers(0, 2000), st.floats(0, 9)
)


@given(st.lists(st.one_of(some_round(), some_chunk), max_size=20), st.floats(0, 9))
def test_a_meter_says_at_any_time_what_measure_says_of_the_trace_so_far(
    happened: list[Round | Chunk], wall_s: float
) -> None:
    """Reading a meter must not move it, and rounds and sound must not disturb each other."""
    trace = make_trace(total_s=wall_s)
    meter = Meter(trace)
    assert meter.metrics(wall_s) == measure(trace)
    for what in happened:
        if isinstance(what, Round):
            meter.add_round(what)
            trace = replace(trace, rounds=(*trace.rounds, what))
        else:
            meter.add_chunk(what)
            trace = replace(trace, chunks=(*trace.chunks, what))
        assert meter.metrics(wall_s) == measure(trace)


def test_a_meter_reads_only_the_header() -> None:
    """A run that is under way has no events in its trace yet; a replayed one has them all."""
    assert Meter(EXAMPLE).metrics(1.0) == measure(make_trace(total_s=1.0))
