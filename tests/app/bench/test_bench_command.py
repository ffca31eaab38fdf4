"""`bench --matrix` as a user meets it."""

import json
import sys

import pytest

import launch
from core.engine import Engine
from core.matrix.measure import Measurer
from core.matrix.results import load_results
from tests.fake_voice import fake_engine

SMALL = ("--matrix", "--sentences", "1", "--no-judge", "--gamma", "2")


@pytest.fixture
def bench(monkeypatch, capsys, tmp_path):
    """Runs the command with the fake voice; (exit code, stdout, stderr)."""
    monkeypatch.setattr(Engine, "load", lambda *_: fake_engine())
    monkeypatch.setattr("app.bench.plan.default_folder", lambda: tmp_path / "kept")

    def run(*options):
        monkeypatch.setattr(sys, "argv", ["launch.py", "bench", *map(str, options)])
        code = launch.main()
        return code, *capsys.readouterr()

    return run


def test_it_prints_all_ways_and_the_front_and_writes_the_files(bench, tmp_path):
    files = [tmp_path / name for name in ("b.json", "b.csv", "b.svg")]
    options = [*zip(("--json", "--csv", "--figure"), files, strict=True)]
    rules = ("--drafts", "model", "--rules", "lossless,ssd:0.5,ssd:0.1")
    code, out, _ = bench(*SMALL, *rules, *(part for pair in options for part in pair))
    assert code == 0
    assert out.count("not lossless") >= 2
    assert "Nobody is faster without being further from the target" in out
    assert {cell["cell"]["tolerance"] for cell in json.loads(files[0].read_text())["cells"]} == {
        None,
        0.5,
        0.1,
    }
    assert len(files[1].read_text().splitlines()) == 1 + 4
    assert "<svg" in files[2].read_text()
    assert len(load_results(files[0]).samples) == 4


def test_what_is_interrupted_goes_on(bench, tmp_path, monkeypatch):
    path, count = tmp_path / "r.jsonl", 0
    measure = Measurer.measure

    def interrupted(self, *what):
        nonlocal count
        count += 1
        if count == 2:
            raise KeyboardInterrupt
        return measure(self, *what)

    monkeypatch.setattr(Measurer, "measure", interrupted)
    options = (*SMALL, "--drafts", "model", "--rules", "lossless,block", "--results", path)
    code, out, error = bench(*options)
    assert (code, "the same command goes on" in error) == (130, True)
    assert "Baseline" in out
    assert bench(*options)[0] == 0
    assert count == 2 + 2
    assert len(load_results(path).samples) == 3


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--matrix", "--drafts", "best"), "Unknown draft 'best'"),
        (("--matrix", "--rules", ","), "No rule"),
        (("--matrix", "--gammas", "4,x"), "γ x"),
        (("--matrix", "--sentences", "31"), "1 to 30"),
        (("--matrix", "--figure", "b.gif"), "neither PNG nor SVG"),
        (("--matrix", "--csv", "/nowhere/b.csv"), "/nowhere/b.csv"),
        (("--matrix", "--voice", "nobody"), "Unknown voice"),
        (("--rules", "ssd"), "needs --matrix"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_loaded(bench, monkeypatch, options, part):
    monkeypatch.setattr(Engine, "load", lambda *_: pytest.fail("it was loaded"))
    code, _, error = bench(*options)
    assert code == 2
    assert error.count("\n") == 1
    assert part in error
