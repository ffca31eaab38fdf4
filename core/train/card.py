"""Stage `card`: measure the finished voice and write its model card and checksums."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm import tqdm

from core.ceiling import Recorded, save_ceiling
from core.codec.latent import LatentCodec
from core.engine import AudioReady, Engine, Settings
from core.lm.conditioner import Conditioner, load_conditioner, with_blanks
from core.lm.decoder import Decoder, load_decoder
from core.lm.durations import load_durations
from core.text.phonemize import Phonemizer
from core.trace import first_difference
from core.train.data import TEST_FROM, Teacher, sentences, teacher_without_vocoder
from core.train.dataset import TOKENS, Utterance, batches, load_utterances
from core.train.draft import overlap
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
    conditioner = load_conditioner(assets / "conditioner.safetensors")
    target = load_decoder(assets / "target.safetensors", codec.codebooks)
    draft = load_decoder(assets / "draft.safetensors", codec.codebooks)
    durations = load_durations(assets / "durations.safetensors")
    training, validation = load_utterances(work / TOKENS, conditioner.config.steps)
    modules = {
        "codec": codec,
        "conditioner": conditioner,
        "target": target,
        "draft": draft,
        "durations": durations,
    }
    card = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        hours=f"{sum(u.codes.shape[1] for u in training) / codec.frame_rate / 3600:.1f}",
        utterances=f"{len(training):,}",
        parts=parts_table(assets, modules),
        times=training_times(work),
        quality=quality_table(teacher, voice),
        nats=nats_row(conditioner, target, validation),
        alpha=alpha_table(conditioner, target, draft, validation),
        trades=trade_table(work),
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


def alpha_table(
    conditioner: Conditioner, target: Decoder, draft: Decoder, utterances: list[Utterance]
) -> str:
    """α of each codebook and their mean, at several temperatures."""
    codebooks = range(target.config.num_codebooks)
    lines = [
        "| temperature | " + " | ".join(f"codebook {q}" for q in codebooks) + " | mean |",
        "|---|" + "---|" * (len(codebooks) + 1),
    ]
    for temperature in TEMPERATURES:
        alpha = mean_overlap(conditioner, target, draft, utterances, temperature)
        cells = [f"{value:.3f}" for value in [*alpha.tolist(), float(alpha.mean())]]
        lines.append(f"| {temperature} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


@torch.inference_mode()
def mean_overlap(
    conditioner: Conditioner,
    target: Decoder,
    draft: Decoder,
    utterances: list[Utterance],
    temperature: float,
) -> Tensor:
    """E Σ min(p, q), teacher-forced; [Q]."""
    total, frames = torch.zeros(target.config.num_codebooks), 0
    for batch in batches(utterances):
        heard = conditioner(batch.alignment)
        p, q = target(batch.codes, *heard), draft(batch.codes, *heard)
        total += overlap(p[batch.valid], q[batch.valid], temperature).sum(0)
        frames += int(batch.valid.sum())
    return total / frames


def trade_table(work: Path) -> str:
    """The drafts that the stage `draft` trained and weighed."""
    path = work / "draft.json"
    if not path.exists():
        return "Not measured: the stage `draft` did not make this draft."
    table = json.loads(path.read_text(encoding="utf-8"))
    lines = [
        "| draft | parameters | α | c | best γ | predicted speed-up |",
        "|---|---|---|---|---|---|",
    ]
    for d in table["drafts"]:
        name = f"**{d['name']}**" if d["name"] == table["kept"] else d["name"]
        size, alpha, c = f"{d['parameters'] / 1e6:.2f} M", f"{d['alpha']:.3f}", f"{d['c']:.2f}"
        lines.append(f"| {name} | {size} | {alpha} | {c} | {d['gamma']} | {d['speedup']:.2f} |")
    v = ", ".join(f"{value:.2f}" for value in table["v"])
    return "\n".join(
        (*lines, "", f"v(1) to v({len(table['v'])}): {v}; threads: {table['threads']}.")
    )


def training_times(work: Path) -> str:
    """Minutes of optimisation that each checkpoint has taken."""
    paths = [work / f"{name}.pt" for name in ("codec", "conditioner", "shallow", "target")]
    paths += [*sorted(work.glob("draft-*.pt")), work / "durations.pt"]
    times = (
        f"{path.stem} {torch.load(path, map_location=CPU)['spent'] / 60:.0f}"
        for path in paths
        if path.exists()
    )
    return ", ".join(times) or "not recorded"


def parts_table(assets: Path, modules: Mapping[str, torch.nn.Module]) -> str:
    rows = []
    for name, module in modules.items():
        count = sum(p.numel() for p in module.parameters())
        size = (assets / f"{name}.safetensors").stat().st_size
        rows.append(f"| {name}.safetensors | {count / 1e6:.2f} M | {size / 1e6:.1f} MB |")
    return "\n".join(("| file | parameters | size |", "|---|---|---|", *rows))


def write_sums(assets: Path) -> None:
    """A checksum of every file that the voice loads, as `sha256sum` writes them."""
    files = sorted([*assets.glob("*.json"), *assets.glob("*.safetensors")])
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (assets / SUMS).write_text("".join(lines), encoding="utf-8")
