"""X-Codec 2 (arXiv 2502.04128): one codebook, 50 frames a second, as transformers runs it."""

from pathlib import Path

import torch
from torch import Tensor, nn

from core.codec.base import check_codes
from core.codec.published import frame_rate, load_published
from core.codec.whole import WholeStream
from core.errors import ForespeakError


class XCodec2:
    """Implements `Codec`. Its decoder attends to all frames at once: no part can be made early."""

    num_codebooks = 1
    groups = None  # its codes are corners of a grid, not vectors that a distance could compare

    def __init__(self, model: nn.Module):
        config = model.config
        self.sample_rate = config.sampling_rate
        self.frame_rate = config.sampling_rate / config.hop_length
        self.codebook_size = len(model.quantizer.quantizer.codebook)
        self._model = model

    @staticmethod
    def rate(folder: Path) -> float:
        """Frames a second of a published checkpoint."""
        return frame_rate("Xcodec2Config", folder)

    @classmethod
    def load(cls, folder: Path, device: torch.device, num_codebooks: int = 1) -> "XCodec2":
        """Of a published checkpoint; what only the encoder needs is not kept."""
        if num_codebooks != cls.num_codebooks:
            raise ForespeakError(f"X-Codec 2 has one codebook, not {num_codebooks}.")
        model = load_published("Xcodec2Model", folder)
        for part in ("semantic_encoder", "semantic_adapter", "acoustic_encoder", "fc_encoder"):
            delattr(model, part)
        return cls(model.to(device))

    @torch.inference_mode()
    def decode(self, codes: Tensor) -> Tensor:
        check_codes(codes, self.num_codebooks, self.codebook_size)
        if not codes.numel():
            return torch.empty(0)
        codes = codes[None].to(self._model.device, torch.long)
        return self._model.decode(codes).audio_values[0, 0].float().clamp(-1, 1)

    def stream(self) -> WholeStream:
        return WholeStream(self)
