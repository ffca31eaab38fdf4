"""Aligned phonemes to one conditioning vector per codec frame.

Everything the decoder knows of the text comes from here. The conditioner is not
autoregressive: it runs once per sentence, over all frames at once, and target and
draft read the same result. It also hints at the frame's latent, which both decoders
take as a hint about where in the codebooks' space the frame will lie.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.checkpoint import load_checkpoint


@dataclass(frozen=True)
class ConditionerConfig:
    """Sizes; `steps` is how many alignment steps (vocoder latents) one codec frame spans."""

    symbols: int = 256
    phoneme_width: int = 256
    phoneme_blocks: int = 4
    width: int = 384
    frame_blocks: int = 6
    steps: int = 4
    code_dim: int = 64
    dropout: float = 0.0


BLANK = 254  # the teacher's pause after each phoneme; an id that the phoneme map leaves free


def with_blanks(phonemes: Tensor) -> Tensor:
    """Phonemes [P] with a blank between any two, [2 P - 1]: how the teacher reads them.

    A phoneme and the blank behind it have durations of their own, and the latent depends on
    where the one ends and the other begins.
    """
    result = torch.full((2 * len(phonemes) - 1,), BLANK, dtype=phonemes.dtype)
    result[::2] = phonemes
    return result


@dataclass(frozen=True)
class Alignment:
    """Which phoneme sounds at each alignment step, and where inside it.

    phonemes: ids with blanks, [B, P] (0 pads); index: phoneme of each step, [B, steps * T];
    place: [B, steps * T, 3], see `place_features`.
    """

    phonemes: Tensor
    index: Tensor
    place: Tensor

    @classmethod
    def from_durations(
        cls, phonemes: Tensor, durations: Tensor, steps: int = ConditionerConfig.steps
    ) -> "Alignment":
        """Of one sentence: phonemes [P], durations [P] in alignment steps; B = 1."""
        durations = whole_frames(durations, steps)
        index = torch.repeat_interleave(torch.arange(len(phonemes)), durations)
        start = durations.cumsum(0) - durations
        offset = (torch.arange(len(index)) - start[index]).float()
        place = place_features(offset, durations[index].float())
        return cls(phonemes[None], index[None], place[None])

    def to(self, device: torch.device) -> "Alignment":
        return Alignment(*(t.to(device) for t in (self.phonemes, self.index, self.place)))


def whole_frames(durations: Tensor, steps: int = ConditionerConfig.steps) -> Tensor:
    """Durations [P] with the last one stretched so that the total is a multiple of `steps`."""
    stretched = durations.clone()
    stretched[-1] += -int(durations.sum()) % steps
    return stretched


def place_features(offset: Tensor, duration: Tensor) -> Tensor:
    """Where a step lies in its phoneme: relative position, log duration, log offset; [..., 3]."""
    return torch.stack((offset / duration, duration.log1p(), offset.log1p()), -1)


class ConvBlock(nn.Module):
    """Pre-norm depthwise convolution and a pointwise MLP (ConvNeXt, arXiv 2201.03545)."""

    def __init__(self, width: int, kernel: int, dropout: float):
        super().__init__()
        self.mix = nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width)
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 3 * width)
        self.down = nn.Linear(3 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """[B, L, width] -> same; mask [B, L, 1] zeroes what pads."""
        y = self.mix((x * mask).transpose(1, 2)).transpose(1, 2)
        return x + self.dropout(self.down(F.gelu(self.up(self.norm(y)))))


class Conditioner(nn.Module):
    """Phoneme blocks, alignment, frame blocks."""

    def __init__(self, config: ConditionerConfig):
        super().__init__()
        self.config = c = config
        self.embed = nn.Embedding(c.symbols, c.phoneme_width)
        self.phoneme_blocks = nn.ModuleList(
            ConvBlock(c.phoneme_width, 9, c.dropout) for _ in range(c.phoneme_blocks)
        )
        self.place = nn.Linear(3, c.phoneme_width)
        self.to_frame = nn.Linear(c.steps * c.phoneme_width, c.width)
        self.frame_blocks = nn.ModuleList(
            ConvBlock(c.width, 7, c.dropout) for _ in range(c.frame_blocks)
        )
        self.norm = nn.LayerNorm(c.width)
        self.hint = nn.Linear(c.width, c.code_dim)

    def forward(self, alignment: Alignment) -> tuple[Tensor, Tensor]:
        """Conditioning [B, T, width] and hinted latents [B, T, code_dim]."""
        mask = (alignment.phonemes > 0)[..., None].float()
        x = self.embed(alignment.phonemes)
        for block in self.phoneme_blocks:
            x = block(x, mask)
        index = alignment.index[..., None].expand(-1, -1, x.shape[-1])
        x = F.gelu(torch.gather(x, 1, index) + self.place(alignment.place))
        x = self.to_frame(x.reshape(x.shape[0], -1, self.to_frame.in_features))
        # Padding is where the log duration is 0.
        used = alignment.place[:, :: self.config.steps, 1:2] > 0
        for block in self.frame_blocks:
            x = block(x, used.float())
        x = self.norm(x)
        return x, self.hint(x)


def load_conditioner(path: Path) -> Conditioner:
    """From a checkpoint; ForespeakError if it is missing or damaged."""
    return load_checkpoint(path, lambda config: Conditioner(ConditionerConfig(**config)))
