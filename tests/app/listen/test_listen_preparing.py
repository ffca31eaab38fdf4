"""Preparing a test: what is refused, what is told meanwhile, what is there afterwards."""

from types import SimpleNamespace

import numpy as np
import pytest
import soundfile

from app.listen import clips, preparing
from app.listen.clips import LOUDEST
from app.listen.design import AB, ABX
from app.listen.handlers import ListenHandlers
from app.listen.plan import Plan
from app.listen.ways import CEILING, DRAFT_ALONE, all_ways, find_way
from app.orders import ADAPTIVE, AUTOMATIC, DRAFT, NO_DRAFT
from app.runs import Runs
from core.ceiling import Recorded
from core.errors import ForespeakError
from core.verify import RULES
from tests.app.conftest import finished, wait_until
from tests.app.listen.helpers import Listener

ME = SimpleNamespace(session_hash="me")
SETTINGS = ("joe", DRAFT, "lossless", 4, 0.8, 1, 3, 1)
TEXTS = "hello there\n\n  and \t more\n"
RECORDED = tuple(
    Recorded(f"recorded {n}", ((0, 1, 2, n % 5) * 4, (4, 3, 2, n // 5) * 4)) for n in range(7)
)


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
    assert prepared["lan"] == "http://192.0.2.7:7860/"
    assert end["state"] == "done"


def test_what_is_kept(prepare, store):
    design = store.design(finished(prepare())[-2]["test"])
    assert [item.text for item in design.items] == ["hello there", "and more"] * 3
    assert [item.seed for item in design.items] == [3, 4, 5, 6, 7, 8]
    assert (design.gamma, design.temperature, design.kind) == (4, 0.8, ABX)
    for item in design.items:
        pair = [soundfile.read(store.folder(design.test) / name)[0] for name in item.clips]
        assert {len(clip) for clip in pair} == {item.samples}
        assert item.same == np.array_equal(*pair)
    assert not all(item.same for item in design.items)
    titles = design.first_title, design.second_title
    assert titles == ("Baseline", "Speculative sampling (lossless)")


def test_file_names_tell_nothing(prepare, store):
    design = store.design(finished(prepare())[-2]["test"])
    names = sorted(path.name for path in store.folder(design.test).iterdir())
    assert names.pop() == "test.json"
    assert all(len(name) == len(names[0]) and name.endswith(".wav") for name in names)


def test_same_seed_and_the_baseline_are_the_same(prepare, client):
    test = finished(prepare(second="same-seed"))[-2]["test"]
    listener = Listener(client, test).begin().take(lambda _: "A")
    result = listener.get("/result").json()
    assert "same, sample for sample" in result["finding"]
    assert not result["significant"]


@pytest.mark.parametrize("way", [*RULES, DRAFT_ALONE])
def test_every_way_speaks(prepare, way):
    first = "baseline" if way != "baseline" else "lossless"
    assert finished(prepare(AB, first, way))[-1]["state"] == "done"


def test_the_ceiling_speaks_the_recorded_texts(prepare, store):
    design = store.design(finished(prepare(first=CEILING, texts=""))[-2]["test"])
    assert [item.text for item in design.items] == [r.text for r in RECORDED[:6]]


def test_there_is_a_way_for_each_rule_and_it_says_whether_it_is_lossless():
    assert set(RULES) < set(all_ways())
    assert "(lossless)" in find_way("lossless").title
    assert find_way("ssd").title == "SSD tolerance, β = 0.2 (not lossless)"


def test_settings_decide_neither_draft_nor_rule(prepare, store):
    settings = ("joe", NO_DRAFT, "same-seed", AUTOMATIC, 0.8, 1, 3, 1)
    design = store.design(
        finished(prepare(ABX, "baseline", "lossless", 6, TEXTS, *settings))[-2]["test"]
    )
    assert design.gamma >= 1
    assert not all(item.same for item in design.items)


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
        ({"trials": 6.5}, "The number of trials 6.5 is not whole"),
        ({"trials": float("nan")}, "5 to 100"),
        ({"kind": AB, "trials": 5}, "6 to 100"),
        ({"texts": " \n\u200b\n"}, "no texts"),
        ({"texts": None}, "no texts"),
        ({"texts": "fine\n" + "x" * 301}, "Text 2 has 301"),
        ({"texts": "fine\n?!"}, "Text 2 has nothing to say"),
        ({"texts": "\n".join("abcdefg")}, "7 texts for 6 trials"),
        ({"first": CEILING, "trials": 8}, "at most 7 trials"),
        # As only a program sends them.
        ({"kind": ["abx"]}, "kind"),
        ({"first": ["baseline"]}, "two ways"),
        ({"second": 3}, "two ways"),
        ({"trials": "six"}, "5 to 100"),
        ({"trials": [6]}, "5 to 100"),
        ({"trials": float("inf")}, "5 to 100"),
        ({"texts": ["hello"]}, "no texts"),
    ],
)
def test_what_is_refused(prepare, store, change, part):
    end = finished(prepare(**change))[-1]
    assert (end["state"], part in end["text"]) == ("failed", True), end["text"]
    assert not store.folder("").exists()


@pytest.mark.parametrize("place", range(len(SETTINGS)))
@pytest.mark.parametrize("value", [None, "x", [], {}, float("nan"), "\ud800"])
def test_settings_of_another_kind(prepare, place, value):
    settings = [*SETTINGS[:place], value, *SETTINGS[place + 1 :]]
    end = finished(prepare(ABX, "baseline", "lossless", 6, TEXTS, *settings))[-1]
    assert "terminal has the details" not in end["text"]


def test_at_temperature_0_no_pair_of_clips_comes_twice(prepare, store):
    greedy = ("joe", DRAFT, "lossless", 4, 0, 1, 3, 1)
    end = finished(prepare(ABX, "baseline", "lossless", 6, "a\na\nb\nc\nd\ne", *greedy))[-1]
    assert "6 trials need 6 different texts, and there are 5" in end["text"]
    texts = "ab\nabc\nabcd\nabcde\nabcdef"
    test = finished(prepare(ABX, "baseline", "lossless", 5, texts, *greedy))[-2]["test"]
    assert len({item.text for item in store.design(test).items}) == 5


def test_no_clip_comes_twice_at_a_small_top_p_either(prepare, store):
    cold = ("joe", DRAFT, "lossless", 4, 0.8, 1e-6, 3, 1)
    end = finished(prepare(ABX, "baseline", "lossless", 6, TEXTS, *cold))[-1]
    assert "“hello there” came out the same with two seeds" in end["text"]
    assert "top-p 1e-06" in end["text"]
    assert not any(store.folder("").iterdir())
    texts = "ab\nabc\nabcd\nabcde\nabcdef"
    assert finished(prepare(ABX, "baseline", "lossless", 5, texts, *cold))[-1]["state"] == "done"


def test_a_seed_that_is_not_whole_is_not_rounded(prepare):
    settings = ("joe", DRAFT, "lossless", 4, 0.8, 1, 1.5, 1)
    end = finished(prepare(ABX, "baseline", "lossless", 6, TEXTS, *settings))[-1]
    assert end["text"] == "Seed 1.5 is not whole: give a whole number."


def test_a_gamma_that_would_adapt_is_said_to_be_fixed(prepare, studio):
    settings = ("joe", DRAFT, "lossless", ADAPTIVE, 0.8, 1, 3, 1)
    end = finished(prepare(ABX, "baseline", "lossless", 6, TEXTS, *settings))[-1]
    assert end["text"].endswith(f"the automatic one, {studio.ready('joe').gamma}.")


def test_texts_in_another_script_are_named(prepare):
    assert finished(prepare())[-1]["text"] == "The test is ready."
    end = finished(prepare(texts="hello\n你好世界\nПривет"))[-1]
    assert end["text"].startswith("The test is ready. Text 2, 3: letters that are not Latin")


def test_stopping_while_texts_are_checked(studio):
    asked = []
    plan = Plan.from_controls(lambda _: (), ABX, "baseline", "lossless", 5, "a\nb\nc", *SETTINGS)
    with studio.use("joe") as ready:
        preparing.check_speakable(plan, ready.engine.voice, lambda: asked.append(True))
    assert len(asked) == 3


def test_all_trials_are_equally_loud(prepare, store, monkeypatch):
    """One clip that would be too loud lowers all: none tells its way, or its trial, by that."""
    level = iter([1.0, 1.0, 3.0, 1.0] + 8 * [1.0])
    monkeypatch.setattr(clips, "level", lambda clip, _: clip / np.abs(clip).max() * next(level))
    design = store.design(finished(prepare())[-2]["test"])
    assert design.gain == pytest.approx(LOUDEST / 3)
    peaks = []
    for item in design.items:
        for name in item.clips:
            clip = soundfile.read(store.folder(design.test) / name)[0]
            peaks.append(design.gain * np.abs(clip).max())
    assert sorted(peaks) == pytest.approx([LOUDEST / 3] * 11 + [LOUDEST])


def test_a_full_disk_is_told(prepare, store, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    end = finished(prepare())[-1]
    assert (end["state"], "No space left" in end["text"]) == ("failed", True)
    assert list(store.folder("").iterdir()) == []


def test_a_folder_without_a_test_is_no_test(store, client):
    (store.folder("0" * 16)).mkdir(parents=True)
    assert client.get(f"/forespeak/listen/{'0' * 16}").status_code == 404


def test_who_speaks_meanwhile_does_not_stop_it(prepare, runs):
    run = prepare()
    runs.start(lambda _: "", ME.session_hash)
    assert finished(run)[-1]["state"] == "done"


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
