"""Phonemes to durations: how long each one sounds, before anything is spoken.

The predictor gives the *expected* duration, so a sentence has the length the teacher gives
it on average. Nothing is drawn at random: a text at a rate always has the same rhythm, which
keeps blind A/B listening about the decoding and nothing else.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from core.checkpoint import load_checkpoint
from core.errors import ForespeakError
from core.lm.conditioner import ConvBlock

SLOWEST, FASTEST = 0.5, 2.0
TYPICAL = 4.4  # alignment steps; where an untrained predictor begins


def check_rate(rate: float) -> None:
    """Raise ForespeakError unless the voice can speak at this rate."""
    if not SLOWEST <= rate <= FASTEST:  # NaN fails this, too
        raise ForespeakError(
            f"Speaking rate {rate} is out of range: choose {SLOWEST} to {FASTEST} (fast)."
        )


@dataclass(frozen=True)
class DurationConfig:
    """Sizes; the blocks together see `blocks * (kernel // 2)` phonemes to either side."""

    symbols: int = 256
    width: int = 128
    blocks: int = 4
    kernel: int = 7
    dropout: float = 0.0


class DurationPredictor(nn.Module):
    """Convolution blocks over the phonemes; exp makes the durations positive."""

    def __init__(self, config: DurationConfig):
        super().__init__()
        self.config = c = config
        self.embed = nn.Embedding(c.symbols, c.width)
        self.blocks = nn.ModuleList(
            ConvBlock(c.width, c.kernel, c.dropout) for _ in range(c.blocks)
        )
        self.norm = nn.LayerNorm(c.width)
        self.head = nn.Linear(c.width, 1)
        nn.init.constant_(self.head.bias, math.log(TYPICAL))

    def forward(self, phonemes: Tensor) -> Tensor:
        """Expected durations in alignment steps, [B, P]; phonemes [B, P], where 0 pads."""
        mask = (phonemes > 0)[..., None].float()
        x = self.embed(phonemes)
        for block in self.blocks:
            x = block(x, mask)
        return (self.head(self.norm(x)).exp() * mask)[..., 0]

    @torch.inference_mode()
    def predict(self, phonemes: Tensor, rate: float = 1.0) -> Tensor:
        """Whole durations in alignment steps, int64 [P], each at least 1; phonemes [P].

        rate: speaking rate, 1 as the teacher speaks, 2 twice as fast.
        """
        check_rate(rate)
        return round_durations(self(phonemes[None])[0].double() / rate)


def round_durations(expected: Tensor) -> Tensor:
    """Whole durations, int64 [P], each at least 1, that keep to the timeline of `expected` [P].

    Rounding the ends instead of the durations carries every error on to the next phoneme.
    A phoneme widened to 1 step pushes its followers back only until they catch up.
    """
    place = torch.arange(1, len(expected) + 1)
    ends = expected.cumsum(0).round().long()
    ends = (ends - place).clamp(min=0).cummax(0).values + place
    return ends.diff(prepend=ends.new_zeros(1))


def load_durations(path: Path) -> DurationPredictor:
    """From a checkpoint; ForespeakError if it is missing or damaged."""
    return load_checkpoint(path, lambda config: DurationPredictor(DurationConfig(**config)))
