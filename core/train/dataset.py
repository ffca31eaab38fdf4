"""Utterances of tokens and alignments, batched by length."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from core.errors import ForespeakError
from core.lm.conditioner import Alignment, ConditionerConfig

Item = TypeVar("Item")

TOKENS = "tokens.npz"  # in the work folder; core/train/data.py writes it
VALIDATION = 60  # the first utterances are never trained on


@dataclass(frozen=True)
class Utterance:
    """codes [Q, T]; phonemes [P]; durations [P] in alignment steps."""

    codes: Tensor
    phonemes: Tensor
    durations: Tensor
    text: str


@dataclass(frozen=True)
class Batch:
    """codes [B, Q, T]; valid [B, T] marks frames that are not padding."""

    codes: Tensor
    valid: Tensor
    alignment: Alignment


def load_utterances(
    path: Path, steps: int = ConditionerConfig.steps
) -> tuple[list[Utterance], list[Utterance]]:
    """Training and validation utterances of a tokens file (see core/train/data.py)."""
    try:
        data = np.load(path)
    except FileNotFoundError as error:
        raise ForespeakError(f"{path} is missing: run the stage `codec` first.") from error
    codes = np.split(data["codes"].astype(np.int64), np.cumsum(data["code_len"])[:-1])
    cut = np.cumsum(data["phoneme_len"])[:-1]
    phonemes = np.split(data["phonemes"].astype(np.int64), cut)
    starts = np.split(data["start"].astype(np.int64), cut)
    utterances = [
        Utterance(
            torch.tensor(c.T.copy()),
            torch.tensor(p),
            torch.tensor(np.diff(s, append=len(c) * steps)),
            str(text),
        )
        for c, p, s, text in zip(codes, phonemes, starts, data["text"], strict=True)
    ]
    return utterances[VALIDATION:], utterances[:VALIDATION]


def collate(utterances: Sequence[Utterance], steps: int = ConditionerConfig.steps) -> Batch:
    """Pad to the longest."""
    parts = [Alignment.from_durations(u.phonemes, u.durations, steps) for u in utterances]
    alignment = Alignment(
        pad_sequence([a.phonemes[0] for a in parts], batch_first=True),
        pad_sequence([a.index[0] for a in parts], batch_first=True),
        pad_sequence([a.place[0] for a in parts], batch_first=True),
    )
    codes = pad_sequence([u.codes.T for u in utterances], batch_first=True, padding_value=-1)
    valid = codes[:, :, 0] >= 0
    return Batch(codes.clamp(min=0).transpose(1, 2), valid, alignment)


def batches(
    utterances: Sequence[Utterance],
    rng: random.Random | None = None,
    max_frames: int = 1000,
    steps: int = ConditionerConfig.steps,
) -> Iterator[Batch]:
    """One pass over the utterances in batches of like lengths; shuffled if `rng` is given."""
    for group in by_length(utterances, lambda u: u.codes.shape[1], max_frames, rng):
        yield collate(group, steps)


def by_length(
    items: Sequence[Item], length: Callable[[Item], int], room: int, rng: random.Random | None
) -> list[list[Item]]:
    """All items in groups of like lengths, each at most `room` long once padded.

    An item longer than `room` is a group of its own. If `rng` is given, neighbours in length
    change places and groups come in any order.
    """
    groups: list[list[Item]] = [[]]
    longest = 0
    for item in sorted(items, key=lambda i: length(i) + (rng.random() * 10 if rng else 0)):
        longest = max(longest, length(item))
        if groups[-1] and (len(groups[-1]) + 1) * longest > room:
            groups.append([])
            longest = length(item)
        groups[-1].append(item)
    if rng:
        rng.shuffle(groups)
    return groups if items else []


def move(batch: Any, device: torch.device) -> Any:
    """A tensor, or a dataclass of tensors and dataclasses, on that device."""
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if is_dataclass(batch):
        return type(batch)(*(move(getattr(batch, f.name), device) for f in fields(batch)))
    return batch
