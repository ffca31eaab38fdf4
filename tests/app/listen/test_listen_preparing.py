"""Preparing a test: what is refused, what is told meanwhile, what is there afterwards."""

from types import SimpleNamespace

import numpy as np
import pytest
import soundfile

from app.listen import preparing
from app.listen.design import AB, ABX
from app.listen.handlers import ListenHandlers
from app.listen.plan import Plan
from app.listen.ways import CEILING, DRAFT_ALONE, all_ways, title_of
from app.orders import AUTOMATIC, DRAFT, NO_DRAFT
from app.runs import Runs
from core.ceiling import Recorded
from core.errors import ForespeakError
from core.verify import RULES
from tests.app.conftest import finished, wait_until
from tests.app.listen.helpers import Listener

ME = SimpleNamespace(session_hash="me")
SETTINGS = ("joe", DRAFT, "lossless", 4, 0.8, 1, 3, 1)
TEXTS = "hello there\n\n  and \t more\n"
RECORDED = (Recorded("a recorded one", ((0, 1, 2, 3) * 4, (4, 3, 2, 1) * 4)),)


@pytest.fixture
def runs():
    return Runs()


@pytest.fixture
def prepare(studio, runs, store):
    handlers = ListenHandlers(studio, runs, store, "http://192.0.2.7:7860/", lambda _: RECORDED)

    def start(kind=ABX, first="baseline", second="lossless", trials=6, texts=TEXTS, *settings):
        controls = kind, first, second, trials, texts, *(settings or SETTINGS)
        return runs.find(handlers.prepare(ME, *controls)["run"])

    return start


def test_what_is_told(prepare, store):
    *_, progress, prepared, end = finished(prepare())
    assert progress["kind"] == "progress"
    assert (progress["done"], progress["of"]) == (11, 12)
    assert progress["text"] == "Rendering clip 12 of 12…"
    design = store.design(prepared["test"])
    assert prepared["key"] == design.key
    assert prepared["links"] == {
        "listener": f"?listen={design.test}",
        "facilitator": f"?listen={design.test}&key={design.key}",
    }
    assert prepared["lan"] == "http://192.0.2.7:7860/"
    assert end["state"] == "done"


def test_what_is_kept(prepare, store):
    design = store.design(finished(prepare())[-2]["test"])
    assert [item.text for item in design.items] == ["hello there", "and more"] * 3
    assert [item.seed for item in design.items] == [3, 4, 5, 6, 7, 8]
    assert (design.gamma, design.temperature, design.kind) == (4, 0.8, ABX)
    for item in design.items:
        clips = [soundfile.read(store.folder(design.test) / name)[0] for name in item.clips]
        assert {len(clip) for clip in clips} == {item.samples}
        assert item.same == np.array_equal(*clips)
    assert not design.same


def test_file_names_tell_nothing(prepare, store):
    design = store.design(finished(prepare())[-2]["test"])
    names = sorted(path.name for path in store.folder(design.test).iterdir())
    assert names.pop() == "test.json"
    assert all(len(name) == len(names[0]) and name.endswith(".flac") for name in names)


def test_same_seed_and_the_baseline_are_the_same(prepare, client):
    test = finished(prepare(second="same-seed"))[-2]["test"]
    listener = Listener(client, test).begin().take(lambda _: "A")
    words = listener.get("/result").json()["words"]
    assert "same, sample for sample" in words[-1]


@pytest.mark.parametrize("way", [*RULES, DRAFT_ALONE])
def test_every_way_speaks(prepare, way):
    first = "baseline" if way != "baseline" else "lossless"
    assert finished(prepare(AB, first, way))[-1]["state"] == "done"


def test_the_ceiling_speaks_the_recorded_texts(prepare, store):
    design = store.design(finished(prepare(first=CEILING, texts=""))[-2]["test"])
    assert {item.text for item in design.items} == {"a recorded one"}


def test_there_is_a_way_for_each_rule_and_it_says_whether_it_is_lossless():
    assert set(RULES) < set(all_ways())
    assert "(lossless)" in title_of("lossless")
    assert title_of("ssd") == "SSD tolerance, β = 0.2 (not lossless)"
    assert title_of("of another version") == "of another version"


def test_settings_decide_neither_draft_nor_rule(prepare, store):
    settings = ("joe", NO_DRAFT, "same-seed", AUTOMATIC, 0.8, 1, 3, 1)
    design = store.design(
        finished(prepare(ABX, "baseline", "lossless", 6, TEXTS, *settings))[-2]["test"]
    )
    assert design.gamma >= 1
    assert not design.same


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"kind": None}, "kind"),
        ({"first": None}, "two ways"),
        ({"first": "singing"}, "'singing'"),
        ({"second": "baseline"}, "different"),
        ({"trials": None}, "5 to 100"),
        ({"trials": 4}, "5 to 100"),
        ({"trials": 101}, "5 to 100"),
        ({"trials": 6.5}, "5 to 100"),
        ({"trials": float("nan")}, "5 to 100"),
        ({"kind": AB, "trials": 5}, "6 to 100"),
        ({"texts": " \n\u200b\n"}, "no texts"),
        ({"texts": None}, "no texts"),
        ({"texts": "fine\n" + "x" * 301}, "Text 2 has 301"),
        ({"texts": "fine\n?!"}, "Text 2 has nothing to say"),
    ],
)
def test_what_is_refused(prepare, store, change, part):
    end = finished(prepare(**change))[-1]
    assert (end["state"], part in end["text"]) == ("failed", True), end["text"]
    assert not store.folder("").exists()


def test_what_cannot_be_printed_is_dropped():
    plan = Plan.from_controls(lambda _: (), ABX, "baseline", "lossless", 6, "a\x00b", *SETTINGS)
    assert plan.texts == ("ab",)


def test_a_failure_leaves_nothing(prepare, store):
    end = finished(prepare(texts="hello\nfail"))[-1]
    assert (end["state"], "fake voice failed" in end["text"]) == ("failed", True)
    assert list(store.folder("").iterdir()) == []


def test_stopping_leaves_nothing(prepare, store):
    run = prepare(trials=100, texts="a rather long text")
    wait_until(lambda: any(b'"progress"' in line for line in run.lines(0)))
    run.stop()
    assert finished(run)[-1]["state"] == "stopped"
    assert list(store.folder("").iterdir()) == []


def test_a_folder_that_cannot_be_written(prepare, tmp_path):
    (tmp_path / "tests").write_text("in the way")
    end = finished(prepare())[-1]
    assert (end["state"], "Cannot write" in end["text"]) == ("failed", True)


def test_others_have_their_turn_between_two_trials(prepare, studio, monkeypatch):
    speaking = []
    items = preparing.matched

    def matched(*clips):
        with studio.use("joe"):  # would wait for ever inside somebody's turn
            speaking.append(True)
        return items(*clips)

    monkeypatch.setattr(preparing, "matched", matched)
    assert finished(prepare())[-1]["state"] == "done"
    assert len(speaking) == 6


def test_a_voice_without_recorded_speech(studio, runs, store):
    def nothing(_):
        raise ForespeakError("This voice has no recorded sentences: choose another way.")

    handlers = ListenHandlers(studio, runs, store, None, nothing)
    run = handlers.prepare(ME, ABX, CEILING, "baseline", 6, "", *SETTINGS)["run"]
    assert "no recorded" in finished(runs.find(run))[-1]["text"]
