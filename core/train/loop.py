"""One training loop for every stage: time budget, progress bar, checkpoints it resumes from."""

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic

import torch
from torch import Tensor, nn
from tqdm import tqdm

from core.train.dataset import Batch
from core.train.muon import Muon

Losses = dict[str, Tensor]
"""Named scalars of one batch; "loss" is what is minimised, the rest is reported."""

Epoch = Callable[[random.Random], Iterator[Batch]]
"""One pass over the training batches, in an order of the given generator's choice."""

SAVE_EVERY_S = 120.0


class Trainer:
    """Fits `modules` until `minutes` of training are spent, over all resumptions together.

    The learning rate is constant for the first half of the time, then falls linearly to
    nothing. Hidden matrices go to Muon, everything else to AdamW.
    """

    def __init__(
        self,
        checkpoint: Path,
        modules: Sequence[nn.Module],
        losses: Callable[[Batch], Losses],
        minutes: float,
        lr: float = 2e-3,
        seed: int = 0,
    ):
        self.checkpoint = checkpoint
        self.modules = nn.ModuleList(modules)
        self.losses = losses
        self.seconds = minutes * 60
        self.lr = lr
        self.spent = 0.0
        self.steps = 0
        self.rng = random.Random(seed)
        self.optimizers = _optimizers(self.modules, lr)
        if checkpoint.exists():
            self._resume()

    def run(self, epoch: Epoch, validation: Sequence[Batch]) -> None:
        """Train; report validation at every save and at the end."""
        saved = monotonic()
        bar = tqdm(total=round(self.seconds), initial=round(self.spent), unit="s")
        for batch in self._endless(epoch):
            begun = monotonic()
            report = self._step(batch)
            self.spent += monotonic() - begun
            bar.n = round(min(self.spent, self.seconds))
            bar.set_postfix(
                {k: f"{v:.3f}" for k, v in report.items()}, refresh=self.steps % 10 == 0
            )
            done = self.spent >= self.seconds
            if done or monotonic() - saved > SAVE_EVERY_S:
                self._save()
                saved = monotonic()
                scores = self.evaluate(validation)
                bar.write(f"{self.checkpoint.stem} step {self.steps} validation {scores}")
            if done:
                break
        bar.close()

    @torch.no_grad()
    def evaluate(self, validation: Sequence[Batch]) -> dict[str, float]:
        """Frame-weighted mean of every loss."""
        self.modules.eval()
        total: dict[str, float] = {}
        frames = 0
        for batch in validation:
            count = int(batch.valid.sum())
            frames += count
            for name, value in self.losses(batch).items():
                total[name] = total.get(name, 0.0) + value.item() * count
        self.modules.train()
        return {name: round(value / frames, 4) for name, value in total.items()}

    def _endless(self, epoch: Epoch) -> Iterator[Batch]:
        while True:
            yield from epoch(self.rng)

    def _step(self, batch: Batch) -> dict[str, float]:
        left = max(0.0, 1 - self.spent / self.seconds)
        factor = min(1.0, (self.steps + 1) / 50, 2 * left + 0.01)
        losses = self.losses(batch)
        for optimizer in self.optimizers:
            optimizer.zero_grad()
            for group in optimizer.param_groups:
                group["lr"] = self.lr * factor
        losses["loss"].backward()
        nn.utils.clip_grad_norm_(self.modules.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
        self.steps += 1
        return {name: value.item() for name, value in losses.items()}

    def _save(self) -> None:
        partial = self.checkpoint.with_suffix(".partial")
        state = {
            "modules": self.modules.state_dict(),
            "optimizers": [o.state_dict() for o in self.optimizers],
            "spent": self.spent,
            "steps": self.steps,
        }
        torch.save(state, partial)
        partial.replace(self.checkpoint)

    def _resume(self) -> None:
        state = torch.load(self.checkpoint)
        self.modules.load_state_dict(state["modules"])
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        self.spent, self.steps = state["spent"], state["steps"]


def _optimizers(modules: nn.Module, lr: float) -> list[torch.optim.Optimizer]:
    """Muon for the decoder blocks' matrices, AdamW for what is left of the trainable rest."""
    named = [(n, p) for n, p in modules.named_parameters() if p.requires_grad]
    hidden = [p for n, p in named if ".blocks." in n and p.dim() == 2]
    ids = {id(p) for p in hidden}
    matrices = [p for _, p in named if id(p) not in ids and p.dim() > 1]
    vectors = [p for _, p in named if p.dim() <= 1]
    adamw = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.02}, {"params": vectors, "weight_decay": 0.0}],
        lr,
        betas=(0.9, 0.97),
    )
    return [Muon(hidden, lr), adamw] if hidden else [adamw]
