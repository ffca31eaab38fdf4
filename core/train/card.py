"""Stage `card`: measure the finished voice and write its model card and checksums."""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean
from string import Template

import numpy as np
import torch
import torch.nn.functional as F
from tqdm import tqdm

from core.ceiling import Recorded, save_ceiling
from core.codec.latent import LatentCodec
from core.engine import AudioReady, Engine, Settings
from core.lm.chain import Chain
from core.lm.conditioner import Conditioner, load_conditioner, with_blanks
from core.lm.decoder import Decoder, load_decoder
from core.lm.durations import load_durations
from core.lm.fed import load_fed
from core.lm.heads import Heads
from core.outlook import measure_outlook
from core.rules.exact import accept_probability
from core.sampling import Sampling
from core.text.phonemize import Phonemizer
from core.trace import first_difference
from core.train.data import TEST_FROM, Teacher, sentences, teacher_without_vocoder
from core.train.dataset import TOKENS, Utterance, batches, load_utterances
from core.train.loop import CPU
from core.train.quality import Quality, evaluate, interval
from core.voices.joe import Joe

TEXTS = 60
SAME_SEED_TEXTS = 20
CEILING_TEXTS = 8
CEILING_SECONDS = 2.0, 4.0
TEMPERATURES = (1.0, 0.8, 0.6)
TEMPLATE = Path(__file__).with_name("card.md")
SUMS = "SHA256SUMS"


def run(work: Path, assets: Path, _minutes: float, device: torch.device = CPU) -> None:
    """Writes ceiling.json, README.md and SHA256SUMS to assets; the voice speaks on `device`."""
    texts = sentences()[TEST_FROM : TEST_FROM + TEXTS]
    codec = LatentCodec.load(assets / "codec.safetensors", CPU)
    engine = Engine(Joe(device, assets), device)
    teacher = evaluate(teacher_waveforms(work, codec, texts), texts, codec.sample_rate)
    voice = evaluate(voice_waveforms(engine, texts), texts, codec.sample_rate)
    codebooks = codec.codebooks
    conditioner = load_conditioner(assets / "conditioner.safetensors")
    target = load_decoder(assets / "target.safetensors", codebooks)
    drafts = {
        "model": load_decoder(assets / "draft.safetensors", codebooks),
        "feature": load_fed(Chain, assets / "feature.safetensors", target),
        "heads": load_fed(Heads, assets / "heads.safetensors", target),
    }
    training, validation = load_utterances(work / TOKENS, conditioner.config.steps)
    modules = {
        "codec": codec,
        "conditioner": conditioner,
        "target": target,
        "draft": drafts["model"],
        "feature": drafts["feature"],
        "heads": drafts["heads"],
        "durations": load_durations(assets / "durations.safetensors"),
    }
    card = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        hours=f"{sum(u.codes.shape[1] for u in training) / codec.frame_rate / 3600:.1f}",
        utterances=f"{len(training):,}",
        parts=parts_table(assets, modules),
        times=training_times(work),
        quality=quality_table(teacher, voice),
        nats=nats_row(conditioner, target, validation),
        alpha=alpha_table(engine, texts),
        drafts=drafts_table(engine, drafts),
        divergences=divergences(engine, texts[:SAME_SEED_TEXTS]),
    )
    save_ceiling(assets, ceiling(validation, codec.frame_rate))
    (assets / "README.md").write_text(card, encoding="utf-8")
    write_sums(assets)


def teacher_waveforms(work: Path, codec: LatentCodec, texts: Sequence[str]) -> list[np.ndarray]:
    """What the teacher says, through its own vocoder: the best that the voice could do."""
    phonemize, teacher = Phonemizer(), Teacher(teacher_without_vocoder(work), seed=1)
    waveforms = []
    for text in tqdm(texts, "teacher"):
        latents, _ = teacher(with_blanks(torch.tensor(phonemize(text).ids)))
        with torch.inference_mode():
            waveforms.append(codec.vocoder.stream().push(torch.tensor(latents), True).numpy())
    return waveforms


def voice_waveforms(engine: Engine, texts: Sequence[str]) -> list[np.ndarray]:
    """What the voice says by default: speculative, lossless, temperature 0.8."""
    return [
        np.concatenate(
            [
                event.samples
                for event in engine.synthesize(text, Settings(seed=seed))
                if isinstance(event, AudioReady)
            ]
        )
        for seed, text in enumerate(tqdm(texts, "voice"))
    ]


def ceiling(utterances: Sequence[Utterance], frame_rate: float) -> list[Recorded]:
    """Sentences for listening tests, as the codec has them: the first ones of a handy length."""
    shortest, longest = CEILING_SECONDS
    handy = [u for u in utterances if shortest <= u.codes.shape[1] / frame_rate <= longest]
    return [Recorded(u.text, tuple(map(tuple, u.codes.tolist()))) for u in handy[:CEILING_TEXTS]]


def divergences(engine: Engine, texts: Sequence[str]) -> str:
    """Whether the same-seed rule says token for token what the baseline says."""
    total, first = 0, []
    for seed, text in enumerate(tqdm(texts, "same seed")):
        alone, drafted = (
            engine.trace(text, Settings(rule="same-seed", gamma=gamma, seed=seed))
            for gamma in (0, Settings.gamma)
        )
        tokens = len(alone.rounds)  # the baseline's rounds emit one each
        total += tokens
        mismatch = first_difference(alone, drafted)
        if mismatch is not None:
            first.append(f"sentence {seed} at token {mismatch} of {tokens}")
    result = f"{len(first)} of {len(texts)} sentences ({total:,} tokens) diverge"
    return f"{result}: {'; '.join(first)}." if first else f"{result}."


def quality_table(teacher: Quality, voice: Quality) -> str:
    low, high = interval(voice, teacher)
    rows = [
        f"| {name} | {q.wer:.1%} | {q.ovrl:.2f} | {q.sig:.2f} | {q.p808:.2f} |"
        for name, q in (("teacher", teacher), ("this voice", voice))
    ]
    excess = (voice.wer - teacher.wer) * 100
    return "\n".join(
        (
            "| | word error rate | DNSMOS overall | signal | P.808 |",
            "|---|---|---|---|---|",
            *rows,
            "",
            f"The voice's excess over the teacher: {excess:+.1f} points"
            f" (95% bootstrap interval {low * 100:+.1f} to {high * 100:+.1f}).",
        )
    )


@torch.inference_mode()
def nats_row(conditioner: Conditioner, target: Decoder, utterances: list[Utterance]) -> str:
    """Mean negative log-likelihood of each codebook's tokens under the target."""
    total, frames = torch.zeros(target.config.num_codebooks), 0
    for batch in batches(utterances):
        logits = target(batch.codes, *conditioner(batch.alignment))[batch.valid]
        codes = batch.codes.transpose(1, 2)[batch.valid]
        nats = F.cross_entropy(logits.flatten(0, 1), codes.flatten(), reduction="none")
        total += nats.view(codes.shape).sum(0)
        frames += len(codes)
    return ", ".join(f"{value:.2f}" for value in (total / frames).tolist())


def alpha_table(engine: Engine, texts: Sequence[str]) -> str:
    """α of each codebook and of all tokens, along what the voice says at several temperatures."""
    codebooks = range(engine.voice.codec.num_codebooks)
    lines = [
        "| temperature | " + " | ".join(f"codebook {q}" for q in codebooks) + " | all |",
        "|---|" + "---|" * (len(codebooks) + 1),
    ]
    for temperature in TEMPERATURES:
        visited: list[list[float]] = [[] for _ in codebooks]
        for seed, text in enumerate(tqdm(texts, f"α at {temperature}")):
            trace = engine.trace(text, Settings(Sampling(temperature), seed=seed))
            for round_, row in ((r, row) for r in trace.rounds for row in range(r.tested)):
                alpha = accept_probability(round_.target_probs[row], round_.draft_probs[row])
                visited[(round_.position + row) % len(visited)].append(alpha)
        cells = [f"{fmean(alphas):.3f}" for alphas in [*visited, chain(*visited)]]
        lines.append(f"| {temperature} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def drafts_table(engine: Engine, modules: Mapping[str, torch.nn.Module]) -> str:
    """What each draft yields and costs here; modules: those drafts that have parameters."""
    lines = [
        "| draft | parameters | α | c | best γ | predicted speed-up |",
        "|---|---|---|---|---|---|",
    ]
    for name in engine.voice.drafts:
        # A computer is not always equally fast: the middle one of three.
        outlooks = [measure_outlook(engine, Settings(draft=name)) for _ in range(3)]
        o = sorted(outlooks, key=lambda outlook: outlook.speedup)[1]
        size = f"{parameters(modules[name]) / 1e6:.2f} M" if name in modules else "none"
        cells = size, f"{o.alpha:.3f}", f"{o.costs.c:.2f}", o.gamma, f"{o.speedup:.2f}"
        lines.append(f"| {name} | " + " | ".join(map(str, cells)) + " |")
        if name == engine.voice.drafts[0]:
            v = ", ".join(f"{value:.2f}" for value in o.costs.v)
            costs = f"v(1) to v({len(o.costs.v)}): {v}; threads: {torch.get_num_threads()}."
    return "\n".join((*lines, "", costs))


def training_times(work: Path) -> str:
    """Minutes of optimisation that each checkpoint has taken."""
    first, last = ("codec", "conditioner", "shallow", "target"), ("feature", "heads", "durations")
    paths = [work / f"{name}.pt" for name in first]
    paths += [*sorted(work.glob("draft-*.pt")), *(work / f"{name}.pt" for name in last)]
    times = (
        f"{path.stem} {torch.load(path, map_location=CPU)['spent'] / 60:.0f}"
        for path in paths
        if path.exists()
    )
    return ", ".join(times) or "not recorded"


def parts_table(assets: Path, modules: Mapping[str, torch.nn.Module]) -> str:
    rows = []
    for name, module in modules.items():
        size = (assets / f"{name}.safetensors").stat().st_size
        rows.append(
            f"| {name}.safetensors | {parameters(module) / 1e6:.2f} M | {size / 1e6:.1f} MB |"
        )
    return "\n".join(("| file | parameters | size |", "|---|---|---|", *rows))


def parameters(module: torch.nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def write_sums(assets: Path) -> None:
    """A checksum of every file that the voice loads, as `sha256sum` writes them."""
    files = sorted([*assets.glob("*.json"), *assets.glob("*.safetensors")])
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (assets / SUMS).write_text("".join(lines), encoding="utf-8")
