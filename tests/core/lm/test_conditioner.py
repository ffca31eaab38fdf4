"""The conditioner: alignments, padding, files."""

from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from torch import Tensor

from core.checkpoint import save_checkpoint
from core.errors import ForespeakError
from core.lm.conditioner import (
    BLANK,
    Alignment,
    Conditioner,
    ConditionerConfig,
    load_conditioner,
    with_blanks,
)
from core.train.dataset import Utterance, collate

CONFIG = ConditionerConfig(phoneme_width=16, phoneme_blocks=2, width=24, frame_blocks=2, code_dim=5)


@pytest.fixture
def conditioner() -> Conditioner:
    """Tiny, untrained, evaluating."""
    torch.manual_seed(0)
    return Conditioner(CONFIG).eval()


def utterance(seed: int, frames: int) -> Utterance:
    """Random phonemes whose durations fill `frames` frames."""
    rng = torch.Generator().manual_seed(seed)
    durations = torch.randint(1, 5, (frames,), generator=rng)
    durations[-1] += CONFIG.steps * frames - int(durations.sum())
    phonemes = torch.randint(1, 200, (frames,), generator=rng)
    return Utterance(torch.zeros(4, frames, dtype=torch.long), phonemes, durations, "")


def alone(u: Utterance) -> Alignment:
    return Alignment.from_durations(u.phonemes, u.durations, CONFIG.steps)


def test_blanks_stand_between_phonemes_only():
    blanked = with_blanks(torch.tensor([1, 7, 2]))
    assert blanked.tolist() == [1, BLANK, 7, BLANK, 2]
    assert with_blanks(torch.tensor([3])).tolist() == [3]


@pytest.mark.parametrize(("last", "stretched"), [(1, 3), (2, 3), (3, 3), (4, 7)])
def test_the_last_phoneme_is_stretched_to_a_whole_frame(last: int, stretched: int):
    durations = torch.tensor([2, 3, last])
    alignment = Alignment.from_durations(torch.tensor([5, 6, 7]), durations, 4)
    assert alignment.index[0].tolist() == [0, 0, 1, 1, 1] + [2] * stretched
    assert durations.tolist() == [2, 3, last]  # the caller's own stays as it was


def test_steps_know_their_place_in_the_phoneme():
    alignment = Alignment.from_durations(torch.tensor([5, 6]), torch.tensor([3, 1]), 4)
    relative, duration, offset = alignment.place[0].unbind(-1)
    assert relative.tolist() == pytest.approx([0, 1 / 3, 2 / 3, 0])
    assert duration.expm1().tolist() == pytest.approx([3, 3, 3, 1])
    assert offset.expm1().tolist() == pytest.approx([0, 1, 2, 0])


def test_one_vector_and_one_hint_a_frame(conditioner: Conditioner):
    cond, hint = conditioner(alone(utterance(0, 6)))
    assert cond.shape == (1, 6, CONFIG.width)
    assert hint.shape == (1, 6, CONFIG.code_dim)


@torch.inference_mode()
def test_padding_changes_nothing(conditioner: Conditioner):
    """In a batch of two lengths, each is what it is alone."""
    utterances = [utterance(1, 5), utterance(2, 12)]
    batch = collate(utterances, CONFIG.steps)
    assert batch.valid.sum(1).tolist() == [5, 12]
    together = conditioner(batch.alignment)
    for row, u in enumerate(utterances):
        frames = u.codes.shape[1]
        for padded, single in zip(together, conditioner(alone(u)), strict=True):
            assert torch.allclose(padded[row, :frames], single[0], atol=1e-5)


@torch.inference_mode()
def test_file_round_trip(conditioner: Conditioner, tmp_path: Path):
    path = tmp_path / "conditioner.safetensors"
    save_checkpoint(path, conditioner, asdict(CONFIG))
    loaded = load_conditioner(path)
    assert loaded.config == CONFIG
    assert not loaded.training
    alignment = alone(utterance(3, 6))
    pairs: list[tuple[Tensor, Tensor]] = list(
        zip(loaded(alignment), conditioner(alignment), strict=True)
    )
    assert all(torch.allclose(a, b, atol=1e-2) for a, b in pairs)  # fp16


def test_missing_file(tmp_path: Path):
    with pytest.raises(ForespeakError, match=r"is missing: restore"):
        load_conditioner(tmp_path / "conditioner.safetensors")


def test_damaged_file(conditioner: Conditioner, tmp_path: Path):
    path = tmp_path / "conditioner.safetensors"
    save_checkpoint(path, conditioner, asdict(CONFIG))
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(ForespeakError, match=r"is damaged: restore") as error:
        load_conditioner(path)
    assert "\n" not in str(error.value)
