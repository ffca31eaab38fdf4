"""The file of results: nothing is lost, nothing is mixed."""

import json
from dataclasses import replace

import pytest

from core.errors import ForespeakError
from core.matrix.results import kept, load_results, weights_checksum
from tests.core.matrix.samples import BASELINE, EXACT, HEADER, RELAXED, sample


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "results.jsonl"


def test_what_was_measured_is_there_again(path):
    mine = [sample(BASELINE), sample(EXACT, errors=2), sample(RELAXED, 1)]
    with kept(path, HEADER) as results:
        for one in mine:
            results.add(one)
    with kept(path, HEADER) as again:
        assert again.samples == mine
        assert again.done(judged=False) == {(BASELINE, 0), (EXACT, 0), (RELAXED, 1)}
        assert again.done(judged=True) == {(EXACT, 0)}
    assert load_results(path).by_cell == {BASELINE: mine[:1], EXACT: mine[1:2], RELAXED: mine[2:]}


def test_of_two_measurements_of_the_same_the_later_one_counts(path):
    with kept(path, HEADER) as results:
        results.add(sample(EXACT))
        results.add(sample(EXACT, errors=1))
    assert load_results(path).samples == [sample(EXACT, errors=1)]


def test_a_line_that_a_crash_cut_off_is_measured_again(path):
    with kept(path, HEADER) as results:
        results.add(sample(EXACT, 0))
        results.add(sample(EXACT, 1))
    path.write_bytes(path.read_bytes()[:-20])
    with kept(path, HEADER) as results:
        assert results.done(judged=False) == {(EXACT, 0)}
        results.add(sample(EXACT, 1))
    assert len(load_results(path).samples) == 2


@pytest.mark.parametrize("change", [{"seed": 1}, {"weights": "other"}, {"torch": "3"}])
def test_results_of_something_else_are_not_mixed(path, change):
    with kept(path, HEADER) as results:
        results.add(sample(EXACT))
    before = path.read_bytes()
    other = replace(HEADER, **change)
    with pytest.raises(ForespeakError, match=next(iter(change))), kept(path, other):
        pass
    assert path.read_bytes() == before
    assert other.mark != HEADER.mark


def test_two_runs_do_not_write_to_one_file(path):
    with (
        kept(path, HEADER),
        pytest.raises(ForespeakError, match="Somebody is measuring"),
        kept(path, HEADER),
    ):
        pass


@pytest.mark.parametrize("content", [b"", b"\x00\xff", b"{}\n", b"[1]\n", b'{"samples": 1}\n'])
def test_any_other_file_is_refused_in_one_line(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(ForespeakError, match="holds no results"):
        load_results(path)


@pytest.mark.parametrize(
    "change",
    [
        {"sentence": 9},
        {"cell": {"draft": "model", "rule": "?", "gamma": 4, "temperature": 0.8}},
        {"baseline": {"tokens_per_s": 0.0}},
    ],
)
def test_results_that_cannot_be_are_refused(path, change):
    with kept(path, HEADER) as results:
        results.add(sample(EXACT))
    header, line = path.read_text().splitlines()
    line = json.loads(line)
    for key, value in change.items():
        line[key] = {**line[key], **value} if isinstance(value, dict) else value
    path.write_text(f"{header}\n{json.dumps(line)}\n")
    with pytest.raises(ForespeakError, match="cannot show"):
        load_results(path)


def test_other_weights_have_another_checksum(tmp_path):
    assert weights_checksum(tmp_path) == ""
    (tmp_path / "target.safetensors").write_bytes(b"one")
    first = weights_checksum(tmp_path)
    (tmp_path / "target.safetensors").write_bytes(b"two")
    assert first != weights_checksum(tmp_path) != ""
