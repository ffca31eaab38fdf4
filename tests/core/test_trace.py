"""Records, their JSON, and every metric against an example worked out by hand."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ForespeakError
from core.trace import SCHEMA, Chunk, Round, Sentence, Trace, measure, underrun


def make_round(
    position: int,
    drafted: int,
    accepted: int,
    draft_s: float = 0.0,
    verify_s: float = 0.0,
    sentence: int = 0,
) -> Round:
    return Round(
        position=position,
        draft_tokens=tuple(range(10, 10 + drafted)),
        draft_probs=(0.5,) * drafted,
        target_probs=(0.25,) * drafted,
        accepted=accepted,
        next_token=99,
        next_prob=0.125,
        draws=(0.75,) * min(accepted + 1, drafted),
        draft_s=draft_s,
        verify_s=verify_s,
        sentence=sentence,
        at_s=0.1,
    )


def make_trace(
    rounds: tuple[Round, ...] = (), chunks: tuple[Chunk, ...] = (), **values: object
) -> Trace:
    trace = Trace(
        voice="joe",
        rule="lossless",
        lossless=True,
        gamma=3,
        temperature=0.8,
        top_k=0,
        top_p=1.0,
        seed=-5,
        rate=1.1,
        device="CPU “two cores”",
        num_codebooks=2,
        codebook_size=512,
        frame_rate=12.5,
        sample_rate=1000,
        sentences=(
            Sentence("Hé, 世.", ("Hé", "世"), ("h", "e", "."), (0, 0, -1), (1.5, 0.25, 2.0), 4),
        ),
        rounds=rounds,
        chunks=chunks,
        total_s=3.0,
    )
    return replace(trace, **values)


# Codebooks are position % 2.           drafted places (codebook):   outcome
ROUNDS = (
    make_round(0, 3, 3, 0.03, 0.07),  # 0 (0) 1 (1) 2 (0)             yes yes yes, then bonus 3
    make_round(4, 3, 1, 0.03, 0.07),  # 4 (0) 5 (1) 6 (0)             yes no  -
    make_round(6, 3, 0, 0.03, 0.07),  # 6 (0) 7 (1) 8 (0)             no  -   -
    make_round(7, 2, 2, 0.02, 0.08),  # 7 (1) 8 (0)                   yes yes, then bonus 9
    make_round(10, 0, 0, 0.0, 0.1),  # nothing drafted
)
CHUNKS = (Chunk(0, 0, 500, 0.5), Chunk(0, 500, 700, 1.25), Chunk(0, 1200, 300, 1.5))
EXAMPLE = make_trace(ROUNDS, CHUNKS)


def test_round_emits_accepted_tokens_and_one_more() -> None:
    """Rejected guesses spoken, or the corrected token lost."""
    assert make_round(0, 3, 0).tokens == (99,)
    assert make_round(0, 3, 2).tokens == (10, 11, 99)
    assert make_round(0, 3, 3).tokens == (10, 11, 12, 99)
    assert make_round(0, 0, 0).tokens == (99,)


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
    records = [Chunk(0, s, n, at) for s, (n, at) in zip(starts, chunks, strict=True)]
    assert underrun(records, 1000) == pytest.approx(wanted)


@given(
    st.lists(st.tuples(st.integers(1, 2000), st.floats(0, 3)), min_size=1, max_size=12),
    st.floats(0, 5),
)
def test_underrun_is_the_head_start_that_playback_would_have_needed(
    chunks: list[tuple[int, float]], begin: float
) -> None:
    """Another definition of the same number: start that much later and nothing waits."""
    at, start, records, needed = begin, 0, [], 0.0
    for samples, gap in chunks:
        records.append(Chunk(0, start, samples, at))
        needed = max(needed, at - begin - start / 1000)
        start += samples
        at += gap
    assert underrun(records, 1000) == pytest.approx(needed, abs=1e-9)


def test_json_round_trip(tmp_path: Path) -> None:
    """Tuples come back as lists, floats lose digits, other scripts lose letters."""
    path = tmp_path / "trace.json"
    odd = make_trace(
        (replace(ROUNDS[0], next_prob=0.1 + 0.2, draft_probs=(1e-300, 1 / 3, 0.0)), *ROUNDS[1:]),
        CHUNKS,
        total_s=2**-40,
    )
    for trace in (EXAMPLE, odd, make_trace(sentences=())):
        trace.save(path)
        loaded = Trace.load(path)
        assert loaded == trace
        assert hash(loaded) == hash(trace)
        assert measure(loaded) == measure(trace)


def test_sound_is_kept_bit_by_bit(tmp_path: Path) -> None:
    """Sound that a file changes could not be compared with the baseline's."""
    pcm = np.random.default_rng(0).integers(-(2**15), 2**15, 1500).astype(np.int16)
    path = tmp_path / "trace.json"
    EXAMPLE.with_sound(pcm).save(path)
    loaded = Trace.load(path)
    assert np.array_equal(loaded.pcm(), pcm)
    assert replace(loaded, sound="") == EXAMPLE
    assert EXAMPLE.pcm() is None


def test_sound_of_another_run_is_refused() -> None:
    """The page would show one run and play another."""
    for trace in (
        EXAMPLE.with_sound(np.zeros(1499, np.int16)),
        replace(EXAMPLE.with_sound(np.zeros(1500, np.int16)), sample_rate=999),
    ):
        with pytest.raises(ForespeakError, match="not that of its run"):
            trace.pcm()


def damage(path: Path, **changes: object) -> None:
    """Save the example with fields changed; `...` removes one."""
    data = json.loads(json.dumps(asdict(EXAMPLE)))
    for name, value in changes.items():
        if value is ...:
            del data[name]
        else:
            data[name] = value
    path.write_text(json.dumps(data), encoding="utf-8")


ROUND = json.loads(json.dumps(asdict(ROUNDS[0])))
DAMAGES = {
    "a field too many": {"extra": 1},
    "a field too few": {"gamma": ...},
    "an optional field too few": {"total_s": ...},
    "no rounds": {"rounds": ...},
    "rounds null": {"rounds": None},
    "rounds a number": {"rounds": 3},
    "rounds of numbers": {"rounds": [1, 2]},
    "rounds of text": {"rounds": ["accepted"]},
    "rounds of null": {"rounds": [None]},
    "a round with a field too many": {"rounds": [{**ROUND, "extra": 1}]},
    "a round with a field too few": {"rounds": [{k: ROUND[k] for k in list(ROUND)[1:]}]},
    "a round without its sentence": {"rounds": [{k: ROUND[k] for k in ROUND if k != "sentence"}]},
    "a round without its time": {"rounds": [{k: ROUND[k] for k in ROUND if k != "at_s"}]},
    "a round with more accepted than drafted": {"rounds": [{**ROUND, "accepted": 4}]},
    "a round with fewer than none accepted": {"rounds": [{**ROUND, "accepted": -1}]},
    "a round with a probability too few": {"rounds": [{**ROUND, "target_probs": [0.5, 0.5]}]},
    "a number as text": {"gamma": "3"},
    "a count with a fraction": {"seed": 1.5},
    "a count as a fraction": {"num_codebooks": 2.0},
    "a number for yes": {"lossless": 1},
    "yes for a number": {"top_k": True},
    "text for yes": {"lossless": "yes"},
    "a chunk with another name": {"chunks": [{"sentence": 0, "begin": 0, "samples": 1, "at_s": 0}]},
    "sentences text": {"sentences": "abc"},
    "schema missing": {"schema": ...},
    "a round without its draws": {"rounds": [{k: ROUND[k] for k in ROUND if k != "draws"}]},
    "a round with a test too many": {"rounds": [{**ROUND, "draws": [0.5] * 4}]},
    "sound missing": {"sound": ...},
    "sound null": {"sound": None},
    "schema of yesterday": {"schema": SCHEMA - 1},
    "schema of tomorrow": {"schema": SCHEMA + 1},
    "schema text": {"schema": str(SCHEMA)},
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_trace_is_refused_with_a_line(name: str, tmp_path: Path) -> None:
    """A traceback, or worse a page that shows half a trace."""
    path = tmp_path / "trace.json"
    damage(path, **DAMAGES[name])
    with pytest.raises(ForespeakError, match=r"trace\.json.*record") as error:
        Trace.load(path)
    assert "\n" not in str(error.value)


def test_the_undamaged_example_loads(tmp_path: Path) -> None:
    """The damages above could fail for how they are written."""
    damage(tmp_path / "trace.json")
    assert Trace.load(tmp_path / "trace.json") == EXAMPLE


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00", b"[]", b"3", b"null", b'"text"'])
def test_other_files_are_refused_with_a_line(content: bytes, tmp_path: Path) -> None:
    """Any file may be chosen on the page: cut short, binary, or JSON of another kind."""
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    with pytest.raises(ForespeakError, match="is not a trace"):
        Trace.load(path)


def test_places_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    """A missing file or folder is the person's to mend, so it must be said in a line."""
    with pytest.raises(ForespeakError, match="Cannot read"):
        Trace.load(tmp_path / "none.json")
    with pytest.raises(ForespeakError, match="Cannot read"):
        Trace.load(tmp_path)
    with pytest.raises(ForespeakError, match="Cannot write"):
        EXAMPLE.save(tmp_path / "none" / "trace.json")
