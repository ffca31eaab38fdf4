"""EnCodec at 24 kHz (arXiv 2210.13438): causal, so sound comes while frames do; from transformers.

The package `encodec` is the same model, but imports torchaudio, whose Linux wheels need the CUDA
build of torch, and unpickles its weights.
"""

import math
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor, nn

from core.codec.base import check_codes
from core.codec.groups import AcousticGroups
from core.codec.published import frame_rate, load_published
from core.errors import ForespeakError

PAST = 3  # frames that samples hear of, through the layers behind the LSTM: 1.3, rounded up


class EnCodec:
    """Implements `Codec`, with the first codebooks of a published model."""

    def __init__(self, model: nn.Module, num_codebooks: int):
        config = model.config
        if not config.use_causal_conv or config.normalize:
            raise ForespeakError("Of EnCodec only the causal model at 24 kHz can be used.")
        self.num_codebooks = num_codebooks
        self.codebook_size = config.codebook_size
        self.sample_rate = config.sampling_rate
        self.hop = math.prod(config.upsampling_ratios)
        self.frame_rate = config.sampling_rate / self.hop
        self._model = model

    @staticmethod
    def rate(folder: Path) -> float:
        """Frames a second of a published checkpoint."""
        return frame_rate("EncodecConfig", folder)

    @classmethod
    def load(cls, folder: Path, device: torch.device, num_codebooks: int) -> "EnCodec":
        """Of a published checkpoint; what only the encoder needs is not kept."""
        model = load_published("EncodecModel", folder)
        del model.encoder
        return cls(model.to(device), num_codebooks)

    @cached_property
    def groups(self) -> AcousticGroups:
        layers = self._model.quantizer.layers[: self.num_codebooks]
        return AcousticGroups(torch.stack([layer.codebook.embed for layer in layers]))

    @torch.inference_mode()
    def decode(self, codes: Tensor) -> Tensor:
        if not codes.numel():
            return torch.empty(0)
        return self._model.decoder(self.frames(codes))[0, 0]

    def frames(self, codes: Tensor) -> Tensor:
        """What codes [Q, T] stand for, [1, D, T]."""
        check_codes(codes, self.num_codebooks, self.codebook_size)
        return self._model.quantizer.decode(codes[:, None].to(self._model.device, torch.long))

    def stream(self) -> "EnCodecStream":
        return EnCodecStream(self, list(self._model.decoder.layers))


class EnCodecStream:
    """Implements `CodecStream`.

    The first layer keeps what it pads with, the LSTM its state; those behind it see few frames
    back, and are given these again.
    """

    def __init__(self, codec: EnCodec, layers: list[nn.Module]):
        self._codec = codec
        self._first, self._memory, *self._rest = layers
        self._padding = int(self._first.padding_total)
        self._held: Tensor | None = None  # frames that the first layer will see again
        self._begun = False
        self._state: tuple[Tensor, Tensor] | None = None
        self._past: Tensor | None = None
        self._finished = False

    @torch.inference_mode()
    def push(self, codes: Tensor) -> Tensor:
        return self._extend(codes, last=False)

    @torch.inference_mode()
    def finish(self) -> Tensor:
        nothing = torch.empty(self._codec.num_codebooks, 0, dtype=torch.long)
        samples = self._extend(nothing, last=True)
        self._finished = True
        return samples

    def _extend(self, codes: Tensor, last: bool) -> Tensor:
        if self._finished:
            raise RuntimeError("this stream is finished: ask the codec for a new one")
        frames = self._codec.frames(codes)
        held = frames if self._held is None else torch.cat((self._held, frames), -1)
        self._held = held
        # The beginning is mirrored before it: so much must be there first.
        waits = not self._begun and held.shape[-1] <= self._padding and not last
        if waits or not (frames.shape[-1] if self._begun else held.shape[-1]):
            return torch.empty(0)
        x = self._first.conv(held) if self._begun else self._first(held)
        self._begun, self._held = True, held[..., -self._padding :]
        return self._sound(self._remember(x))

    def _remember(self, x: Tensor) -> Tensor:
        """Through the LSTM, [1, D, n] to the same."""
        x = x.permute(2, 0, 1)
        y, self._state = self._memory.lstm(x, self._state)
        return (x + y).permute(1, 2, 0)

    def _sound(self, x: Tensor) -> Tensor:
        """Through all layers behind, [1, D, n] to [samples]."""
        past = x[..., :0] if self._past is None else self._past
        x = torch.cat((past, x), -1)
        self._past = x[..., -PAST:]
        for layer in self._rest:
            x = layer(x)
        return x[0, 0, past.shape[-1] * self._codec.hop :]
