"""Train the duration predictor on the teacher's durations.

The teacher draws its durations at random; the gamma likelihood suits them (their spread
grows with their mean) and is least at their mean, so the predictor keeps the total length.
"""

import json
import math
import random
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.optim import AdamW, Optimizer
from tqdm import tqdm

from core.lm.checkpoint import save_checkpoint
from core.lm.conditioner import BLANK
from core.lm.durations import DurationConfig, DurationPredictor, load_durations
from core.train.dataset import TOKENS, Utterance, load_utterances

CONFIG = DurationConfig(dropout=0.1)
LEARNING_RATE = 2e-3
BATCH = 32  # utterances, about 1,600 phonemes
WARM_UP = 0.03  # of the time
CHECKPOINT_SECONDS = 60

UNKNOWN = 255  # an id that the phoneme map leaves free
HIDDEN = 0.02  # of the phonemes become UNKNOWN in training
RARE = 10  # phonemes seen less often than this are treated as UNKNOWN

VOWELS = set("aeiouyæøœɐɑɒɔɘəɚɛɜɞɤɨɪɯɵɶʉʊʌʏᵻ") | set("ˈˌː")  # stress and length are the vowel's
PAUSES = set("^$.,:;!?")

Pair = tuple[Tensor, Tensor]  # phonemes [B, P], durations [B, P]; both 0 where they pad


def run(work: Path, assets: Path, minutes: float) -> None:
    """Train for `minutes` in all, earlier interrupted runs included, and report.

    work: the folder of the tokens and the checkpoint; assets: the voice's folder, which holds
    phonemes.json and gets durations.safetensors.
    """
    training, validation = load_utterances(work / TOKENS)
    model = DurationPredictor(CONFIG)
    train(model, training, work / "durations.pt", minutes * 60)
    fill_rare(model, training)
    calibrate(model, training)
    path = assets / "durations.safetensors"
    save_checkpoint(path, model, asdict(model.config))
    symbols = json.loads((assets / "phonemes.json").read_text(encoding="utf-8"))["ids"]
    print("\n".join(report(load_durations(path), validation, symbols)))


def train(
    model: DurationPredictor, utterances: list[Utterance], checkpoint: Path, budget: float
) -> None:
    """Train until `budget` seconds are spent; resumes from `checkpoint` if it exists."""
    optimizer = AdamW(model.parameters(), LEARNING_RATE, weight_decay=0.05)
    spent = restore(checkpoint, model, optimizer)
    saved = spent
    model.train()
    batches = endless(utterances, random.Random(spent))
    layout = "{l_bar}{bar}| {n:.0f}/{total:.0f} s{postfix}"
    with tqdm(total=budget, initial=spent, desc="durations", bar_format=layout) as bar:
        while spent < budget:
            begin = time.monotonic()
            loss = step(model, optimizer, next(batches), spent / budget)
            if spent - saved > CHECKPOINT_SECONDS:
                store(checkpoint, model, optimizer, spent)
                saved = spent
            elapsed = time.monotonic() - begin
            spent += elapsed
            bar.set_postfix(loss=f"{loss:.4f}", refresh=False)
            bar.update(min(elapsed, budget - bar.n))
    store(checkpoint, model, optimizer, spent)


def step(model: DurationPredictor, optimizer: Optimizer, batch: Pair, progress: float) -> float:
    """One update at the learning rate that `progress` (0..1) calls for; the loss before it."""
    phonemes, durations = batch
    used = phonemes > 0
    hidden = used & (torch.rand(phonemes.shape) < HIDDEN)
    expected = model(phonemes.masked_fill(hidden, UNKNOWN))[used]
    loss = (expected.log() + durations[used] / expected).mean()
    for group in optimizer.param_groups:
        group["lr"] = LEARNING_RATE * schedule(progress)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def schedule(progress: float) -> float:
    """Linear warm-up, then cosine decay to zero."""
    return min(1.0, progress / WARM_UP) * (1 + math.cos(math.pi * progress)) / 2


def endless(utterances: list[Utterance], rng: random.Random) -> Iterator[Pair]:
    """Shuffled batches of utterances of like lengths, for ever."""
    while True:
        order = sorted(utterances, key=lambda u: len(u.phonemes) + rng.random() * 10)
        groups = [order[i : i + BATCH] for i in range(0, len(order), BATCH)]
        rng.shuffle(groups)
        yield from map(collate, groups)


def collate(utterances: list[Utterance]) -> Pair:
    """Pad to the longest."""
    return (
        pad_sequence([u.phonemes for u in utterances], batch_first=True),
        pad_sequence([u.durations for u in utterances], batch_first=True),
    )


def store(path: Path, model: DurationPredictor, optimizer: Optimizer, spent: float) -> None:
    """Write a checkpoint, whole or not at all."""
    partial = path.with_suffix(".partial")
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "spent": spent}
    torch.save(state, partial)
    partial.replace(path)


def restore(path: Path, model: DurationPredictor, optimizer: Optimizer) -> float:
    """Take up a checkpoint if there is one; the seconds spent until then."""
    if not path.exists():
        return 0.0
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["spent"]


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
