"""Drafts that read the target's hidden states, as they learn."""

from functools import partial
from pathlib import Path

import pytest
import torch
from torch import Tensor

from core.lm.chain import Chain
from core.lm.fed import Fed, FedConfig
from core.lm.heads import Heads
from core.train import fed
from core.train.dataset import Batch, Utterance, collate
from core.train.fed import fed_losses, guess_with, muon_for_gates, teach
from core.train.loop import Trainer
from tests.fakes import tiny_decoder

Q, V, FRAMES = 3, 7, 6
KINDS = {Chain: (0, 1), Heads: (1,)}


@pytest.fixture
def batch() -> Batch:
    """Two utterances, of which the second is shorter."""
    rng = torch.Generator().manual_seed(0)

    def utterance(frames: int) -> Utterance:
        codes = torch.randint(V, (Q, frames), generator=rng)
        return Utterance(codes, torch.tensor([3, 4]), torch.tensor([4, 4 * frames - 4]), "")

    return collate([utterance(FRAMES), utterance(FRAMES - 2)])


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fed, "CHAIN", FedConfig((0, 1), 8, 3))
    return tiny_decoder(0, layers=2)


def conditioner(target) -> object:
    """Random, always the same."""

    def condition(alignment) -> tuple[Tensor, Tensor]:
        rng = torch.Generator().manual_seed(5)
        config = target.config
        B, T = len(alignment.index), alignment.index.shape[1] // 4
        return tuple(
            torch.randn(B, T, width, generator=rng)
            for width in (config.cond_width, config.code_dim)
        )

    return condition


@pytest.mark.parametrize("kind", KINDS)
def test_what_they_learn_raises_alpha(kind: type[Fed], batch: Batch, target, tmp_path: Path):
    lesson = teach(conditioner(target), target, batch)
    draft = kind(FedConfig(KINDS[kind], 8, 3), target)
    losses = partial(fed_losses, guess_with(draft))
    trainer = Trainer(
        tmp_path / "fed.pt", [draft], losses, 0.02, lr=5e-3, optimizers=muon_for_gates
    )
    before = trainer.evaluate([lesson])
    trainer.run(lambda _: iter([lesson]), [lesson])
    after = trainer.evaluate([lesson])
    for j in range(3):
        assert before[f"alpha{j}"] + 0.05 < after[f"alpha{j}"] <= 1
    assert after["loss"] < before["loss"]


def test_padding_teaches_nothing(batch: Batch, target):
    """A guess for a frame that is not there."""
    lesson = teach(conditioner(target), target, batch)
    draft = Chain(FedConfig((0, 1), 8, 3), target)
    before = fed_losses(guess_with(draft), lesson)
    lesson.logits[1, -Q:] = 50 * torch.randn(Q, V)
    lesson.inputs[1, -Q:] = 0
    after = fed_losses(guess_with(draft), lesson)
    assert {k: v.item() for k, v in after.items()} == {k: v.item() for k, v in before.items()}
    lesson.logits[0, -Q:] = 50 * torch.randn(Q, V)
    assert fed_losses(guess_with(draft), lesson)["loss"] != before["loss"]
