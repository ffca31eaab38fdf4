"""Stage `draft`: a shallow decoder learns the target's distribution, not the data's.

What decides the speed is α = E Σ min(p, q) at the temperature people use, so after the
Kullback-Leibler term has brought the two close, 1 - α itself is minimised (arXiv 2310.08461
compares the divergences).
"""

import random
import zlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from torch import Tensor
from tqdm import tqdm

from core.codec.latent import LatentCodec
from core.decode import autoregressive
from core.lm.checkpoint import save_checkpoint
from core.lm.conditioner import Alignment, Conditioner, load_conditioner
from core.lm.decoder import Decoder, load_decoder
from core.lm.runtime import DecoderRuntime
from core.sampling import Noise, Sampling
from core.train.dataset import TOKENS, Batch, Utterance, batches, load_utterances
from core.train.loop import Losses, Trainer
from core.train.target import restack
from core.verify import RULES

DRAFT_LAYERS = 1
TEMPERATURE = 0.8
RESPOKEN = 1000  # utterances that the target says anew


def overlap(target_logits: Tensor, draft_logits: Tensor, temperature: float) -> Tensor:
    """Σ min(p, q) of each position, [...]; logits [..., V]."""
    p = (target_logits / temperature).softmax(-1)
    q = (draft_logits / temperature).softmax(-1)
    return torch.minimum(p, q).sum(-1)


@dataclass(frozen=True)
class Lesson:
    """A batch with what the frozen models say of it.

    cond, hint: the conditioner's output; logits: the target's, [N, Q, V], of the N valid frames.
    """

    batch: Batch
    cond: Tensor
    hint: Tensor
    logits: Tensor

    @property
    def valid(self) -> Tensor:
        return self.batch.valid


@torch.no_grad()
def teach(conditioner: Conditioner, target: Decoder, batch: Batch) -> Lesson:
    """Ask the frozen models once, not once per epoch: the answers fit in memory as float16."""
    cond, hint = conditioner(batch.alignment)
    return Lesson(batch, cond, hint, target(batch.codes, cond, hint)[batch.valid].half())


def distillation_losses(draft: Decoder, lesson: Lesson) -> Losses:
    """KL(p || q) at temperature 1 and 1 - α at the usual one; alpha0.. are per codebook."""
    wanted = lesson.logits.float()
    given = draft(lesson.batch.codes, lesson.cond, lesson.hint)[lesson.valid]
    log_p, log_q = wanted.log_softmax(-1), given.log_softmax(-1)
    divergence = (log_p.exp() * (log_p - log_q)).sum(-1).mean()
    alpha = overlap(wanted, given, TEMPERATURE).mean(0)
    report = {f"alpha{q}": value.detach() for q, value in enumerate(alpha)}
    loss = 0.3 * divergence + (1 - alpha.mean())
    return {"loss": loss, "alpha": alpha.mean().detach(), "kl": divergence.detach(), **report}


@torch.inference_mode()
def respeak(conditioner: Conditioner, target: DecoderRuntime, utterance: Utterance) -> Utterance:
    """The same phonemes and durations with tokens drawn from the target: in use, the draft
    continues what the target said, not what the data hold."""
    alignment = Alignment.from_durations(utterance.phonemes, utterance.durations)
    cond, hint = conditioner(alignment)
    length = utterance.codes.numel()
    rounds = autoregressive(
        target.start(cond[0], hint[0]),
        length,
        Sampling(TEMPERATURE),
        RULES["lossless"],
        Noise(zlib.crc32(utterance.text.encode())),
    )
    tokens = torch.tensor([token for r in rounds for token in r.tokens])
    return replace(utterance, codes=tokens.view(-1, len(utterance.codes)).T)


def run(work: Path, assets: Path, minutes: float) -> None:
    """Distil a draft from the target in assets; writes the draft there."""
    codebooks = LatentCodec.load(assets / "codec.safetensors", torch.device("cpu")).codebooks
    conditioner = load_conditioner(assets / "conditioner.safetensors")
    target = load_decoder(assets / "target.safetensors", codebooks)
    training, validation = load_utterances(work / TOKENS)
    runtime = DecoderRuntime(target, torch.device("cpu"))
    chosen = training[:RESPOKEN]
    training += [respeak(conditioner, runtime, u) for u in tqdm(chosen, "respeaking")]
    lessons = [
        teach(conditioner, target, batch)
        for batch in tqdm(list(batches(training, random.Random(0))), "asking the target")
    ]
    draft = restack(target, DRAFT_LAYERS, codebooks)
    trainer = Trainer(
        work / "draft.pt", [draft], lambda lesson: distillation_losses(draft, lesson), minutes
    )
    trainer.run(
        lambda rng: iter(rng.sample(lessons, len(lessons))),
        [teach(conditioner, target, batch) for batch in batches(validation)],
    )
    save_checkpoint(assets / "draft.safetensors", draft, asdict(draft.config))
