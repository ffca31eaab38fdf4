"""The table of rounds holds what the trace holds."""

import csv
import io

import pytest

from app.rounds import to_csv
from core.engine import Settings
from core.trace import Trace
from tests.fake_voice import fake_engine


def speak(text: str, **settings) -> Trace:
    return list(fake_engine().synthesize(text, Settings(**settings)))[-1].trace


def rows(trace: Trace) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(trace))))


def numbers(cell: str) -> tuple[float, ...]:
    return tuple(map(float, cell.split()))


def test_a_row_holds_its_round_exactly():
    trace = speak("hello there\nworld", gamma=3)
    table = rows(trace)
    assert len(table) == len(trace.rounds)
    for number, (row, round_) in enumerate(zip(table, trace.rounds, strict=True)):
        assert int(row["round"]) == number
        assert int(row["sentence"]) == round_.sentence
        assert int(row["position"]) == round_.position
        place = int(row["frame"]) * trace.num_codebooks + int(row["codebook"])
        assert place == round_.position
        assert int(row["codebook"]) < trace.num_codebooks
        assert int(row["drafted"]) == len(round_.draft_tokens)
        assert int(row["accepted"]) == round_.accepted
        assert numbers(row["draft_tokens"]) == round_.draft_tokens
        assert int(row["next_token"]) == round_.next_token
        assert numbers(row["draft_probs"]) == round_.draft_probs
        assert numbers(row["target_probs"]) == round_.target_probs
        assert float(row["next_prob"]) == round_.next_prob
        assert numbers(row["draws"]) == round_.draws
        assert float(row["draft_ms"]) == pytest.approx(round_.draft_s * 1000, abs=1e-3)
        assert float(row["verify_ms"]) == pytest.approx(round_.verify_s * 1000, abs=1e-3)
        assert float(row["at_s"]) == pytest.approx(round_.at_s, abs=1e-6)


def test_the_last_token_of_a_round_is_named_by_what_it_is():
    table = rows(speak("hello there everybody", gamma=2))
    for row in table:
        if row["drafted"] == "0":
            assert row["next_kind"] == "plain"
        elif row["accepted"] == row["drafted"]:
            assert row["next_kind"] == "bonus"
        else:
            assert row["next_kind"] == "corrected"
    assert {"corrected", "bonus"} <= {row["next_kind"] for row in table}


def test_a_baseline_drafts_nothing():
    trace = speak("hello", gamma=0)
    table = rows(trace)
    assert len(table) == 5 * trace.num_codebooks
    assert {(row["next_kind"], row["draft_tokens"], row["draws"]) for row in table} == {
        ("plain", "", "")
    }


def test_every_column_has_its_heading():
    text = to_csv(speak("hello"))
    assert {line.count(",") for line in text.splitlines()} == {16}
