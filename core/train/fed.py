"""Stage `fed`: drafts that read the target's hidden states learn its distribution.

The loss is that of the small draft, of every token ahead; those far ahead count for less, since
a round seldom comes so far. Taps, gate and steps are what paid on two CPU cores.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn
from tqdm import tqdm

from core.checkpoint import save_checkpoint
from core.codec.latent import LatentCodec
from core.lm.chain import Chain
from core.lm.conditioner import Conditioner, load_conditioner
from core.lm.decoder import Decoder, load_decoder
from core.lm.fed import Fed, FedConfig
from core.lm.heads import Heads
from core.lm.runtime import DecoderRuntime
from core.train.dataset import TOKENS, Batch, batches, load_utterances, move
from core.train.draft import RESPOKEN, TEMPERATURE, digest, overlap, respeak_all
from core.train.loop import CPU, Losses, Optimizers, Trainer
from core.train.muon import Muon

CHAIN = FedConfig(taps=(3, 7, 11), mlp=512, steps=8)
HEADS = FedConfig(taps=(11,), mlp=96, steps=6)  # the last of the chain's
LESSONS = 600  # of the data's own utterances, as many frames as fit in memory
MAX_FRAMES = 400  # of a batch: logits of every step are kept for the gradient
FADE = 0.9  # weight of a token, per token ahead
SHARE = 0.8  # of the minutes for the chain


@dataclass(frozen=True)
class FedLesson:
    """A batch with what the frozen models say of it.

    inputs: the target's at each position, known: the part that is there before any token,
    [B, S, width]; features: of the chain's taps, [B, S, F]; logits: [B, S, V]; half precision.
    """

    batch: Batch
    inputs: Tensor
    known: Tensor
    features: Tensor
    logits: Tensor

    @property
    def valid(self) -> Tensor:
        return self.batch.valid


@torch.no_grad()
def teach(conditioner: Conditioner, target: Decoder, batch: Batch) -> FedLesson:
    """Ask the frozen models once, not once per epoch."""
    batch = move(batch, target.vectors.device)
    heard: list[Tensor] = []
    hooks = [
        target.blocks[layer].register_forward_hook(lambda *given: heard.append(given[2].half()))
        for layer in CHAIN.taps
    ]
    cond, hint = conditioner(batch.alignment)
    logits = target(batch.codes, cond, hint).flatten(1, 2).half()
    for hook in hooks:
        hook.remove()
    inputs = target.inputs(batch.codes, cond, hint).half()
    known = target.known_inputs(cond, hint).half()
    return move(FedLesson(batch, inputs, known, torch.cat(heard, -1), logits), CPU)


Guess = Callable[[FedLesson], list[Tensor]]
"""Logits [B, S - j, V] of the token j after each position, for j from 0."""


def guess_with(draft: Fed) -> Guess:
    """How a draft of either kind is asked."""
    if isinstance(draft, Heads):
        width = len(draft.begin)
        return lambda lesson: draft(
            lesson.inputs.float(), lesson.known.float(), lesson.features[..., -width:].float()
        )
    return lambda lesson: draft(lesson.inputs.float(), lesson.features.float())


def fed_losses(guess: Guess, lesson: FedLesson) -> Losses:
    """0.3 KL(p || q) + 1 - α of each token ahead; alpha0.. are reported."""
    Q = lesson.batch.codes.shape[1]
    valid = lesson.valid[:, :, None].expand(-1, -1, Q).flatten(1)
    wanted = lesson.logits.float()
    log_p = wanted.log_softmax(-1)
    loss, weights, report = torch.zeros(()), 0.0, {}
    for j, given in enumerate(guess(lesson)):
        kept = valid[:, j:]
        log_q = given.log_softmax(-1)
        divergence = (log_p[:, j:].exp() * (log_p[:, j:] - log_q)).sum(-1)[kept].mean()
        alpha = overlap(wanted[:, j:], given, TEMPERATURE)[kept].mean()
        loss = loss + FADE**j * (0.3 * divergence + 1 - alpha)
        weights += FADE**j
        report[f"alpha{j}"] = alpha.detach()
    return {"loss": loss / weights, **report}


def muon_for_gates(modules: nn.Module, lr: float) -> Optimizers:
    """Muon for the matrices into and out of gates, AdamW for the rest."""
    names = ("state.weight", "input.weight", "down.weight", "known.weight", "ahead.weight")
    gates = [p for name, p in modules.named_parameters() if name.endswith(names)]
    chosen = {id(p) for p in gates}
    rest = [p for p in modules.parameters() if id(p) not in chosen]
    adamw = torch.optim.AdamW(rest, lr, betas=(0.9, 0.97), weight_decay=0.02)
    return [Muon(gates, lr), adamw]


def run(work: Path, assets: Path, minutes: float, device: torch.device = CPU) -> None:
    """Distil the target in assets; writes feature.safetensors and heads.safetensors there."""
    codebooks = LatentCodec.load(assets / "codec.safetensors", CPU).codebooks
    conditioner = load_conditioner(assets / "conditioner.safetensors")
    target = load_decoder(assets / "target.safetensors", codebooks)
    training, validation = load_utterances(work / TOKENS, conditioner.config.steps)
    sources = [assets / "conditioner.safetensors", assets / "target.safetensors", work / TOKENS]
    runtime, first = DecoderRuntime(target, CPU), training[:RESPOKEN]
    said = respeak_all(conditioner, runtime, first, work / "respoken.pt", digest(sources))
    use = said + random.Random(0).sample(training, min(LESSONS, len(training)))
    steps = conditioner.config.steps
    conditioner.to(device), target.to(device)
    asked = list(batches(use, random.Random(0), MAX_FRAMES, steps))
    lessons = [teach(conditioner, target, batch) for batch in tqdm(asked, "asking the target")]
    exam = [teach(conditioner, target, batch) for batch in batches(validation, steps=steps)]
    target.cpu()

    def epoch(rng: random.Random) -> Iterator[FedLesson]:
        yield from rng.sample(lessons, len(lessons))

    drafts = {"feature": (Chain(CHAIN, target), SHARE), "heads": (Heads(HEADS, target), 1 - SHARE)}
    for name, (draft, share) in drafts.items():
        trainer = Trainer(
            work / f"{name}.pt",
            [draft],
            partial(fed_losses, guess_with(draft)),
            share * minutes,
            lr=1e-3,
            device=device,
            optimizers=muon_for_gates,
        )
        trainer.run(epoch, exam)
        save_checkpoint(
            assets / f"{name}.safetensors", draft.cpu(), asdict(draft.config), int8=True
        )
