"""Records, their JSON and their sound."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from core.errors import ForespeakError
from core.trace import SCHEMA, Earlier, Trace, first_difference
from tests.core.traces import CHUNKS, EXAMPLE, ROUNDS, make_round, make_trace


def test_round_emits_accepted_tokens_and_one_more() -> None:
    """Rejected guesses spoken, or the corrected token lost."""
    assert make_round(0, 3, 0).tokens == (99,)
    assert make_round(0, 3, 2).tokens == (10, 11, 99)
    assert make_round(0, 3, 3).tokens == (10, 11, 12, 99)
    assert make_round(0, 0, 0).tokens == (99,)


def test_first_difference_counts_tokens_not_rounds() -> None:
    """Rounds of two runs rarely begin at the same places."""
    one = make_trace((make_round(0, 3, 1), make_round(2, 3, 1)))  # 10 99 10 99
    parts = [replace(make_round(n, 0, 0), next_token=t) for n, t in enumerate((10, 99, 10, 99))]
    assert first_difference(one, make_trace(tuple(parts))) is None
    wrong = (*parts[:2], replace(parts[2], next_token=2), parts[3])
    assert first_difference(one, make_trace(wrong)) == 2
    assert first_difference(make_trace(tuple(parts[:3])), one) == 3


def test_json_round_trip(tmp_path: Path) -> None:
    """Tuples come back as lists, floats lose digits, other scripts lose letters."""
    path = tmp_path / "trace.json"
    odd = make_trace(
        (replace(ROUNDS[0], next_prob=0.1 + 0.2, draft_probs=(1e-300, 1 / 3, 0.0)), *ROUNDS[1:]),
        CHUNKS,
        total_s=2**-40,
    )
    staged = replace(EXAMPLE, earlier=(Earlier(0, "idea", 5, 2, 4, 3, 0.1),))
    for trace in (EXAMPLE, odd, staged, make_trace(sentences=())):
        trace.save(path)
        loaded = Trace.load(path)
        assert loaded == trace
        assert hash(loaded) == hash(trace)


def test_sound_is_kept_bit_by_bit(tmp_path: Path) -> None:
    """Sound that a file changes could not be compared with the baseline's."""
    pcm = np.random.default_rng(0).integers(-(2**15), 2**15, 15000).astype(np.int16)
    path = tmp_path / "trace.json"
    EXAMPLE.with_sound(pcm).save(path)
    loaded = Trace.load(path)
    assert np.array_equal(loaded.pcm(), pcm)
    assert replace(loaded, sound="") == EXAMPLE
    assert EXAMPLE.pcm() is None


def test_sound_of_another_run_is_refused() -> None:
    """The page would show one run and play another."""
    for trace in (
        EXAMPLE.with_sound(np.zeros(14999, np.int16)),
        replace(EXAMPLE.with_sound(np.zeros(15000, np.int16)), sample_rate=9999),
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


ROUND, CHUNK, SENTENCE, EARLIER = (
    json.loads(json.dumps(asdict(record)))
    for record in (
        ROUNDS[0],
        CHUNKS[0],
        EXAMPLE.sentences[0],
        Earlier(0, "idea", 5, 2, 4, 3, 0.25),
    )
)
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
    "a round that drafted more than γ": {"gamma": 2},
    "no codebooks": {"num_codebooks": 0},
    "codebooks without end": {"num_codebooks": 10**9},
    "a γ below nothing": {"gamma": -1, "rounds": []},
    "a γ without end": {"gamma": 10**9},
    "a sample rate of nothing": {"sample_rate": 0},
    "a sample rate that nobody plays": {"sample_rate": 10**6},
    "a frame that lasts an hour": {"frame_rate": 1 / 3600},
    "a setting that is no number": {"temperature": float("nan")},
    "a setting without end": {"rate": float("inf")},
    "a probability that is no number": {"rounds": [{**ROUND, "next_prob": float("nan")}]},
    "a probability without end": {"rounds": [{**ROUND, "target_probs": [0.1, float("inf"), 0]}]},
    "no frame rate": {"frame_rate": 0.0},
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
    "a round of no sentence": {"rounds": [{**ROUND, "sentence": 1}]},
    "a round of a sentence before all": {"rounds": [{**ROUND, "sentence": -1}]},
    "a round that leaves tokens out": {"rounds": [{**ROUND, "position": 1}]},
    "a round told twice": {"rounds": [ROUND, ROUND]},
    "a round of a sentence that was over": {
        "sentences": [SENTENCE, SENTENCE],
        "rounds": [ROUND, {**ROUND, "sentence": 1}, {**ROUND, "position": 4}],
    },
    "a token of no codebook": {"rounds": [{**ROUND, "next_token": 512}]},
    "a token below all": {"rounds": [{**ROUND, "draft_tokens": [-1, 1, 2]}]},
    "a round that took less than no time": {"rounds": [{**ROUND, "verify_s": -0.1}]},
    "a round that never ended": {"rounds": [{**ROUND, "at_s": 1e300}]},
    "a chunk of no sentence": {"chunks": [{**CHUNK, "sentence": 1}]},
    "a chunk after a gap": {"chunks": [{**CHUNK, "start": 1}]},
    "a chunk of nothing": {"chunks": [{**CHUNK, "samples": 0}]},
    "a chunk longer than its sentence": {"chunks": [{**CHUNK, "samples": 10**6}]},
    "a sentence without end": {"sentences": [{**SENTENCE, "frames": 10**9}]},
    "a sentence shorter than its tokens": {"sentences": [{**SENTENCE, "frames": 2}]},
    "a phoneme without a duration": {"sentences": [{**SENTENCE, "durations": [1.0, 2.0]}]},
    "a phoneme of no word": {"sentences": [{**SENTENCE, "word_index": [0, 0, 9]}]},
    "a phoneme that takes less than no time": {
        "sentences": [{**SENTENCE, "durations": [1.0, -2.0, 1.0]}]
    },
    "a stage of no sentence": {"earlier": [{**EARLIER, "sentence": 1}]},
    "a stage with more accepted than drafted": {"earlier": [{**EARLIER, "drafted": 2}]},
    "a stage whose tokens came from nowhere": {"earlier": [{**EARLIER, "tokens": 6}]},
    "a stage without end": {"earlier": [{**EARLIER, "seconds": 1e9}]},
    "a stage without its name": {"earlier": [{k: EARLIER[k] for k in EARLIER if k != "stage"}]},
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


def test_a_trace_from_before_some_of_its_fields_loads(tmp_path: Path) -> None:
    """What people have saved stays readable."""
    damage(tmp_path / "trace.json", schema=3, draft=..., earlier=...)
    assert Trace.load(tmp_path / "trace.json") == EXAMPLE
    damage(tmp_path / "trace.json", schema=4, earlier=...)
    assert Trace.load(tmp_path / "trace.json") == EXAMPLE


NO_TRACES = (b"", b"{", b"\xff\xfe\x00", b"[]", b"3", b"null", b'"text"', b"[" * 200_000)


@pytest.mark.parametrize("content", NO_TRACES, ids=lambda content: repr(content[:9]))
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
