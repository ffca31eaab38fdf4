"""The vocoder of the teacher voice: HiFi-GAN (arXiv 2010.05646), as Piper's medium voices have it.

The generator of VITS with residual blocks of kind 2; weights come from the teacher's ONNX graph
(core/train/codec.py).
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.codec.streaming import Conv, ConvStream, Upsample, UpsampleStream

SLOPE = 0.1  # of every leaky ReLU but the last
LAST_SLOPE = 0.01
EDGE_KERNEL = 7  # of the first and the last convolution


@dataclass(frozen=True)
class VocoderConfig:
    """Sizes. A stage lengthens the signal, halves its channels and averages its branches.

    A branch is one residual convolution after the other, all with the same kernel.
    """

    latent_dim: int = 192
    channels: int = 256
    strides: tuple[int, ...] = (8, 8, 4)
    kernels: tuple[int, ...] = (3, 5, 7)
    dilations: tuple[tuple[int, ...], ...] = ((1, 2), (2, 6), (3, 12))


class Stage(nn.Module):
    """Upsampling and the parallel branches behind it."""

    def __init__(self, config: VocoderConfig, inputs: int, stride: int):
        super().__init__()
        width = inputs // 2
        self.up = Upsample(inputs, width, stride)
        self.branches = nn.ModuleList(
            nn.ModuleList(Conv(width, width, kernel, dilation) for dilation in dilations)
            for kernel, dilations in zip(config.kernels, config.dilations, strict=True)
        )


class Vocoder(nn.Module):
    """Latents [S, latent_dim] to S * hop samples."""

    def __init__(self, config: VocoderConfig):
        super().__init__()
        widths = [config.channels >> i for i in range(len(config.strides) + 1)]
        self.first = Conv(config.latent_dim, widths[0], EDGE_KERNEL)
        self.stages = nn.ModuleList(
            Stage(config, width, stride)
            for width, stride in zip(widths, config.strides, strict=False)
        )
        self.last = Conv(widths[-1], 1, EDGE_KERNEL, bias=False)

    def stream(self) -> "VocoderStream":
        return VocoderStream(self)


class VocoderStream:
    """One utterance through the vocoder."""

    def __init__(self, vocoder: Vocoder):
        self._first = ConvStream(vocoder.first)
        self._stages = [_StageStream(stage) for stage in vocoder.stages]
        self._last = ConvStream(vocoder.last, LAST_SLOPE)

    def push(self, latents: Tensor, last: bool) -> Tensor:
        """Latents [s, latent_dim]; the samples that are final now, [samples] from -1 to 1."""
        signal = self._first.push(latents, last)
        for stage in self._stages:
            signal = stage.push(signal, last)
        return torch.tanh(self._last.push(signal, last)[:, 0])


class _StageStream:
    """One signal through a stage; branches that see less far ahead wait for the one that does."""

    def __init__(self, stage: Stage):
        self._up = UpsampleStream(stage.up, SLOPE)
        reach = [sum(conv.reach for conv in branch) for branch in stage.branches]
        self._branches = [
            [
                ConvStream(conv, SLOPE, skip=True, delay=0 if i else max(reach) - own)
                for i, conv in enumerate(branch)
            ]
            for own, branch in zip(reach, stage.branches, strict=True)
        ]

    def push(self, piece: Tensor, last: bool) -> Tensor:
        piece = self._up.push(piece, last)
        total = 0
        for branch in self._branches:
            signal = piece
            for conv in branch:
                signal = conv.push(signal, last)
            total = total + signal
        return total / len(self._branches)
