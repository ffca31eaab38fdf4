"""Bark's stages against transformers' own, on a tiny random checkpoint in the published format."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from core.adaptive import Fixed, Within
from core.decode import autoregressive, speculative
from core.drafters import DraftModel
from core.errors import ForespeakError
from core.lm.bark import Bark, BarkFine, BarkRules, Speaker, load_speaker
from core.lm.gpt import FineRuntime
from core.lm.weights import Weights, read_config
from core.sampling import Noise, Sampling
from core.trace import Round
from core.verify import RULES
from tests.core.lm.published import randomise, save

transformers = pytest.importorskip("transformers", minversion="5.24")

CPU = torch.device("cpu")
GREEDY = Sampling(temperature=0)
V = 32
SEMANTIC = {
    "text_encoding_offset": 60,
    "text_pad_token": 98,
    "semantic_infer_token": 99,
    "semantic_vocab_size": 50,
    "eos_token_id": 50,
    "max_input_semantic_length": 16,
    "max_new_tokens": 40,
    "do_sample": False,
}
COARSE = {
    "coarse_semantic_pad_token": 120,
    "coarse_infer_token": 121,
    "max_coarse_input_length": 16,
    "max_coarse_history": 30,
    "sliding_window_len": 12,
    "do_sample": False,
}
FINE = {"max_fine_history_length": 16, "max_fine_input_length": 32, "temperature": 1.0}
TEXT = [3, 7, 1, 0, 9]


def sizes(inputs: int, outputs: int, **more: object) -> dict:
    return {
        "block_size": 1024,
        "input_vocab_size": inputs,
        "output_vocab_size": outputs,
        "num_layers": 2,
        "num_heads": 4,
        "hidden_size": 32,
        "bias": False,
        **more,
    }


def tiny_bark(seed: int = 0, text: int = 40, **more: object) -> nn.Module:
    """text: ids that texts may have."""
    config = transformers.BarkConfig(
        semantic_config=sizes(max(100, 60 + text), 52, **more),
        # No outputs behind the second codebook: transformers, unlike Bark's makers, allows them.
        coarse_acoustics_config=sizes(122, 50 + 2 * V, **more),
        fine_acoustics_config=sizes(V + 1, V + 1, n_codes_total=8, n_codes_given=1, **more),
        codec_config={
            "model_type": "encodec",
            "num_filters": 2,
            "hidden_size": 8,
            "codebook_size": V,
            "codebook_dim": 8,
            "num_lstm_layers": 1,
        },
    )
    model = randomise(transformers.BarkModel(config), seed)
    model.tie_weights()
    return model


def save_bark(model: nn.Module, folder: Path) -> Path:
    """As published: with a generation_config.json of three parts."""
    save(model, folder)
    parts = {
        "semantic_config": SEMANTIC,
        "coarse_acoustics_config": COARSE,
        "fine_acoustics_config": FINE,
        "codebook_size": V,
    }
    (folder / "generation_config.json").write_text(json.dumps(parts))
    return folder


def generation() -> object:
    from transformers.models.bark.generation_configuration_bark import BarkGenerationConfig

    return BarkGenerationConfig(SEMANTIC, COARSE, FINE, codebook_size=V)


@pytest.fixture(scope="module")
def reference() -> nn.Module:
    return tiny_bark()


@pytest.fixture(scope="module")
def folder(reference: nn.Module, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_bark(reference, tmp_path_factory.mktemp("bark"))


@pytest.fixture(scope="module")
def draft(tmp_path_factory: pytest.TempPathFactory) -> Bark:
    """Another Bark over the same ids, with biases for a change."""
    return Bark(save_bark(tiny_bark(5, bias=True), tmp_path_factory.mktemp("small")), CPU)


def history(rules: BarkRules, frames: int) -> Speaker:
    rng = torch.Generator().manual_seed(frames)
    semantic = torch.randint(50, (round(frames * 49.9 / 75) + 3,), generator=rng)
    fine = torch.randint(V, (8, frames), generator=rng)
    return Speaker(semantic, fine[:2], fine) if frames else Speaker.nobody(rules)


def as_prompt(speaker: Speaker) -> dict | None:
    """As transformers wants a history."""
    if not len(speaker.semantic):
        return None
    return {
        "semantic_prompt": speaker.semantic,
        "coarse_prompt": speaker.coarse,
        "fine_prompt": speaker.fine,
    }


def tokens_of(rounds: Iterator[Round]) -> list[int]:
    return [token for round_ in rounds for token in round_.tokens]


def test_rules_are_what_the_checkpoint_says(folder: Path) -> None:
    rules = BarkRules.load(folder)
    assert (rules.semantic_vocab_size, rules.sliding_window_len, rules.codebook_size) == (50, 12, V)
    assert BarkRules.load(folder / "none") == BarkRules()
    assert (BarkRules().frames(100), round(BarkRules().ratio, 3)) == (150, 3.006)


@pytest.mark.parametrize("bias", [False, True])
def test_logits_of_every_stage_are_those_of_transformers(bias: bool, tmp_path: Path) -> None:
    model = tiny_bark(3, bias=bias)
    bark = Bark(save_bark(model, tmp_path), CPU)
    ids = torch.randint(50, (20,), generator=torch.Generator().manual_seed(0)).tolist()
    for runtime, part in (
        (bark._semantic, model.semantic),
        (bark._coarse, model.coarse_acoustics),
    ):
        with torch.inference_mode():
            wanted = part(input_ids=torch.tensor([ids])).logits[0]
            cache = runtime.cache(20)
            x = runtime.embed(torch.tensor(ids))
            pieces = [(0, 9), (9, 10), (10, 20)]
            rows = torch.cat([runtime.run(x[a:b], cache.up_to(a, b - a)) for a, b in pieces])
            got = runtime.logits(rows, 0)
        for n in range(20):
            book = runtime.entries.ids[n % len(runtime.entries.ids)]
            torch.testing.assert_close(got[n, : len(book)], wanted[n, book], atol=1e-4, rtol=0)
    fine = FineRuntime(
        Weights(tmp_path), "fine_acoustics.", read_config(tmp_path)["fine_acoustics_config"], CPU
    )
    codes = torch.randint(V, (8, 20))
    for q in range(2, 8):
        with torch.inference_mode():
            wanted = model.fine_acoustics(q, codes.T[None]).logits[0]
        torch.testing.assert_close(fine.logits(codes, q), wanted, atol=1e-4, rtol=0)


@pytest.mark.parametrize("gamma", [0, 3])
@pytest.mark.parametrize("frames", [0, 11, 60])
def test_semantic_tokens_are_those_of_generate(
    reference: nn.Module, folder: Path, draft: Bark, gamma: int, frames: int
) -> None:
    bark = Bark(folder, CPU)
    speaker = history(bark.rules, frames)
    room = 16
    ids = torch.tensor([TEXT + [0] * (room - len(TEXT))])
    mask = torch.tensor([[1] * len(TEXT) + [0] * (room - len(TEXT))])
    config = generation()
    wanted = reference.semantic.generate(
        ids, config.semantic_config, as_prompt(speaker), attention_mask=mask
    )[0].tolist()
    state = bark.semantic(TEXT, speaker, 40)
    if gamma:
        drafter = DraftModel(draft.semantic(TEXT, speaker, 40), GREEDY, stop=50)
        rounds = speculative(
            state, drafter, 40, Fixed(gamma), GREEDY, RULES["lossless"], Noise(0), stop=50
        )
    else:
        rounds = autoregressive(state, 40, GREEDY, RULES["lossless"], Noise(0), stop=50)
    assert tokens_of(rounds) == wanted


@pytest.mark.parametrize("gamma", [0, 1, 5, 20])
@pytest.mark.parametrize("frames", [0, 11, 60])
def test_coarse_tokens_are_those_of_generate(
    reference: nn.Module, folder: Path, draft: Bark, gamma: int, frames: int
) -> None:
    """Through several windows, the last one short."""
    bark = Bark(folder, CPU)
    speaker = history(bark.rules, frames)
    semantic = torch.randint(50, (17,), generator=torch.Generator().manual_seed(1))
    config = generation()
    wanted = reference.coarse_acoustics.generate(
        semantic[None].clone(), config.semantic_config, config.coarse_acoustics_config, V,
        as_prompt(speaker),
    )[0]  # fmt: skip
    length = bark.rules.frames(17) * 2
    assert length == len(wanted) > 4 * 12
    state = bark.coarse(semantic.tolist(), speaker)
    window = Within(Fixed(gamma), 12)
    if gamma:
        drafter = DraftModel(draft.coarse(semantic.tolist(), speaker), GREEDY)
        rounds = speculative(state, drafter, length, window, GREEDY, RULES["lossless"], Noise(0))
    else:
        rounds = autoregressive(state, length, GREEDY, RULES["lossless"], Noise(0))
    assert bark._coarse.entries.spell(tokens_of(rounds), 0) == wanted.tolist()


@pytest.mark.parametrize("frames", [5, 32, 33, 48, 49, 75])
@pytest.mark.parametrize("past", [0, 3, 40])
def test_fine_codes_are_those_of_generate(
    reference: nn.Module, folder: Path, frames: int, past: int
) -> None:
    fine = BarkFine(folder, CPU)
    speaker = history(fine.rules, past)
    coarse = torch.randint(V, (2, frames), generator=torch.Generator().manual_seed(frames))
    ids = (coarse + 50 + torch.tensor([[0], [V]])).T.reshape(1, -1)
    config = generation()
    wanted = reference.fine_acoustics.generate(
        ids, config.semantic_config, config.coarse_acoustics_config, config.fine_acoustics_config,
        V, as_prompt(speaker),
    )[0]  # fmt: skip
    assert fine(coarse, speaker.fine).tolist() == wanted.tolist()


def test_a_speaker_preset_is_three_arrays(tmp_path: Path) -> None:
    shapes = {"semantic": (5,), "coarse": (2, 7), "fine": (8, 7)}
    save_speaker(tmp_path, "v2/en_speaker_6", {part: np.ones(shapes[part]) for part in shapes})
    speaker = load_speaker(tmp_path, "v2/en_speaker_6")
    assert [tuple(part.shape) for part in (speaker.semantic, speaker.coarse, speaker.fine)] == [
        *shapes.values()
    ]
    save_speaker(tmp_path, "v2/en_speaker_6", {"fine": np.array([{}], dtype=object)})
    with pytest.raises(ForespeakError, match="damaged"):
        load_speaker(tmp_path, "v2/en_speaker_6")


def save_speaker(folder: Path, name: str, arrays: dict[str, np.ndarray]) -> None:
    for part, array in arrays.items():
        path = folder / f"speaker_embeddings/{name}_{part}_prompt.npy"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, array)
