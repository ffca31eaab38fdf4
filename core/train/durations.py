"""Train the duration predictor on the teacher's durations.

The teacher draws its durations at random; the gamma likelihood suits them (their spread
grows with their mean) and is least at their mean, so the predictor keeps the total length.
"""

import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from core.checkpoint import save_checkpoint
from core.lm.conditioner import BLANK
from core.lm.durations import DurationConfig, DurationPredictor, load_durations
from core.train.dataset import TOKENS, Utterance, by_length, load_utterances
from core.train.loop import CPU, Losses, Optimizers, Trainer

CONFIG = DurationConfig(dropout=0.1)
LEARNING_RATE = 2e-3
ROOM = 3000  # phonemes and blanks in a batch
WARM_UP = 0.03  # of the time

UNKNOWN = 255  # an id that the phoneme map leaves free
HIDDEN = 0.02  # of the phonemes become UNKNOWN in training
RARE = 10  # phonemes seen less often than this are treated as UNKNOWN

VOWELS = set("aeiouyæøœɐɑɒɔɘəɚɛɜɞɤɨɪɯɵɶʉʊʌʏᵻ") | set("ˈˌː")  # stress and length are the vowel's
PAUSES = set("^$.,:;!?")


@dataclass(frozen=True)
class DurationBatch:
    """phonemes [B, P], durations [B, P]; both 0 where they pad."""

    phonemes: Tensor
    durations: Tensor

    @property
    def valid(self) -> Tensor:
        return self.phonemes > 0


def run(work: Path, assets: Path, minutes: float, device: torch.device = CPU) -> None:
    """Train for `minutes` in all, earlier interrupted runs included, and report.

    work: the folder of the tokens and the checkpoint; assets: the voice's folder, which holds
    phonemes.json and gets durations.safetensors.
    """
    training, validation = load_utterances(work / TOKENS)
    model = DurationPredictor(CONFIG)
    trainer = Trainer(
        work / "durations.pt",
        [model],
        partial(duration_losses, model),
        minutes,
        LEARNING_RATE,
        device=device,
        optimizers=adamw,
        schedule=warm_up_then_cosine,
    )
    trainer.run(partial(batches, training), list(batches(validation)))
    model.cpu()
    fill_rare(model, training)
    calibrate(model, training)
    path = assets / "durations.safetensors"
    save_checkpoint(path, model, asdict(model.config))
    symbols = json.loads((assets / "phonemes.json").read_text(encoding="utf-8"))["ids"]
    print("\n".join(report(load_durations(path), validation, symbols)))


def duration_losses(model: DurationPredictor, batch: DurationBatch) -> Losses:
    """Gamma likelihood; in training some phonemes are hidden, so that UNKNOWN learns, too."""
    phonemes, valid = batch.phonemes, batch.valid
    if model.training:
        hidden = torch.rand(phonemes.shape, device=phonemes.device) < HIDDEN
        phonemes = phonemes.masked_fill(valid & hidden, UNKNOWN)
    expected = model(phonemes)[valid]
    return {"loss": (expected.log() + batch.durations[valid] / expected).mean()}


def adamw(modules: nn.Module, lr: float) -> Optimizers:
    return [torch.optim.AdamW(modules.parameters(), lr, weight_decay=0.05)]


def warm_up_then_cosine(spent: float, _step: int) -> float:
    """Share of the learning rate after a share of the time."""
    return min(1.0, spent / WARM_UP) * (1 + math.cos(math.pi * spent)) / 2


def batches(
    utterances: Sequence[Utterance], rng: random.Random | None = None
) -> Iterator[DurationBatch]:
    """One pass in batches of like lengths; shuffled if `rng` is given."""
    for group in by_length(utterances, lambda u: len(u.phonemes), ROOM, rng):
        yield DurationBatch(
            pad_sequence([u.phonemes for u in group], batch_first=True),
            pad_sequence([u.durations for u in group], batch_first=True),
        )


@torch.no_grad()
def fill_rare(model: DurationPredictor, utterances: list[Utterance]) -> None:
    """Give ids that training hardly saw the embedding of UNKNOWN, which it did train."""
    seen = torch.zeros(model.config.symbols, dtype=torch.int64)
    for u in utterances:
        seen += torch.bincount(u.phonemes, minlength=len(seen))
    model.embed.weight[seen < RARE] = model.embed.weight[UNKNOWN].clone()


@torch.no_grad()
def calibrate(model: DurationPredictor, utterances: list[Utterance]) -> None:
    """Scale the predictions so that their total over `utterances` is right.

    The likelihood balances the mean of true / predicted instead, and dropout shifts it.
    """
    expected, durations, _ = compare(model, utterances)
    model.head.bias += (durations.sum() / expected.sum()).log()


@torch.no_grad()
def compare(model: DurationPredictor, utterances: list[Utterance]) -> tuple[Tensor, Tensor, Tensor]:
    """Expected durations, true durations and phonemes of all utterances end to end, each [N]."""
    model.eval()
    expected = torch.cat([model(u.phonemes[None])[0] for u in utterances])
    durations = torch.cat([u.durations for u in utterances]).float()
    return expected, durations, torch.cat([u.phonemes for u in utterances])


def report(
    model: DurationPredictor, utterances: list[Utterance], symbols: dict[str, int]
) -> list[str]:
    """Lines: correlation and length ratio of all, then of each class of phonemes with errors."""
    expected, durations, phonemes = compare(model, utterances)
    classes = {id_: classify(symbol) for symbol, id_ in symbols.items()} | {BLANK: "blank"}
    names = [classes[id_] for id_ in phonemes.tolist()]
    lines = [describe("all", expected, durations)]
    for name in ("vowel", "consonant", "space", "pause", "blank"):
        chosen = torch.tensor([n == name for n in names])
        lines.append(describe(name, expected[chosen], durations[chosen]))
    return lines


def classify(symbol: str) -> str:
    """Vowel, consonant, space (the boundary of words) or pause."""
    if symbol == " ":
        return "space"
    if symbol in PAUSES:
        return "pause"
    return "vowel" if symbol in VOWELS else "consonant"


def describe(name: str, expected: Tensor, durations: Tensor) -> str:
    """One line of the report."""
    correlation = torch.corrcoef(torch.stack((expected, durations)))[0, 1]
    ratio = expected.sum() / durations.sum()
    error = (expected - durations).abs().mean()
    return (
        f"{name:<10}{len(durations):>6} phonemes, correlation {correlation:.3f}, "
        f"predicted/true {ratio:.3f}, mean absolute error {error:.2f} steps"
    )
