"""What rejected guesses would have sounded like."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from core.engine import Engine, Settings
from core.ideas import SECONDS, Idea, excerpt, imagine, to_codes, tokens_of, was_rejected
from core.recording import Recording, record
from core.sound import to_int16
from core.trace import Round, Trace
from tests.fake_voice import SAMPLES_PER_FRAME, ToneCodec, fake_engine

Q = ToneCodec.num_codebooks
LONG, SHORT = "hello there how are you today my friend and all", "hi all"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return record(fake_engine(), LONG, Settings(gamma=4, seed=2)).trace


def rejections(trace: Trace) -> list[Round]:
    return [round_ for round_ in trace.rounds if was_rejected(round_)]


def with_idea(trace: Trace, idea: Idea) -> np.ndarray:
    pcm = trace.pcm().copy()
    pcm[idea.start : idea.start + len(idea.pcm)] = idea.pcm
    return pcm


def test_an_idea_is_the_run_with_the_rejected_token_and_the_guesses_behind_it(trace):
    assert len(rejections(trace)) > 5
    assert {len(r.draft_tokens) - r.accepted for r in rejections(trace)} >= {1, 2, 3}
    for round_ in rejections(trace):
        tokens = tokens_of(trace)
        for row in range(round_.accepted, len(round_.draft_tokens)):
            tokens[round_.position + row] = round_.draft_tokens[row]
        expected = to_int16(ToneCodec().decode(torch.tensor(tokens).view(-1, Q).T).numpy())
        idea = imagine(ToneCodec(), trace, round_)
        np.testing.assert_array_equal(with_idea(trace, idea), expected)
        assert idea.pcm[0] != trace.pcm()[idea.start]
        assert len(idea.pcm) <= 3 * SAMPLES_PER_FRAME  # no more than what those tokens touch


def test_tokens_stay_in_the_order_of_speech():
    assert to_codes([1, 2, 3, 4, 0, 1], 2).tolist() == [[1, 3, 0], [2, 4, 1]]


def test_a_guess_that_sounds_the_same_is_an_empty_idea(trace):
    class Silent(ToneCodec):
        def decode(self, codes):
            return 0 * super().decode(codes)

    assert len(imagine(Silent(), trace, rejections(trace)[0]).pcm) == 0


def test_an_excerpt_has_the_place_in_its_middle_wherever_there_is_room(trace):
    length = int(SECONDS * trace.sample_rate)
    for round_ in trace.rounds:
        heard = excerpt(trace, round_)
        assert heard.dtype == np.int16
        assert abs(len(heard) - length) <= 1
    middle = trace.rounds[len(trace.rounds) // 2]
    place = round((middle.position + middle.accepted) / Q * SAMPLES_PER_FRAME)
    heard = excerpt(trace, middle)[length // 2 :][:2000]
    np.testing.assert_array_equal(heard, trace.pcm()[place : place + 2000])


def test_an_excerpt_with_an_idea_differs_only_there(trace):
    for round_ in rejections(trace)[:4]:
        idea = imagine(ToneCodec(), trace, round_)
        kept, guessed = excerpt(trace, round_), excerpt(trace, round_, idea)
        assert len(kept) == len(guessed)
        differs = np.flatnonzero(kept != guessed)
        assert 0 < len(differs) <= len(idea.pcm)
        assert differs[-1] - differs[0] < len(idea.pcm)


def test_it_begins_and_ends_softly(trace):
    loud = replace(trace, sound="").with_sound(np.full(len(trace.pcm()), 9000, np.int16))
    heard = excerpt(loud, trace.rounds[5])
    assert heard[0] == heard[-1] == 0
    assert heard[len(heard) // 2] == 9000
    assert np.abs(np.diff(heard.astype(int))).max() < 200


def test_of_a_short_sentence_it_is_all():
    trace = record(fake_engine(), SHORT, Settings(gamma=4, seed=2)).trace
    assert all(len(excerpt(trace, round_)) == len(trace.pcm()) for round_ in trace.rounds)


@pytest.mark.voice
def test_the_embedded_codec_changes_nothing_far_from_an_idea():
    engine = Engine.load("joe", "cpu")
    recording: Recording = record(engine, "It guesses, then it checks.", Settings(gamma=4))
    trace, codec = recording.trace, engine.voice.codec
    for round_ in rejections(trace)[::6]:
        idea = imagine(codec, trace, round_)
        frame = trace.sample_rate / trace.frame_rate
        place = (round_.position + round_.accepted) / trace.num_codebooks * frame
        assert 0 <= place - idea.start <= 8 * frame
        assert len(idea.pcm) <= 16 * frame
