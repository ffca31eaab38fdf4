"""Stages `conditioner` and `target`: the conditioner learns to hint at latents, then a shallow
decoder joins it, then the decoder is deepened by repeating its layers and trained on.

Depth stacking (arXiv 2011.13635) spends most steps where they are cheap.
"""

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from core.checkpoint import save_checkpoint
from core.codec.latent import LatentCodec
from core.lm.conditioner import Conditioner, ConditionerConfig
from core.lm.decoder import Decoder, DecoderConfig
from core.train.dataset import TOKENS, Batch, batches, load_utterances
from core.train.loop import CPU, Losses, Trainer

SHALLOW = DecoderConfig(layers=3, width=320, heads=5, mlp=832)
DEPTH = 12


def hint_losses(conditioner: Conditioner, decoder: Decoder, batch: Batch) -> Losses:
    """Squared error of the hinted latent, in units of the first codebook's power."""
    _, hint = conditioner(batch.alignment)
    latent = decoder.latent(batch.codes)
    return {"loss": F.mse_loss(hint[batch.valid], latent[batch.valid])}


def token_losses(conditioner: Conditioner, decoder: Decoder, batch: Batch) -> Losses:
    """Cross-entropy in nats per token, of each codebook, with the hint as a side task."""
    cond, hint = conditioner(batch.alignment)
    logits = decoder(batch.codes, cond, hint)[batch.valid]
    codes = batch.codes.transpose(1, 2)[batch.valid]
    nats = F.cross_entropy(logits.flatten(0, 1), codes.flatten(), reduction="none")
    per_codebook = nats.view(codes.shape).mean(0)
    error = F.mse_loss(hint[batch.valid], decoder.latent(batch.codes)[batch.valid])
    report = {f"c{q}": value.detach() for q, value in enumerate(per_codebook)}
    return {"loss": per_codebook.mean() + 0.3 * error, "hint": error.detach(), **report}


def restack(decoder: Decoder, depth: int, codebooks: Tensor) -> Decoder:
    """A decoder of `depth` layers, each a copy of the given one's layer at that height."""
    layers = decoder.config.layers
    result = Decoder(replace(decoder.config, layers=depth), codebooks)
    given = decoder.state_dict()
    state = result.state_dict()
    for name in state:
        source = name
        if name.startswith("blocks."):
            _, index, rest = name.split(".", 2)
            source = f"blocks.{int(index) * layers // depth}.{rest}"
        state[name] = given[source]
    result.load_state_dict(state)
    # Repeated layers would add the same update several times over, omitted ones none at all.
    with torch.no_grad():
        for block in result.blocks:
            block.out.weight *= layers / depth
            block.down.weight *= layers / depth
    return result


def run(work: Path, assets: Path, minutes: float, device: torch.device = CPU) -> None:
    """Conditioner, shallow target, deep target; writes conditioner and target to assets."""
    codec = LatentCodec.load(assets / "codec.safetensors", CPU)
    steps = codec.config.latents
    training, validation = load_utterances(work / TOKENS, steps)
    conditioner = Conditioner(ConditionerConfig(steps=steps)).to(device)
    shallow = Decoder(SHALLOW, codec.codebooks).to(device)

    def fit(name: str, losses: Callable, decoder: Decoder, share: float, **options: float) -> None:
        modules = [conditioner] if losses is hint_losses else [conditioner, decoder]
        trainer = Trainer(
            work / f"{name}.pt",
            modules,
            partial(losses, conditioner, decoder),
            minutes * share,
            device=device,
            **options,
        )
        epoch = partial(batches, training, steps=steps)
        trainer.run(epoch, list(batches(validation, steps=steps)))

    fit("conditioner", hint_losses, shallow, 0.15, lr=1e-3)
    fit("shallow", token_losses, shallow, 0.2)
    deep = restack(shallow, DEPTH, codec.codebooks).to(device)
    fit("target", token_losses, deep, 0.65)
    save_checkpoint(
        assets / "conditioner.safetensors", conditioner.cpu(), asdict(conditioner.config)
    )
    save_checkpoint(assets / "target.safetensors", deep.cpu(), asdict(deep.config))
