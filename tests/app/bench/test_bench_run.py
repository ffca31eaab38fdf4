"""The Bench tab's runs: what they tell, and that they go on where they ended."""

import csv
import io
import json

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.bench.files import FILES
from app.bench.routes import build_routes
from core.matrix.results import load_results
from tests.app.conftest import finished, wait_until

SHARED = ("joe", "model", "lossless", "automatic", 0.8, 1.0, 0, 1.0, None)
CHOSEN = (["model", "ngram"], ["lossless", "ssd"], [2])
WAYS = 1 + 2 * 2


def start(handlers, sentences=1, fresh=False, chosen=CHOSEN, shared=SHARED):
    value = handlers.start(handlers.visitor, *chosen, sentences, False, fresh, *shared)
    return handlers._runs.find(value["run"])


def of_kind(lines, kind):
    return [line for line in lines if line["kind"] == kind]


@pytest.fixture
def client(boards):
    return TestClient(Starlette(routes=build_routes(boards)))


def test_a_run_tells_every_way_as_it_is_measured(handlers):
    lines = finished(start(handlers, 2))
    assert lines[-1]["state"] == "done"
    (board,) = of_kind(lines, "board")
    assert {"speedup", "distance", "wer", "dnsmos"} <= {c["key"] for c in board["columns"]}
    rows = [row for line in of_kind(lines, "rows") for row in line["rows"]]
    assert len(rows) == 2 * WAYS
    last = {row["name"]: row for row in rows}
    assert len(last) == WAYS
    assert {row["sentences"] for row in last.values()} == {2}
    for row in last.values():
        relaxed = row["rule"] == "ssd"
        assert row["claim"] == ("not lossless" if relaxed else "lossless")
        assert row["exact"] is not relaxed
        assert row["texts"]["wer"] == ["not measured", ""]
    progress = of_kind(lines, "progress")
    assert [line["done"] for line in progress] == list(range(2 * WAYS + 1))
    assert set(of_kind(lines, "rows")[-1]["fronts"]["distance"]) <= set(last)


def test_what_was_measured_is_not_measured_again(handlers, tmp_path):
    finished(start(handlers))
    lines = finished(start(handlers, 2))
    assert of_kind(lines, "progress")[0]["done"] == WAYS
    assert len(of_kind(lines, "rows")[0]["rows"]) == WAYS
    (path,) = (tmp_path / "bench").glob("*.jsonl")
    assert len(load_results(path).samples) == 2 * WAYS


def test_a_stopped_run_keeps_every_pair_and_goes_on(handlers, tmp_path):
    run = start(handlers, 30)
    with run.listening():
        wait_until(lambda: run.size > 8000, 20)
        run.stop()
        assert finished(run)[-1]["state"] == "stopped"
    (path,) = (tmp_path / "bench").glob("*.jsonl")
    kept = len(load_results(path).samples)
    assert 0 < kept < 30 * WAYS
    again = start(handlers, 30)
    wait_until(lambda: again.size > 3000, 20)
    again.stop()
    first = json.loads(next(line for line in again.lines(0) if b'"progress"' in line))
    assert first["done"] == kept


def test_measured_anew_the_old_results_are_set_aside(handlers, tmp_path):
    finished(start(handlers))
    lines = finished(start(handlers, fresh=True))
    assert of_kind(lines, "progress")[0]["done"] == 0
    assert len(list((tmp_path / "bench").glob("*.jsonl"))) == 2


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"chosen": ([], ["lossless"], [2])}, "No draft"),
        ({"chosen": (["model"], None, [2])}, "No rule"),
        ({"chosen": (["heads"], ["lossless"], [2])}, "This voice has no draft 'heads'"),
        ({"sentences": 31}, "1 to 30"),
        ({"sentences": 1.5}, "1 to 30"),
        ({"sentences": None}, "1 to 30"),
        ({"shared": (*SHARED[:-3], None, 1.0, None)}, "empty"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(handlers, change, part):
    last = finished(start(handlers, **change))[-1]
    assert last["state"] == "failed"
    assert part in last["text"]


def test_all_drafts_are_those_that_the_voice_has(handlers):
    every = ["model", "feature", "heads", "ngram"]
    lines = finished(start(handlers, chosen=(every, ["lossless"], [2])))
    rows = [row for line in of_kind(lines, "rows") for row in line["rows"]]
    assert {row["letter"] for row in rows} == {"B", "M", "R"}


def test_a_comparison_is_saved_in_every_form_and_opened_again(handlers, client, tmp_path):
    run = start(handlers)
    finished(run)
    for name, (media_type, _) in FILES.items():
        answer = client.get(f"/forespeak/bench/{run.id}/{name}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(media_type.partition(";")[0])
    table = list(
        csv.DictReader(io.StringIO(client.get(f"/forespeak/bench/{run.id}/bench.csv").text))
    )
    assert [row["claim"] for row in table].count("not lossless") == 2
    assert all(float(row["speedup_low"]) <= float(row["speedup"]) for row in table)
    path = tmp_path / "saved.json"
    path.write_bytes(client.get(f"/forespeak/bench/{run.id}/bench.json").content)
    opened = handlers._runs.find(handlers.open(handlers.visitor, str(path))["run"])
    lines = finished(opened)
    assert lines[-1]["text"].startswith(f"Opened: {WAYS} ways, {WAYS} pairs")
    assert of_kind(lines, "rows")[0]["rows"] == [
        row for line in of_kind(finished(run), "rows") for row in line["rows"]
    ]


def test_nothing_else_is_given(client, handlers):
    run = start(handlers)
    finished(run)
    assert client.get(f"/forespeak/bench/{run.id}/secret").status_code == 404
    assert client.get("/forespeak/bench/nobody/bench.csv").status_code == 404


def test_a_file_that_is_none_is_refused(handlers, tmp_path):
    path = tmp_path / "other.json"
    path.write_text("{}")
    last = finished(handlers._runs.find(handlers.open(handlers.visitor, str(path))["run"]))[-1]
    assert (last["state"], "holds no results" in last["text"]) == ("failed", True)
