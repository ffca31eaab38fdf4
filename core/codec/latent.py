"""The embedded voice's codec: RVQ over the teacher's vocoder latents, and that vocoder.

codes -> sum of codebook vectors -> post-net -> four latents a frame -> waveform
"""

import math
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.checkpoint import load_checkpoint, save_checkpoint
from core.codec.base import check_codes
from core.codec.groups import AcousticGroups
from core.codec.rvq import FrameBasis, ResidualQuantizer
from core.codec.streaming import Window
from core.codec.vocoder import Vocoder, VocoderConfig

BLOCK_FRAMES = 8  # decoded at a time: enough to keep the cores busy, few enough for their caches


@dataclass(frozen=True)
class ContextConfig:
    """Sizes of a `ContextNet`: frames of context, width and number of hidden layers."""

    past: int = 3
    ahead: int = 2
    width: int = 384
    layers: int = 2


@dataclass(frozen=True)
class LatentCodecConfig:
    """Sizes of a `LatentCodec`; `latents` is how many vocoder latents one frame spans."""

    num_codebooks: int = 4
    codebook_size: int = 512
    dim: int = 64
    latents: int = 4
    sample_rate: int = 22050
    post: ContextConfig = field(default_factory=ContextConfig)
    vocoder: VocoderConfig = field(default_factory=VocoderConfig)


class ContextNet(nn.Module):
    """Corrects each frame by what a small network makes of it and its neighbours."""

    def __init__(self, dim: int, config: ContextConfig):
        super().__init__()
        self.config = config
        context = config.past + 1 + config.ahead
        self.inner = nn.Linear(dim * context, config.width)
        self.hidden = nn.ModuleList(
            nn.Linear(config.width, config.width) for _ in range(config.layers)
        )
        self.outer = nn.Linear(config.width, dim)
        nn.init.zeros_(self.outer.weight)  # untrained, it changes nothing
        nn.init.zeros_(self.outer.bias)

    def forward(self, frames: Tensor) -> Tensor:
        """Frames [..., past + T + ahead, D] to the T in the middle, corrected: [..., T, D]."""
        past, ahead = self.config.past, self.config.ahead
        count = max(0, frames.shape[-2] - past - ahead)
        windows = torch.cat([frames[..., i : i + count, :] for i in range(past + 1 + ahead)], -1)
        x = F.gelu(self.inner(windows))
        for layer in self.hidden:
            x = x + F.gelu(layer(x))
        return frames[..., past : past + count, :] + self.outer(x)

    def whole(self, frames: Tensor) -> Tensor:
        """Frames [..., T, D] of whole utterances, corrected: zeros stand beyond their ends."""
        return self(F.pad(frames, (0, 0, self.config.past, self.config.ahead)))


class LatentCodec(nn.Module):
    """Implements `Codec`."""

    def __init__(self, config: LatentCodecConfig):
        super().__init__()
        self.config = config
        self.sample_rate = config.sample_rate
        self.frame_rate = config.sample_rate / (config.latents * math.prod(config.vocoder.strides))
        self.num_codebooks = config.num_codebooks
        self.codebook_size = config.codebook_size
        self.quantizer = ResidualQuantizer(config.num_codebooks, config.codebook_size, config.dim)
        self.post = ContextNet(config.dim, config.post)
        self.basis = FrameBasis(config.dim, config.latents, config.vocoder.latent_dim)
        self.vocoder = Vocoder(config.vocoder)
        self.requires_grad_(False)

    @classmethod
    def load(cls, path: Path, device: torch.device) -> "LatentCodec":
        """Of one safetensors file; ForespeakError if it is missing or damaged."""
        return load_checkpoint(path, lambda config: cls(config_from_json(config))).to(device)

    def save(self, path: Path) -> None:
        """Weights as float16, sizes in the header."""
        save_checkpoint(path, self, asdict(self.config))

    @property
    def codebooks(self) -> Tensor:
        """[Q, V, D], in the coordinates that the post-net refines."""
        return self.quantizer.codebooks

    @cached_property
    def groups(self) -> AcousticGroups:
        return AcousticGroups(self.codebooks)

    def decode(self, codes: Tensor) -> Tensor:
        stream = self.stream()
        pieces = [stream.push(block) for block in codes.split(BLOCK_FRAMES, dim=-1)]
        return torch.cat([*pieces, stream.finish()])

    def stream(self) -> "LatentCodecStream":
        return LatentCodecStream(self)


class LatentCodecStream:
    """Implements `CodecStream`."""

    def __init__(self, codec: LatentCodec):
        self._codec = codec
        post = codec.post.config
        self._frames = Window(post.past, post.ahead, codec.codebooks)
        self._vocoder = codec.vocoder.stream()
        self._finished = False

    def push(self, codes: Tensor) -> Tensor:
        check_codes(codes, self._codec.num_codebooks, self._codec.codebook_size)
        return self._extend(codes, last=False)

    def finish(self) -> Tensor:
        nothing = torch.empty(self._codec.num_codebooks, 0, dtype=torch.long)
        samples = self._extend(nothing, last=True)
        self._finished = True
        return samples

    @torch.inference_mode()
    def _extend(self, codes: Tensor, last: bool) -> Tensor:
        if self._finished:
            raise RuntimeError("this stream is finished: ask the codec for a new one")
        codec = self._codec
        frames = codec.quantizer.decode(codes.to(codec.codebooks.device, torch.long))
        frames = codec.post(self._frames.extend(frames, last))
        return self._vocoder.push(codec.basis.synthesise(frames), last)


def config_from_json(values: dict[str, Any]) -> LatentCodecConfig:
    """The config that `asdict` and JSON took apart; TypeError or KeyError if it is none."""
    post = ContextConfig(**values["post"])
    vocoder = VocoderConfig(**{name: _tuples(value) for name, value in values["vocoder"].items()})
    return LatentCodecConfig(**values | {"post": post, "vocoder": vocoder})


def _tuples(value: Any) -> Any:
    """JSON lists, also inside lists, as tuples."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
