"""The engine's promises to its callers: settings, the order of events, and what it holds."""

import math
import weakref
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from core.engine import (
    MAX_GAMMA,
    AudioReady,
    EarlierSaid,
    Engine,
    Event,
    Finished,
    RoundDone,
    SentenceStarted,
    Settings,
    Started,
    leave_a_core,
    pick_device,
)
from core.errors import ForespeakError
from core.sampling import Sampling
from core.voices.base import Plan
from core.voices.catalog import find_voice, recommended_sampling
from tests.fake_voice import FakeVoice, StagedVoice, ToneStream, fake_engine

TEXT = "hello there my friend\nand another\nyes"


def run(text: str = TEXT, **settings: object) -> list[Event]:
    return list(fake_engine().synthesize(text, Settings(**settings)))


def of_kind(events: list[Event], kind: type) -> list:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"gamma": -1}, f"γ -1 .* 0 .baseline. to {MAX_GAMMA}"),
        ({"gamma": MAX_GAMMA + 1}, f"γ {MAX_GAMMA + 1} "),
        ({"rate": 0.49}, r"rate 0.49 .* 0.5 to 2"),
        ({"rate": 2.01}, r"rate 2.01 "),
        ({"rate": math.nan}, "rate nan"),
        ({"rule": "none"}, "rule 'none'.*lossless"),
    ],
)
def test_settings_out_of_range_are_refused_with_a_line(setting: dict, message: str):
    with pytest.raises(ForespeakError, match=message) as error:
        Settings(**setting)
    assert "\n" not in str(error.value)


def test_settings_at_the_limits_speak():
    for setting in ({"gamma": 0}, {"gamma": MAX_GAMMA}, {"rate": 0.5}, {"rate": 2.0}):
        assert isinstance(run(**setting)[-1], Finished)
    baseline = run(gamma=0)[-1].trace
    assert all(round_.draft_tokens == () for round_ in baseline.rounds)


def test_names_that_do_not_exist_are_refused_with_a_line():
    with pytest.raises(ForespeakError, match="voice 'nobody': choose one of joe"):
        find_voice("nobody")
    with pytest.raises(ForespeakError, match="device 'tpu'"):
        pick_device("tpu")
    assert pick_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("gamma", [0, 1, 5])
def test_events_come_in_order_and_add_up_to_the_trace(gamma: int):
    """The page shows events, a saved trace is shown from records: they must be the same run."""
    events = run(gamma=gamma, seed=4)
    assert isinstance(events[0], Started)
    assert isinstance(events[1], SentenceStarted)
    assert isinstance(events[-1], Finished)
    assert len(of_kind(events, Started)) == len(of_kind(events, Finished)) == 1
    trace = events[-1].trace
    assert replace(trace, sentences=(), rounds=(), chunks=(), total_s=0.0) == events[0].trace
    assert trace.rounds == tuple(event.round for event in of_kind(events, RoundDone))
    assert trace.chunks == tuple(event.chunk for event in of_kind(events, AudioReady))
    started = of_kind(events, SentenceStarted)
    assert [event.index for event in started] == [0, 1, 2]
    assert trace.sentences == tuple(event.sentence for event in started)
    assert [sentence.text for sentence in trace.sentences] == TEXT.splitlines()
    current = None
    for event in events:
        match event:
            case SentenceStarted(index=current):
                pass
            case RoundDone(round=record) | AudioReady(chunk=record):
                assert record.sentence == current


@pytest.mark.parametrize("gamma", [0, 3])
def test_each_sentence_begins_anew_and_is_whole(gamma: int):
    """A frame carried over a sentence's end, or a codec stream that is not closed."""
    trace = run(gamma=gamma)[-1].trace
    per_frame = trace.sample_rate / trace.frame_rate
    for index, sentence in enumerate(trace.sentences):
        position = 0
        for round_ in (r for r in trace.rounds if r.sentence == index):
            assert round_.position == position
            position += len(round_.tokens)
        assert position == sentence.frames * trace.num_codebooks
        start = 0
        for chunk in (c for c in trace.chunks if c.sentence == index):
            assert chunk.start == start
            assert chunk.samples > 0
            start += chunk.samples
        assert start == sentence.frames * per_frame


def test_the_sound_is_the_codec_s_own_of_the_tokens():
    """Codes that are transposed, shifted or cut on their way to the codec."""
    engine = fake_engine()
    events = run(gamma=3)
    trace, Q = events[-1].trace, engine.voice.codec.num_codebooks
    for index in range(len(trace.sentences)):
        tokens = [t for r in trace.rounds if r.sentence == index for t in r.tokens]
        wanted = engine.voice.codec.decode(torch.tensor(tokens).view(-1, Q).T)
        pieces = [e.samples for e in of_kind(events, AudioReady) if e.chunk.sentence == index]
        np.testing.assert_array_equal(np.concatenate(pieces), wanted.numpy())
        assert pieces[0].dtype == np.float32


def test_time_never_runs_backwards():
    events = run()
    times = [
        event.round.at_s if isinstance(event, RoundDone) else event.chunk.at_s
        for event in events
        if isinstance(event, RoundDone | AudioReady)
    ]
    assert times[0] > 0
    assert all(earlier <= later for earlier, later in pairwise(times))
    assert times[-1] <= events[-1].trace.total_s


def test_a_chunk_is_stamped_when_its_samples_are_there(monkeypatch: pytest.MonkeyPatch):
    """A GPU answers late: TTFA must count the wait for the samples, not the launch only."""
    clock = [0.0]
    monkeypatch.setattr("core.engine.perf_counter", lambda: clock[0])

    class Late(torch.Tensor):
        def cpu(self) -> torch.Tensor:
            clock[0] += 5
            return torch.Tensor(self)

    class LateStream(ToneStream):
        def push(self, codes: torch.Tensor) -> torch.Tensor:
            return super().push(codes).as_subclass(Late)

    engine = fake_engine()
    engine.voice.codec.stream = lambda: LateStream(engine.voice.codec)
    events = engine.synthesize("hello there", Settings())
    first = next(event for event in events if isinstance(event, AudioReady))
    assert first.chunk.at_s == 5


def test_the_same_seed_speaks_the_same_and_others_do_not():
    def spoken(seed: int) -> bytes:
        return b"".join(e.samples.tobytes() for e in of_kind(run(seed=seed), AudioReady))

    assert spoken(1) == spoken(1) != spoken(2)


def test_sentences_of_one_run_do_not_share_their_noise():
    """The same words twice must not be the same sound twice."""
    trace = run("hello there\nhello there", sampling=Sampling(1.5))[-1].trace
    first, second = (
        [t for r in trace.rounds if r.sentence == index for t in r.tokens] for index in (0, 1)
    )
    assert first != second


class WatchedVoice(FakeVoice):
    """Notes what the engine asks for; `models` are weak references to what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.split: list[str] = []
        self.planned: list[str] = []
        self.models: list[weakref.ref] = []

    def sentences(self, text: str) -> Iterator[str]:
        for sentence in super().sentences(text):
            self.split.append(sentence)
            yield sentence

    def plan(self, sentence: str, rate: float) -> Plan:
        self.planned.append(sentence)
        return super().plan(sentence, rate)

    def target(self, plan: Plan) -> object:
        model = super().target(plan)
        self.models.append(weakref.ref(model))
        return model

    def draft(self, plan: Plan) -> object:
        model = super().draft(plan)
        self.models.append(weakref.ref(model))
        return model


def watched() -> tuple[WatchedVoice, Engine]:
    voice = WatchedVoice()
    return voice, Engine(voice, torch.device("cpu"))


def test_a_sentence_is_read_and_planned_only_when_the_one_before_is_out():
    """The time to the first sound must not grow with the text."""
    voice, engine = watched()
    lines = TEXT.splitlines()
    events = engine.synthesize(TEXT, Settings())
    assert voice.split == lines[:1]
    assert voice.planned == []
    sound = [0, 0, 0]
    for event in events:
        match event:
            case SentenceStarted(index=index):
                assert voice.split == voice.planned == lines[: index + 1]
                if index:
                    frames = max(2, len(lines[index - 1].replace(" ", "")))
                    assert sound[index - 1] == frames * 1024
            case AudioReady(chunk=chunk):
                sound[chunk.sentence] += chunk.samples
                assert len(voice.split) == len(voice.planned) == chunk.sentence + 1


@pytest.mark.parametrize("gamma", [0, 3])
def test_what_a_sentence_needs_first_is_told_round_by_round(gamma: int):
    """Minutes without a sign of life, and without a chance to stop, where such a stage is slow."""
    events = list(fake_engine(StagedVoice()).synthesize("hello\nyou", Settings(gamma=gamma)))
    trace = events[-1].trace
    assert [(said.sentence, said.stage) for said in trace.earlier] == [(0, "idea"), (1, "idea")]
    for said in trace.earlier:
        told = [
            e.earlier for e in of_kind(events, EarlierSaid) if e.earlier.sentence == said.sentence
        ]
        assert [earlier.passes for earlier in told] == list(range(1, said.passes + 1))
        assert told[-1] == said
        assert bool(said.drafted) == bool(gamma)
        start = next(e for e in of_kind(events, SentenceStarted) if e.index == said.sentence)
        assert start.sentence.frames == said.tokens
        assert events.index(start) == 1 + max(
            i for i, e in enumerate(events) if isinstance(e, EarlierSaid) and e.earlier == said
        )
    one, *others = (
        fake_engine(StagedVoice()).trace("hello", Settings(gamma=g, rule="same-seed"))
        for g in (0, 2, 5)
    )
    assert {other.earlier[0].tokens for other in others} == {one.earlier[0].tokens}


def test_a_stage_may_end_itself_at_once():
    trace = fake_engine(StagedVoice(longest=0)).trace("hello", Settings())
    assert (trace.earlier[0].tokens, trace.earlier[0].passes) == (0, 0)


def test_a_voice_draws_as_it_is_meant_to():
    assert recommended_sampling("joe") == Sampling()
    assert recommended_sampling("bark") == Sampling(temperature=0.7)
    with pytest.raises(ForespeakError, match="'nobody'"):
        recommended_sampling("nobody")


def test_nothing_to_say_is_said_before_any_event():
    with pytest.raises(ForespeakError, match="nothing to say"):
        fake_engine().synthesize("… !\n?", Settings())


def test_what_was_spoken_before_a_failure_has_been_heard():
    """A later sentence that fails must not take the first one's sound with it."""
    events = fake_engine().synthesize("hello\nfail", Settings())
    heard = 0
    with pytest.raises(ForespeakError, match="fake voice failed"):  # noqa: PT012
        for event in events:
            heard += len(event.samples) if isinstance(event, AudioReady) else 0
    assert heard == len("hello") * 1024


def test_closing_or_finishing_releases_the_models():
    """A cache of a stopped run that lives on: memory grows with every press of Stop."""
    voice, engine = watched()
    events = engine.synthesize(TEXT, Settings())
    while not isinstance(next(events), AudioReady):
        pass
    assert all(model() is not None for model in voice.models)
    assert len(voice.models) == 2
    events.close()
    assert all(model() is None for model in voice.models)
    assert next(events, None) is None
    finished = engine.synthesize(TEXT, Settings())
    for event in finished:
        if isinstance(event, SentenceStarted):  # those before are done, and gone
            assert all(model() is None for model in voice.models)
    assert len(voice.models) == 8
    assert all(model() is None for model in voice.models)


@pytest.mark.parametrize(("threads", "left"), [(4, 3), (2, 1), (1, 1)])
def test_a_core_is_left_for_the_page(threads, left):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        leave_a_core()
        assert torch.get_num_threads() == left
    finally:
        torch.set_num_threads(before)
