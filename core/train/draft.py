"""Stage `draft`: shallow decoders learn the target's distribution, not the data's.

What decides the speed is α = E Σ min(p, q) at the temperature people use, so after the
Kullback-Leibler term has brought the two close, 1 - α itself is minimised (arXiv 2310.08461
compares the divergences). A larger draft has the better α, a smaller one costs less: several
are trained, and the one with the best predicted speed-up is kept.
"""

import hashlib
import json
import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path

import torch
from torch import Tensor
from tqdm import tqdm

from core.checkpoint import save_checkpoint
from core.codec.latent import LatentCodec
from core.costs import Sweep, costs_of
from core.decode import autoregressive, speculative
from core.drafters import DraftModel
from core.lm.compiled import CompiledDecoder
from core.lm.conditioner import Alignment, Conditioner, load_conditioner
from core.lm.decoder import Decoder, load_decoder
from core.lm.graph import GraphRuntime
from core.lm.runtime import DecoderRuntime
from core.outlook import LONGEST
from core.sampling import Noise, Sampling
from core.trace import Round
from core.train.dataset import TOKENS, Batch, Utterance, batches, load_utterances, move
from core.train.loop import CPU, Losses, Trainer
from core.train.target import restack
from core.train.trade import Trade
from core.verify import RULES

TEMPERATURE = 0.8
RESPOKEN = 1000  # utterances that the target says anew
SAVE_EVERY = 50  # of them
TIMED = 4  # validation utterances on which costs are measured


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
    batch = move(batch, target.vectors.device)
    cond, hint = conditioner(batch.alignment)
    logits = target(batch.codes, cond, hint)[batch.valid].half()
    return move(Lesson(batch, cond, hint, logits), CPU)


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
    cond, hint = condition(conditioner, utterance)
    length = utterance.codes.numel()
    rounds = autoregressive(
        target.start(cond, hint),
        length,
        Sampling(TEMPERATURE),
        RULES["lossless"],
        Noise(zlib.crc32(utterance.text.encode())),
    )
    tokens = torch.tensor([token for r in rounds for token in r.tokens])
    return replace(utterance, codes=tokens.view(-1, len(utterance.codes)).T)


def respeak_all(
    conditioner: Conditioner,
    target: DecoderRuntime,
    utterances: Sequence[Utterance],
    path: Path,
    version: str,
) -> list[Utterance]:
    """Respeak them all; `path` keeps what is done, for as long as `version` is the same."""
    stored = torch.load(path) if path.exists() else {}
    done: list[Tensor] = stored["codes"] if stored.get("version") == version else []
    rest = utterances[len(done) :]
    for u in tqdm(rest, "respeaking", total=len(utterances), initial=len(done)):
        done.append(respeak(conditioner, target, u).codes)
        if len(done) % SAVE_EVERY == 0 or len(done) == len(utterances):
            partial_path = path.with_suffix(".partial")
            torch.save({"version": version, "codes": done}, partial_path)
            partial_path.replace(path)
    return [replace(u, codes=codes) for u, codes in zip(utterances, done, strict=True)]


def condition(conditioner: Conditioner, utterance: Utterance) -> tuple[Tensor, Tensor]:
    """cond [T, width] and hint [T, code_dim] of one utterance."""
    alignment = Alignment.from_durations(
        utterance.phonemes, utterance.durations, conditioner.config.steps
    )
    cond, hint = conditioner(move(alignment, conditioner.hint.weight.device))
    return cond[0], hint[0]


def candidates(target: Decoder, codebooks: Tensor) -> dict[str, Decoder]:
    """Untrained drafts by name: one layer cut from the target, and narrower ones from scratch."""

    def narrow(width: int, heads: int, mlp: int) -> Decoder:
        config = replace(target.config, layers=1, width=width, heads=heads, mlp=mlp)
        return Decoder(config, codebooks)

    drafts = [restack(target, 1, codebooks), narrow(256, 4, 704), narrow(192, 3, 512)]
    return {f"{d.config.layers}x{d.config.width}": d for d in drafts}


def run(work: Path, assets: Path, minutes: float, device: torch.device = CPU) -> None:
    """Distil the target in assets; writes the best draft there, all trades to work/draft.json."""
    codebooks = LatentCodec.load(assets / "codec.safetensors", CPU).codebooks
    conditioner = load_conditioner(assets / "conditioner.safetensors").to(device)
    target = load_decoder(assets / "target.safetensors", codebooks)
    drafts = candidates(target, codebooks)
    on_cpu = DecoderRuntime(target, CPU)
    runtime = GraphRuntime(target, device) if device.type == "cuda" else on_cpu
    target.to(device)
    steps = conditioner.config.steps
    training, validation = load_utterances(work / TOKENS, steps)

    @cache  # asked once, and only if some draft is not trained yet
    def lessons() -> list[Lesson]:
        sources = [assets / "conditioner.safetensors", assets / "target.safetensors", work / TOKENS]
        said = respeak_all(
            conditioner, runtime, training[:RESPOKEN], work / "respoken.pt", digest(sources)
        )
        asked = list(batches([*training, *said], random.Random(0), steps=steps))
        return [teach(conditioner, target, batch) for batch in tqdm(asked, "asking the target")]

    def epoch(rng: random.Random) -> Iterator[Lesson]:
        yield from rng.sample(lessons(), len(lessons()))

    exam = [teach(conditioner, target, batch) for batch in batches(validation, steps=steps)]
    alpha = {}
    for name, draft in drafts.items():
        trainer = Trainer(
            work / f"draft-{name}.pt",
            [draft],
            partial(distillation_losses, draft),
            minutes / len(drafts),
            device=device,
        )
        trainer.run(epoch, exam)
        alpha[name] = trainer.evaluate(exam)["alpha"]
        draft.cpu()
    trades, v = weigh(conditioner.cpu(), on_cpu, drafts, alpha, validation[:TIMED])
    best = max(trades, key=lambda trade: trade.speedup)
    table = {
        "temperature": TEMPERATURE,
        "threads": torch.get_num_threads(),
        "v": v,
        "kept": best.name,
        "drafts": [asdict(trade) for trade in trades],
    }
    (work / "draft.json").write_text(json.dumps(table, indent=1), encoding="utf-8")
    kept = drafts[best.name]
    save_checkpoint(assets / "draft.safetensors", kept, asdict(kept.config), int8=True)


@torch.inference_mode()
def weigh(
    conditioner: Conditioner,
    target: DecoderRuntime,
    drafts: Mapping[str, Decoder],
    alpha: Mapping[str, float],
    utterances: Sequence[Utterance],
) -> tuple[list[Trade], tuple[float, ...]]:
    """Each draft's trade, and v: on a CPU, where the voice is meant to speak."""
    way = sampling, *_ = Sampling(TEMPERATURE), RULES["lossless"], Noise(0)
    costs = []
    for draft in drafts.values():
        runtime = CompiledDecoder(draft)
        rounds: list[Round] = []
        for u in utterances:
            heard = condition(conditioner, u)
            drafter = DraftModel(runtime.start(*heard), sampling)
            state, length = target.start(*heard), u.codes.numel()
            rounds += speculative(state, drafter, length, Sweep(LONGEST), *way)
        costs.append(costs_of(rounds, LONGEST))
    trades = [
        Trade.of(name, sum(p.numel() for p in draft.parameters()), alpha[name], its_costs)
        for (name, draft), its_costs in zip(drafts.items(), costs, strict=True)
    ]
    return trades, costs[0].v


def digest(paths: Sequence[Path]) -> str:
    """One checksum of several files."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()
