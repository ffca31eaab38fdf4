"""Bark as a voice, from text to sound, on tiny random checkpoints."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", minversion="5.24")

from core.engine import AudioReady, Engine, Finished, Settings
from core.errors import ForespeakError
from core.lm.weights import Weights
from core.sampling import Sampling
from core.trace import Trace, first_difference
from core.voices.bark import BarkVoice, bark_work, needed
from core.voices.declaration import BarkDeclaration, read_declaration
from tests.core.lm.test_bark import save_bark, save_speaker, tiny_bark
from tests.tiny_voice import make_tokenizer

CPU = torch.device("cpu")
WARM = Settings(Sampling(temperature=1.0), gamma=5)


class Here:
    """A hub of which everything is here."""

    def __init__(self, root: Path):
        self._root = root

    def require(self, repository: object, _: str) -> Path:
        return self._root / str(repository).split("/")[1]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Here:
    root = tmp_path_factory.mktemp("barks")
    for seed, name in enumerate(("bark", "bark-small")):
        # Bytes are the whole vocabulary: text ids must fit behind the semantic ones.
        folder = save_bark(tiny_bark(seed, text=256), root / name)
        make_tokenizer(folder, [])
    rng = np.random.default_rng(0)
    fine = rng.integers(32, size=(8, 9))
    history = {"semantic": rng.integers(50, size=9), "coarse": fine[:2], "fine": fine}
    save_speaker(root / "bark", "v2/en_speaker_6", history)
    return Here(root)


@pytest.fixture(scope="module")
def engine(hub: Here) -> Engine:
    return Engine(BarkVoice("bark", read_declaration("bark"), CPU, hub), CPU)


def speak(engine: Engine, settings: Settings) -> tuple[Trace, np.ndarray]:
    pieces = [np.empty(0, dtype=np.float32)]
    for event in engine.synthesize("Say something. Or not.", settings):
        if isinstance(event, AudioReady):
            pieces.append(event.samples)
        if isinstance(event, Finished):
            trace = event.trace
    return trace, np.concatenate(pieces)


def test_same_seed_is_the_baseline_s_sound_through_all_stages(engine: Engine) -> None:
    """Semantic tokens that differed would show as another length."""
    spoken = 0
    for seed in range(2):
        settings = replace(WARM, rule="same-seed", seed=seed)
        baseline, wanted = speak(engine, replace(settings, gamma=0))
        trace, sound = speak(engine, settings)
        assert first_difference(trace, baseline) is None
        assert np.array_equal(sound, wanted)
        assert len(sound) == sum(s.frames for s in trace.sentences) * 320
        spoken += len(sound)
        for round_ in trace.rounds:
            assert round_.position % 12 + len(round_.draft_tokens) < 12, "a draft crossed an edge"
    assert spoken


def test_every_rule_speaks_and_the_trace_holds(engine: Engine, tmp_path: Path) -> None:
    for rule in ("lossless", "block", "ssd", "pcg"):
        trace, _ = speak(engine, replace(WARM, rule=rule))
        trace.save(tmp_path / "trace.json")
        assert Trace.load(tmp_path / "trace.json") == trace


def test_the_pace_is_its_own(engine: Engine) -> None:
    with pytest.raises(ForespeakError, match="chooses its own pace"):
        speak(engine, replace(WARM, rate=2.0))


def test_what_is_fetched() -> None:
    declaration = read_declaration("bark")
    assert isinstance(declaration, BarkDeclaration)
    assert "speaker_embeddings/v2/en_speaker_6_fine_prompt.npy" in (
        declaration.repositories["target"].files
    )


def test_one_that_does_not_fit_is_not_loaded(hub: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """The draft's codec and last stage are not loaded, so they need no room."""
    target, draft = (hub.require(name, "") for name in ("suno/bark", "suno/bark-small"))
    need, all_of_both = needed(target, draft), Weights(target).parameters * 2
    assert 2 * all_of_both * 0.6 < need < 2 * all_of_both
    monkeypatch.setattr("core.memory.free_memory", lambda _: need)
    BarkVoice("bark", read_declaration("bark"), CPU, hub)
    monkeypatch.setattr("core.memory.free_memory", lambda _: need - 1)
    with pytest.raises(ForespeakError, match=r"^bark needs .* choose the voice joe, or close"):
        BarkVoice("bark", read_declaration("bark"), CPU, hub)


def test_what_a_second_of_sound_takes(hub: Here) -> None:
    """By hand: 49.9 semantic and 150 coarse tokens, a prompt per window, six passes at the end."""
    folder = hub.require("suno/bark", "")
    bark = tiny_bark(0, text=256)
    semantic, coarse = (
        sum(tensor.numel() for name, tensor in part.named_parameters() if "_embeds_" not in name)
        for part in (bark.semantic, bark.coarse_acoustics)
    )
    work = bark_work(folder)
    assert work.single == pytest.approx(49.9 * semantic + 150 * coarse)
    assert work.many > 150 / 12 * (16 + 30 / 2) * coarse
