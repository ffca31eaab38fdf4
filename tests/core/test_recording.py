"""Recordings: everything of a run is kept, and what comes from a file is what was kept."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from core import recording as module
from core.engine import Engine, Settings
from core.errors import ForespeakError
from core.ideas import Idea
from core.recording import Recording, record
from core.sampling import Sampling
from core.steps import view
from core.trace import Trace, first_difference
from core.verify import find_rule
from tests.fake_voice import EndingVoice, FakeVoice, engine_pcm, fake_engine

SETTINGS = Settings(Sampling(0.9, top_p=0.95), gamma=4, seed=3)
TEXT = "hello there"


@pytest.fixture(scope="module")
def recording() -> Recording:
    plain = record(fake_engine(), TEXT, SETTINGS)
    return replace(plain, ideas={0: Idea(70, np.arange(9, dtype=np.int16))})


def same(one: Recording, other: Recording) -> bool:
    tensors = zip(
        one.draft_logits + one.target_logits, other.draft_logits + other.target_logits, strict=True
    )
    ideas = {index: (idea.start, idea.pcm.tolist()) for index, idea in one.ideas.items()}
    return (
        one.trace == other.trace
        and all(torch.equal(mine, yours) for mine, yours in tensors)
        and ideas == {index: (idea.start, idea.pcm.tolist()) for index, idea in other.ideas.items()}
    )


class TestRecord:
    def test_the_run_is_the_one_that_nobody_records(self, recording):
        trace = fake_engine().trace(TEXT, SETTINGS)
        assert first_difference(trace, recording.trace) is None
        untimed = {"draft_s": 0, "verify_s": 0, "at_s": 0}
        assert [replace(r, **untimed) for r in recording.trace.rounds] == [
            replace(r, **untimed) for r in trace.rounds
        ]
        expected = engine_pcm(TEXT, seed=3, sampling=SETTINGS.sampling)
        np.testing.assert_array_equal(recording.trace.pcm(), expected)

    def test_the_logits_are_what_the_models_answered(self, recording):
        voice, emitted = FakeVoice(), []
        for round_, draft, target in zip(
            recording.trace.rounds, recording.draft_logits, recording.target_logits, strict=True
        ):
            prefixes = [
                (*emitted, *round_.draft_tokens[:n]) for n in range(len(round_.draft_tokens) + 1)
            ]
            assert torch.equal(target, torch.stack([*map(voice.target_language, prefixes)]))
            for row, prefix in zip(draft, prefixes, strict=False):
                assert torch.equal(row, voice.draft_language(prefix))
            assert len(draft) == len(round_.draft_tokens)
            emitted += round_.tokens

    def test_answers_are_copies(self, monkeypatch):
        """A model may write the next answer where the last one was."""
        forward = FakeVoice.target

        def spoiled(voice, plan):
            model = forward(voice, plan)
            answer, buffer = model.forward, torch.zeros(64, 5, dtype=torch.float64)

            def overwrite(tokens):
                logits = answer(tokens)
                buffer[: len(logits)] = logits
                return buffer[: len(logits)]

            model.forward = overwrite
            return model

        monkeypatch.setattr(FakeVoice, "target", spoiled)
        again = record(fake_engine(), TEXT, SETTINGS)
        monkeypatch.undo()
        expected = record(fake_engine(), TEXT, SETTINGS)
        for mine, yours in zip(again.target_logits, expected.target_logits, strict=True):
            assert torch.equal(mine, yours)

    def test_only_the_first_sentence_is_spoken(self):
        recorded = record(fake_engine(), "hello\nfail", SETTINGS)
        assert [sentence.text for sentence in recorded.trace.sentences] == ["hello"]

    def test_the_baseline_can_be_recorded(self):
        recorded = record(fake_engine(), "hello", replace(SETTINGS, gamma=0))
        assert all(rows.shape == (0, 5) for rows in recorded.draft_logits)
        assert all(rows.shape == (1, 5) for rows in recorded.target_logits)

    def test_nothing_to_say(self):
        with pytest.raises(ForespeakError, match="nothing to say"):
            record(fake_engine(), "...", SETTINGS)

    def test_a_long_sentence_is_refused_before_it_is_spoken(self, monkeypatch):
        monkeypatch.setattr(FakeVoice, "target", lambda *_: pytest.fail("spoken"))
        with pytest.raises(ForespeakError, match=r"takes 14 s.*Shorten it, or speak faster"):
            record(fake_engine(), "a" * 300, SETTINGS)

    def test_one_that_is_just_short_enough_is_not(self):
        frames = int(module.LONGEST * FakeVoice().codec.frame_rate)
        recorded = record(fake_engine(), "a" * frames, SETTINGS)
        assert recorded.trace.sentences[0].frames == frames

    def test_it_can_be_ended(self):
        looks = iter([None, None, None])

        def check():
            if next(looks, True):
                raise InterruptedError

        with pytest.raises(InterruptedError):
            record(fake_engine(), TEXT, SETTINGS, check)


class TestFile:
    def test_round_trip(self, recording, tmp_path):
        recording.save(tmp_path / "r.safetensors")
        loaded = Recording.load(tmp_path / "r.safetensors")
        assert same(loaded, recording)
        assert loaded.settings == SETTINGS
        assert [path.name for path in tmp_path.iterdir()] == ["r.safetensors"]

    def test_without_ideas(self, recording, tmp_path):
        replace(recording, ideas={}).save(tmp_path / "r.safetensors")
        assert Recording.load(tmp_path / "r.safetensors").ideas == {}

    def test_a_missing_file(self, tmp_path):
        with pytest.raises(ForespeakError, match="missing"):
            Recording.load(tmp_path / "r.safetensors")

    @pytest.mark.parametrize("size", [0, 7, 200, -1])
    def test_a_file_that_was_cut_short(self, recording, tmp_path, size):
        path = tmp_path / "r.safetensors"
        recording.save(path)
        path.write_bytes(path.read_bytes()[:size])
        with pytest.raises(ForespeakError, match=r"r\.safetensors is damaged: record it again"):
            Recording.load(path)

    def test_a_folder(self, tmp_path):
        with pytest.raises(ForespeakError, match="damaged"):
            Recording.load(tmp_path)


def rewrite(path, texts=None, tensors=None):
    """Change parts of a file; None takes one away."""
    with safe_open(path, "pt") as file:
        content = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        header = file.metadata()
    for old, new in ((header, texts or {}), (content, tensors or {})):
        for name, change in new.items():
            old[name] = change and change(old[name])
            if old[name] is None:
                del old[name]
    save_file(content, path, header)


def in_trace(**values):
    return lambda text: json.dumps(json.loads(text) | values)


def with_places(places):
    return lambda text: json.dumps(json.loads(text) | {"places": places})


class TestDamage:
    """A file that can be read, but is no recording."""

    @pytest.fixture
    def path(self, recording, tmp_path):
        recording.save(tmp_path / "r.safetensors")
        return tmp_path / "r.safetensors"

    @pytest.mark.parametrize("name", ["trace", "ideas"])
    @pytest.mark.parametrize("change", [None, lambda _: "{", lambda _: "[]", lambda _: "null"])
    def test_texts(self, path, name, change):
        rewrite(path, texts={name: change})
        with pytest.raises(ForespeakError, match=r"r\.safetensors"):
            Recording.load(path)

    @pytest.mark.parametrize("name", ["draft_logits", "target_logits"])
    @pytest.mark.parametrize(
        "change",
        [
            None,
            lambda rows: rows[1:].clone(),
            lambda rows: rows[:, 1:].clone(),
            lambda rows: rows.flatten(),
            lambda rows: rows.long(),
            lambda rows: torch.full_like(rows, torch.nan),
        ],
    )
    def test_logits(self, path, name, change):
        rewrite(path, tensors={name: change})
        with pytest.raises(ForespeakError, match="damaged"):
            Recording.load(path)

    @pytest.mark.parametrize(
        "values",
        [
            {"rounds": []},
            {"sentences": []},
            {"schema": 1},
            {"rule": "unheard-of"},
            {"temperature": 9.0},
            {"gamma": 60},
            {"sound": "AAAA"},
            {"num_codebooks": 1},
        ],
    )
    def test_traces(self, path, values):
        rewrite(path, texts={"trace": in_trace(**values)})
        with pytest.raises(ForespeakError):
            Recording.load(path)

    @pytest.mark.parametrize(
        "places", [[], [[0, 70, 8]], [[-1, 70, 9]], [[0, -1, 9]], [[999, 70, 9]], [[0, 10**9, 9]]]
    )
    def test_ideas(self, path, places):
        rewrite(path, texts={"ideas": with_places(places)})
        with pytest.raises(ForespeakError, match="damaged"):
            Recording.load(path)

    def test_a_run_that_was_stopped(self, recording, path):
        rounds = json.loads(json.dumps([vars(r) for r in recording.trace.rounds[:-1]]))
        rewrite(
            path,
            texts={"trace": in_trace(rounds=rounds)},
            tensors={
                "draft_logits": lambda _: torch.cat(recording.draft_logits[:-1]),
                "target_logits": lambda _: torch.cat(recording.target_logits[:-1]),
            },
        )
        with pytest.raises(ForespeakError, match="damaged"):
            Recording.load(path)

    def test_two_sentences(self, recording):
        trace = fake_engine().trace("one\ntwo", SETTINGS)
        assert isinstance(trace, Trace)
        with pytest.raises(ValueError, match="one sentence"):
            replace(recording, trace=trace)


@pytest.mark.voice
def test_the_embedded_voice_speaks_as_if_nobody_recorded_it(tmp_path):
    engine = Engine.load("joe", "cpu")
    settings = Settings(seed=1)
    sentence = "It guesses, then it checks."
    recording = record(engine, f"{sentence} Nobody in the whole village knew.", settings)
    trace = engine.trace(sentence, settings)
    assert first_difference(trace, recording.trace) is None
    recording.save(tmp_path / "r.safetensors")
    assert same(Recording.load(tmp_path / "r.safetensors"), recording)


class TestASentenceThatEndsItself:
    def test_it_is_kept_with_its_end_which_no_draft_could_say(self, tmp_path):
        voice = EndingVoice()
        kept = record(fake_engine(voice), TEXT, SETTINGS)
        trace, V = kept.trace, voice.codec.codebook_size
        assert trace.rounds[-1].next_token == V
        assert {rows.shape[1] for rows in kept.draft_logits + kept.target_logits} == {V + 1}
        assert all((rows[:, V] == -torch.inf).all() for rows in kept.draft_logits)
        rule, sampling = find_rule(trace.rule), SETTINGS.sampling
        for index, round_ in enumerate(trace.rounds):
            step = view(kept, index, sampling, rule)
            assert (step.accepted, step.next_token) == (round_.accepted, round_.next_token)
        kept.save(tmp_path / "kept.safetensors")
        assert same(Recording.load(tmp_path / "kept.safetensors"), kept)

    def test_one_that_ends_at_once_cannot_be_kept(self):
        with pytest.raises(ForespeakError, match="ended at once"):
            record(fake_engine(EndingVoice()), "nothing", SETTINGS)

    def test_one_that_does_not_end_is_given_up(self):
        with pytest.raises(ForespeakError, match="keeps up to 12 s"):
            record(fake_engine(EndingVoice()), "a" * 300, SETTINGS)
