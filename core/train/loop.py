"""One training loop for every stage: time budget, progress bar, checkpoints it resumes from."""

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn
from tqdm import tqdm

from core.train.dataset import move
from core.train.muon import Muon

Losses = dict[str, Tensor]
"""Named scalars of one batch; "loss" is what is minimised, the rest is reported."""


class Padded(Protocol):
    """What every batch tells: a dataclass of tensors in which `valid` marks what counts."""

    @property
    def valid(self) -> Tensor: ...


BatchT = TypeVar("BatchT", bound=Padded)

Epoch = Callable[[random.Random], Iterator[BatchT]]
"""One pass over the training batches, in an order of the given generator's choice."""

Optimizers = list[torch.optim.Optimizer]

CPU = torch.device("cpu")
SAVE_EVERY_S = 120.0


def hold_then_fall(spent: float, step: int) -> float:
    """Share of the learning rate: constant for half of the time, then linearly to nothing."""
    return min(1.0, (step + 1) / 50, 2 * (1 - spent) + 0.01)


def muon_and_adamw(modules: nn.Module, lr: float) -> Optimizers:
    """Muon for the blocks' matrices, AdamW for what is left of the trainable rest."""
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


class Trainer(Generic[BatchT]):
    """Fits `modules` until `minutes` of training are spent, over all resumptions together.

    Modules and batches are moved to `device`. optimizers: makes them of the modules and the
    learning rate; schedule: share of that rate by share of the time spent and step.
    """

    def __init__(
        self,
        checkpoint: Path,
        modules: Sequence[nn.Module],
        losses: Callable[[BatchT], Losses],
        minutes: float,
        lr: float = 2e-3,
        seed: int = 0,
        device: torch.device = CPU,
        optimizers: Callable[[nn.Module, float], Optimizers] = muon_and_adamw,
        schedule: Callable[[float, int], float] = hold_then_fall,
    ):
        self.checkpoint = checkpoint
        self.modules = nn.ModuleList(modules).to(device)
        self.losses = losses
        self.seconds = minutes * 60
        self.lr = lr
        self.spent = 0.0
        self.steps = 0
        self.rng = random.Random(seed)
        self.device = device
        self.optimizers = optimizers(self.modules, lr)
        self.schedule = schedule
        if device.type == "cuda":
            torch.set_float32_matmul_precision("high")  # TF32: float32's range, a GPU's speed
        if checkpoint.exists():
            self._resume(seed)

    def run(self, epoch: Epoch[BatchT], validation: Sequence[BatchT]) -> None:
        """Train; report validation at every save and at the end. Nothing if the time is spent."""
        if self.spent >= self.seconds:
            return
        self.modules.train()
        saved = monotonic()
        bar = tqdm(total=round(self.seconds), initial=round(self.spent), unit="s")
        for batch in self._endless(epoch):
            begun = monotonic()
            report = self._step(move(batch, self.device))
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
    def evaluate(self, validation: Sequence[BatchT]) -> dict[str, float]:
        """Mean of every loss, batches weighted by what is valid in them."""
        self.modules.eval()
        total: dict[str, float] = {}
        everything = 0
        for batch in validation:
            count = int(batch.valid.sum())
            everything += count
            for name, value in self.losses(move(batch, self.device)).items():
                total[name] = total.get(name, 0.0) + value.item() * count
        self.modules.train()
        return {name: round(value / everything, 4) for name, value in total.items()}

    def _endless(self, epoch: Epoch[BatchT]) -> Iterator[BatchT]:
        while True:
            yield from epoch(self.rng)

    def _step(self, batch: BatchT) -> dict[str, float]:
        lr = self.lr * self.schedule(min(1.0, self.spent / self.seconds), self.steps)
        losses = self.losses(batch)
        for optimizer in self.optimizers:
            optimizer.zero_grad()
            for group in optimizer.param_groups:
                group["lr"] = lr
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

    def _resume(self, seed: int) -> None:
        state = torch.load(self.checkpoint, map_location=self.device)
        self.modules.load_state_dict(state["modules"])
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        self.spent, self.steps = state["spent"], state["steps"]
        # Batches and masks go on; they do not repeat what the steps before have seen.
        self.rng.seed(seed + self.steps)
        torch.manual_seed(seed + self.steps)
