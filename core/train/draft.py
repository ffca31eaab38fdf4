"""Stage `draft`: a shallow decoder learns the target's distribution, not the data's.

What decides the speed is α = E Σ min(p, q) at the temperature people use, so after the
Kullback-Leibler term has brought the two close, 1 - α itself is minimised (arXiv 2310.08461
compares the divergences).
"""

from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor

from core.lm.checkpoint import save_checkpoint
from core.lm.conditioner import Conditioner
from core.lm.decoder import Decoder, DecoderConfig
from core.train.dataset import Batch, load_utterances
from core.train.loop import Losses, Trainer
from core.voices.joe import load_conditioner, load_decoder

DRAFT = DecoderConfig(layers=1, width=256, heads=4, mlp=704)
TEMPERATURE = 0.8


def overlap(target_logits: Tensor, draft_logits: Tensor, temperature: float) -> Tensor:
    """Σ min(p, q) of each position, [...]; logits [..., V]."""
    p = (target_logits / temperature).softmax(-1)
    q = (draft_logits / temperature).softmax(-1)
    return torch.minimum(p, q).sum(-1)


def distillation_losses(
    conditioner: Conditioner, target: Decoder, draft: Decoder, batch: Batch
) -> Losses:
    """KL(p || q) at temperature 1 and 1 - α at the usual one; alpha0.. are per codebook."""
    with torch.no_grad():
        cond, guess = conditioner(batch.alignment)
        wanted = target(batch.codes, cond, guess)[batch.valid]
    given = draft(batch.codes, cond, guess)[batch.valid]
    log_p, log_q = wanted.log_softmax(-1), given.log_softmax(-1)
    divergence = (log_p.exp() * (log_p - log_q)).sum(-1).mean()
    alpha = overlap(wanted, given, TEMPERATURE).mean(0)
    report = {f"alpha{q}": value.detach() for q, value in enumerate(alpha)}
    loss = 0.3 * divergence + (1 - alpha.mean())
    return {"loss": loss, "alpha": alpha.mean().detach(), "kl": divergence.detach(), **report}


def run(tokens: Path, codebooks: Tensor, assets: Path, work: Path, minutes: float) -> None:
    """Distil a draft from the target in assets; writes the draft there."""
    conditioner = load_conditioner(assets / "conditioner.safetensors")
    target = load_decoder(assets / "target.safetensors", codebooks)
    draft = Decoder(DRAFT, codebooks)
    trainer = Trainer(
        work / "draft.pt",
        [draft],
        lambda batch: distillation_losses(conditioner, target, draft, batch),
        minutes,
    )
    trainer.run(*load_utterances(tokens))
    save_checkpoint(assets / "draft.safetensors", draft, asdict(draft.config))
