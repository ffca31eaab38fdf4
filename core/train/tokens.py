"""Stage `tokens`: the latents as codes of the codec in assets, which the models are trained on."""

from pathlib import Path

import torch
from tqdm import tqdm

from core.checkpoint import load_checkpoint
from core.codec.latent import ContextConfig, ContextNet, LatentCodec
from core.train.codec import ENCODER_FILE, padded
from core.train.data import load_latents, write_tokens


@torch.inference_mode()
def run(work: Path, assets: Path, _minutes: float) -> None:
    """Encode work/latents; writes tokens.npz to `work`."""
    codec = LatentCodec.load(assets / "codec.safetensors", torch.device("cpu"))
    dim = codec.codebooks.shape[-1]
    encoder = load_checkpoint(
        work / ENCODER_FILE, lambda config: ContextNet(dim, ContextConfig(**config))
    )
    write_tokens(
        work,
        [
            codec.quantizer.encode(
                encoder.whole(codec.basis.analyse(padded(latents, codec.config.latents)))
            )
            for latents in tqdm(load_latents(work), "encoding", unit="sentence")
        ],
    )
