"""A declared voice, from the hub to sound: tiny random checkpoints in their published formats."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", minversion="5.24")
pytest.importorskip("httpx2")
from transformers import LlamaForCausalLM

from core.engine import AudioReady, Engine, Finished, Settings
from core.errors import ForespeakError
from core.forecast import Speed
from core.hub import Hub
from core.recording import record
from core.sampling import Sampling
from core.trace import Trace, first_difference
from core.voices.declaration import Declaration, read_declaration
from core.voices.declared import Declared, expect_rtf
from tests.fake_hub import FakeHub, serving
from tests.tiny_voice import DECLARATION, SIGNS, SIZE, SPEECH, make_model, make_voice

CPU = torch.device("cpu")
TEXT = "Say it. Then say something else."
WARM = Settings(Sampling(temperature=3.0), gamma=3)


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeHub]:
    with serving(FakeHub(make_voice(tmp_path_factory.mktemp("served")))) as fake:
        yield fake


@pytest.fixture(scope="module")
def hub(fake: FakeHub, tmp_path_factory: pytest.TempPathFactory) -> Hub:
    """Its cache holds the voice."""
    hub = Hub(fake.url, tmp_path_factory.mktemp("cache"))
    for repository in declare(hub.cache).repositories.values():
        hub.download(repository)
    return hub


def declare(folder: Path, text: str = DECLARATION) -> Declaration:
    (folder / "tiny.toml").write_text(text, encoding="utf-8")
    return read_declaration("tiny", folder)


@pytest.fixture(scope="module")
def engine(hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    declaration = declare(tmp_path_factory.mktemp("voices"))
    return Engine(Declared("tiny", declaration, CPU, hub), CPU)


def speak(engine: Engine, settings: Settings, text: str = TEXT) -> tuple[Trace, np.ndarray]:
    pieces = [np.empty(0, dtype=np.float32)]  # a sentence may end before it begins
    for event in engine.synthesize(text, settings):
        if isinstance(event, AudioReady):
            pieces.append(event.samples)
        if isinstance(event, Finished):
            trace = event.trace
    return trace, np.concatenate(pieces)


def tokens_of(trace: Trace, sentence: int) -> list[int]:
    rounds = [round_ for round_ in trace.rounds if round_.sentence == sentence]
    return [token for round_ in rounds for token in round_.tokens]


def test_it_speaks_until_it_ends_itself(engine: Engine, tmp_path: Path) -> None:
    """As many frames as were said before the end; all of them sound; and the trace holds."""
    lengths = set()
    for seed in range(4):
        trace, sound = speak(engine, replace(WARM, seed=seed))
        for number, sentence in enumerate(trace.sentences):
            tokens = tokens_of(trace, number)
            ended = tokens[-1] == SIZE
            assert SIZE not in tokens[:-1]
            assert sentence.frames == len(tokens) - ended
            lengths.add(sentence.frames)
        assert len(sound) == sum(s.frames for s in trace.sentences) * 320
        trace.save(tmp_path / "trace.json")
        assert Trace.load(tmp_path / "trace.json") == trace
    assert len(lengths) > 2


def test_same_seed_is_the_baseline_s_sound(engine: Engine) -> None:
    settings = replace(WARM, rule="same-seed", seed=2)
    baseline, wanted = speak(engine, replace(settings, gamma=0))
    for draft in ("model", "ngram"):
        trace, sound = speak(engine, replace(settings, draft=draft))
        assert first_difference(trace, baseline) is None
        assert np.array_equal(sound, wanted)
        assert any(round_.draft_tokens for round_ in trace.rounds)


def test_draft_and_target_call_entries_by_ids_of_their_own(engine: Engine) -> None:
    """A draft that is the target under other names agrees with it everywhere."""
    plan = engine.voice.plan("Hello.", 1.0)
    target, draft = engine.voice.target(plan), engine.voice.draft(plan)
    assert target.forward([]).shape == draft.forward([]).shape == (1, SIZE + 1)
    assert engine.voice._target.vocabulary.id("<|s_0|>") != engine.voice._draft.vocabulary.id(
        "<|s_0|>"
    )


def test_the_draft_alone_speaks_and_ends(engine: Engine) -> None:
    ends = set()
    for seed in range(4):
        trace, _ = speak(engine.draft_alone(), replace(WARM, seed=seed, gamma=0))
        ends |= {trace.rounds[-1].next_token == SIZE}
    assert True in ends


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (replace(WARM, rate=1.5), "chooses its own pace"),
        (replace(WARM, rule="pcg"), "cannot tell: choose another rule"),
        (replace(WARM, draft="heads"), "choose one of model, ngram"),
    ],
)
def test_what_it_cannot_do_is_refused(engine: Engine, settings: Settings, words: str) -> None:
    with pytest.raises(ForespeakError, match=words):
        speak(engine, settings)


def test_step_mode_keeps_a_sentence_that_ends_itself(engine: Engine) -> None:
    recording = record(engine, "Hello.", WARM)
    assert len(recording.target_logits) == len(recording.trace.rounds) > 0


def test_a_voice_that_is_not_here_says_how_to_get_it(fake: FakeHub, tmp_path: Path) -> None:
    with pytest.raises(ForespeakError, match=r"not on this computer yet: launch\.py fetch tiny"):
        Declared("tiny", declare(tmp_path), CPU, Hub(fake.url, tmp_path / "empty"))


def test_without_a_draft_there_is_repetition(hub: Hub, tmp_path: Path) -> None:
    text = DECLARATION.replace('[draft]\nrepository = "tiny/draft"\n', "")
    engine = Engine(Declared("tiny", declare(tmp_path, text), CPU, hub), CPU)
    speak(engine, replace(WARM, draft="ngram"), "Hi.")
    with pytest.raises(ForespeakError, match="choose one of ngram"):
        speak(engine, WARM)


@pytest.mark.parametrize(
    ("added", "words"),
    [
        ([*SIGNS, *SPEECH[:-1]], r"of tiny/draft has no token <\|s_8\|>"),
        ([*SIGNS[:2], *SPEECH], r"of tiny/draft has no token <\|end\|>"),
    ],
)
def test_vocabularies_that_cannot_be_brought_together_are_refused(
    fake: FakeHub, tmp_path: Path, added: list[str], words: str
) -> None:
    make_model(tmp_path / "served", added, seed=3)
    fake = FakeHub({**fake.repositories, "tiny/draft": tmp_path / "served"})
    declaration = declare(tmp_path)
    with serving(fake):
        hub = Hub(fake.url, tmp_path / "cache")
        for repository in declaration.repositories.values():
            hub.download(repository)
    with pytest.raises(ForespeakError, match=words):
        Declared("tiny", declaration, CPU, hub)


def test_codebooks_that_the_codec_does_not_have(hub: Hub, tmp_path: Path) -> None:
    text = DECLARATION + '\n[[codebooks]]\ntoken = "<|t_{}|>"\n'
    with pytest.raises(ForespeakError, match="has one codebook, not 2"):
        Declared("tiny", declare(tmp_path, text), CPU, hub)


def test_a_voice_that_does_not_fit_is_not_loaded(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.memory.free_memory", lambda _: 1000)
    declaration = declare(tmp_path, 'smaller = "tinier"\n' + DECLARATION)
    with pytest.raises(ForespeakError, match=r"tiny needs .* choose the voice tinier"):
        Declared("tiny", declaration, CPU, hub)


def test_what_to_expect_of_it(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """50 tokens a second, each through everything but the embedding."""
    model = LlamaForCausalLM.from_pretrained(hub.find(declare(tmp_path).repositories["target"]))
    passed = sum(weight.numel() for weight in model.parameters())
    passed -= model.model.embed_tokens.weight.numel()
    monkeypatch.setattr("core.voices.declared.measure_speed", lambda: Speed(passed * 10, 1.0))
    assert expect_rtf("tiny", hub, tmp_path) == pytest.approx(5)
