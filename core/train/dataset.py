"""Utterances of tokens and alignments, batched by length."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from core.lm.conditioner import Alignment

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


def load_utterances(path: Path, steps: int = 4) -> tuple[list[Utterance], list[Utterance]]:
    """Training and validation utterances of a tokens file (see core/train/data.py)."""
    data = np.load(path)
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


def collate(utterances: list[Utterance]) -> Batch:
    """Pad to the longest."""
    parts = [Alignment.from_durations(u.phonemes, u.durations) for u in utterances]
    alignment = Alignment(
        pad_sequence([a.phonemes[0] for a in parts], batch_first=True),
        pad_sequence([a.index[0] for a in parts], batch_first=True),
        pad_sequence([a.place[0] for a in parts], batch_first=True),
    )
    codes = pad_sequence([u.codes.T for u in utterances], batch_first=True, padding_value=-1)
    valid = codes[:, :, 0] >= 0
    return Batch(codes.clamp(min=0).transpose(1, 2), valid, alignment)


def batches(
    utterances: list[Utterance], rng: random.Random | None = None, max_frames: int = 1000
) -> Iterator[Batch]:
    """One pass over the utterances in batches of like lengths; shuffled if `rng` is given."""

    def length(u: Utterance) -> float:
        return u.codes.shape[1] + (rng.random() * 10 if rng else 0)

    groups: list[list[Utterance]] = [[]]
    for u in sorted(utterances, key=length):
        if groups[-1] and (len(groups[-1]) + 1) * u.codes.shape[1] > max_frames:
            groups.append([])
        groups[-1].append(u)
    if rng:
        rng.shuffle(groups)
    yield from map(collate, groups)
