"""A codec with the real one's structure and random weights: a frame is 2 latents of 8 samples."""

import torch

from core.codec.latent import ContextConfig, LatentCodec, LatentCodecConfig
from core.codec.vocoder import VocoderConfig

CONFIG = LatentCodecConfig(
    num_codebooks=3,
    codebook_size=7,
    dim=5,
    latents=2,
    sample_rate=1200,
    post=ContextConfig(past=2, ahead=1, width=8, layers=1),
    vocoder=VocoderConfig(
        latent_dim=4,
        channels=8,
        strides=(2, 4),
        kernels=(3, 5),
        dilations=((1, 2), (2, 6)),
    ),
)
SAMPLES_PER_FRAME = 16


def tiny_codec(seed: int = 0) -> LatentCodec:
    codec = LatentCodec(CONFIG)
    rng = torch.Generator().manual_seed(seed)
    for parameter in codec.parameters():
        parameter.normal_(std=0.3, generator=rng)
    return codec


def random_codes(frames: int, seed: int = 0) -> torch.Tensor:
    """[Q, frames]"""
    rng = torch.Generator().manual_seed(seed)
    return torch.randint(CONFIG.codebook_size, (CONFIG.num_codebooks, frames), generator=rng)
