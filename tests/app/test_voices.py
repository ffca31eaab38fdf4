"""Voices as the page offers them, and whatever shape they have."""

import json
from types import SimpleNamespace

import pytest

from app import voices
from app.exports import EXPORTS
from app.handlers import Handlers
from app.orders import NO_DRAFT
from app.runs import Runs
from app.studio import Studio
from app.voices import Offer, draft_choices, offer, offers, too_slow, why_not
from app.wire import Lane
from core.engine import Settings
from core.errors import ForespeakError
from core.trace import Trace
from core.verify import RULES
from core.voices.catalog import voice_names
from tests.app.conftest import finished
from tests.fake_voice import EndingVoice, FakeVoice, ToneCodec, fake_engine

ME = SimpleNamespace(session_hash="me")
CONTROLS = ("joe", "model", "lossless", 4, 0.8, 1, 3, 1)
SHAPES = [(1, 16000, 320), (2, 22050, 1024), (8, 44100, 588)]


class Cache:
    """Implements what is asked of a `Hub`: all of a voice is here, or nothing is."""

    def __init__(self, here=True):
        self.here = here

    def find(self, _):
        return "folder" if self.here else None

    def missing(self, _):
        return [SimpleNamespace(size=5e9)]


@pytest.fixture
def warned(monkeypatch):
    texts = []
    monkeypatch.setattr("app.handlers.gr.Warning", lambda text, **_: texts.append(text))
    return texts


class TestOffers:
    def test_every_voice_is_listed_and_who_is_not_here_says_how_to_get_it(self, monkeypatch):
        monkeypatch.setattr(voices, "Hub", lambda: Cache(here=False))
        found = offers()
        assert [each.name for each in found] == voice_names()
        assert [each.here for each in found] == [each.name == "joe" for each in found]
        assert offer("bark").title == "bark (not here: launch.py fetch bark)"

    def test_one_that_is_here_is_only_its_name(self, monkeypatch):
        monkeypatch.setattr(voices, "Hub", Cache)
        assert offer("bark") == Offer("bark", ("model", "ngram"), True, "bark")

    def test_without_the_package_nothing_fails(self, monkeypatch):
        def absent():
            raise ForespeakError("The package x is missing: pip install x")

        monkeypatch.setattr(voices, "Hub", absent)
        assert offer("bark").title == "bark (The package x is missing)"
        assert why_not("bark") == "The package x is missing: pip install x"

    def test_a_voice_without_a_draft_model_has_the_other_drafts(self):
        chosen = Offer("x", ("ngram",), True, "x")
        assert [name for _, name in draft_choices(chosen)] == ["ngram", NO_DRAFT]


class TestChoosing:
    @pytest.fixture
    def handlers(self, studio):
        return Handlers(studio, Runs(), {})

    def test_one_that_is_not_here_leaves_the_voice_as_it_was(self, handlers, warned, monkeypatch):
        monkeypatch.setattr(voices, "Hub", lambda: Cache(here=False))
        shown, current, *_ = handlers.choose("bark", "joe", "heads")
        assert (shown["value"], current) == ("joe", "joe")
        (text,) = warned
        assert "launch.py fetch bark (10.0 GB)" in text
        assert "Licence: MIT" in text

    def test_a_hub_out_of_reach_does_not_matter(self, monkeypatch):
        def unreachable(_, __):
            raise ForespeakError("Cannot reach the hub: check the network.")

        monkeypatch.setattr(voices, "Hub", lambda: Cache(here=False))
        monkeypatch.setattr(Cache, "missing", unreachable)
        assert "launch.py fetch bark (it tells the size first)" in why_not("bark")

    @pytest.mark.parametrize(("rtf", "told"), [(12.3, ["about 12 s of work"]), (0.8, [])])
    def test_a_slow_one_says_so_before_it_is_loaded(self, handlers, monkeypatch, rtf, told):
        informed = []
        monkeypatch.setattr("app.handlers.gr.Info", lambda text, **_: informed.append(text))
        monkeypatch.setattr(voices, "Hub", Cache)
        monkeypatch.setattr(voices, "expect_rtf", lambda *_: rtf)
        assert handlers.choose("bark", "joe", "model")[1] == "bark"
        assert all(words in text for words, text in zip(told, informed, strict=True))
        assert too_slow("joe", "cpu") is None

    def test_drafts_are_those_of_the_voice(self, handlers, warned, monkeypatch):
        monkeypatch.setattr(voices, "Hub", Cache)
        monkeypatch.setattr(voices, "expect_rtf", lambda *_: 0.1)
        _, current, drafts, *draws = handlers.choose("bark", "joe", "heads")
        assert (current, drafts["value"], warned) == ("bark", "model", [])
        assert draws == [0.7, 1.0]
        assert [name for _, name in drafts["choices"]] == ["model", "ngram", NO_DRAFT]
        assert handlers.choose("bark", "joe", "ngram")[2]["value"] == "ngram"


@pytest.mark.parametrize("kind", [FakeVoice, EndingVoice])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape[0]} codebooks")
def test_a_run_of_any_voice_can_be_saved_as_anything(shape, kind):
    lane = Lane(0, 100.0)
    for event in fake_engine(kind(ToneCodec(*shape))).synthesize("hello\nyou", Settings(gamma=3)):
        lane.add(event)
    files = {name: make(lane) for name, (_, make) in EXPORTS.items()}
    trace = Trace.from_json(files["trace.json"].decode(), "trace")
    assert [sentence.frames for sentence in trace.sentences] == [5, 3]
    assert len(trace.pcm()) == 8 * shape[2]
    assert files["figure.svg"].decode().count(">end ") == (2 if kind is EndingVoice else 0)


class TestWhereNothingIsSaid:
    @pytest.fixture
    def studio(self):
        return Studio(lambda _: fake_engine(EndingVoice()))

    @pytest.mark.parametrize("text", ["nothing", "nothing\nnothing"])
    def test_live_says_so_and_it_can_be_saved(self, studio, text):
        runs = Runs()
        value = Handlers(studio, runs, {}).speak(ME, False, None, text, *CONTROLS)
        run = runs.find(value["run"])
        end = finished(run)[-1]
        assert (end["state"], "ended at once" in end["text"]) == ("done", True)
        for _, make in EXPORTS.values():
            assert make(run.lanes[0])

    def test_a_race_has_no_times_to_compare(self, studio):
        runs = Runs()
        value = Handlers(studio, runs, {}).race(ME, "nothing", *CONTROLS)
        (verdict,) = (
            line for line in finished(runs.find(value["run"])) if line["kind"] == "verdict"
        )
        assert verdict["silent"] == [True, True]
        assert verdict["ttfa_s"] == verdict["rtf"] == [None, None]


def test_a_voice_without_a_draft_model_is_measured_with_what_it_has():
    class Alone(FakeVoice):
        drafts = ("ngram",)

    ready = Studio(lambda _: fake_engine(Alone())).ready("alone")
    assert list(ready.outlooks) == ["ngram"]
    assert ready.gamma >= 1


def test_lines_tell_of_a_sentence_that_ends_itself():
    lane = Lane(0, None)
    engine = fake_engine(EndingVoice())
    lines = [
        json.loads(json.dumps(lane.add(e), default=str))
        for e in engine.synthesize("ab", Settings())
    ]
    (sentence,) = (line for line in lines if line["kind"] == "sentence")
    assert (sentence["ends_itself"], sentence["frames"]) == (True, EndingVoice.LONGEST)
    assert lane.trace().sentences[0].frames == 2


@pytest.mark.parametrize("rule", RULES)
def test_no_rule_minds_a_sentence_that_ends_itself(rule):
    engine = fake_engine(EndingVoice())
    trace = engine.trace("hello there", Settings(rule=rule, gamma=3))
    assert [sentence.frames for sentence in trace.sentences] == [10]
