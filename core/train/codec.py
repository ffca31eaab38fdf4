"""Stage `codec`: fit the latent codec to the teacher's latents, encode them all to tokens.

A principal component analysis shortens each frame (four stacked latents) to 64 coordinates.
Then encoder, codebooks and post-net are trained together, as in VQ-VAE (arXiv 1711.00937):
encoder and post-net see the neighbouring frames, so the codes need not say what those tell.
Half of the error is measured by its effect on the vocoder's spectrum (`spectral_metric`).
The post-net and the teacher's vocoder become the voice's decoder; the encoder stays here.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import librosa
import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from tqdm import tqdm

from core.checkpoint import save_checkpoint
from core.codec.latent import ContextConfig, ContextNet, LatentCodec, LatentCodecConfig
from core.codec.rvq import FrameBasis, ResidualQuantizer, nearest
from core.codec.streaming import Conv
from core.codec.vocoder import Vocoder, VocoderConfig
from core.train.data import load_latents, teacher_graph
from core.train.dataset import VALIDATION, by_length
from core.train.loop import Losses, Trainer

CONFIG = LatentCodecConfig()
ENCODER = ContextConfig(past=4, ahead=4)
ENCODER_FILE = "encoder.safetensors"  # in the work folder: only training needs it
BATCH_FRAMES = 3000
COMMITMENT = 0.25
SAMPLE_FRAMES = 40_000  # for the principal components and the first codebooks
REVIVE_EVERY = 50  # steps, in the first REVIVE_UNTIL of the time
REVIVE_UNTIL = 0.6
REVIVE_UTTERANCES = 200  # whose frames show which entries are unused
SPECTRAL = 0.5  # share of the spectral metric in the error
PROBED = 6  # utterances from which the metric is estimated
PROBE = 0.2  # how far, in standard deviations


@dataclass(frozen=True)
class FrameBatch:
    """frames [B, T, D]; valid [B, T] marks those that are not padding."""

    frames: Tensor
    valid: Tensor


class Autoencoder(nn.Module):
    """Encoder, codebooks and post-net over frames of `dim` coordinates."""

    def __init__(self, config: LatentCodecConfig):
        super().__init__()
        # The error of a difference d in a frame is the square of d @ root.
        self.register_buffer("root", torch.eye(config.dim))
        self.encoder = ContextNet(config.dim, ENCODER)
        self.quantizer = ResidualQuantizer(config.num_codebooks, config.codebook_size, config.dim)
        self.post = ContextNet(config.dim, config.post)

    def losses(self, batch: FrameBatch) -> Losses:
        """Squared errors per frame; gradients pass the quantiser as if it were not there."""
        valid = batch.valid
        aim = self.encoder.whole(batch.frames)
        codes = self.quantizer.encode(aim.flatten(0, 1))
        chosen = self.quantizer.decode(codes).view_as(aim)
        passed = (aim + (chosen - aim).detach()) * valid[..., None]
        error = squared((self.post.whole(passed) - batch.frames) @ self.root, valid)
        codebook = squared(chosen - aim.detach(), valid)
        commitment = squared(aim - chosen.detach(), valid)
        return {"loss": error + codebook + COMMITMENT * commitment, "error": error.detach()}


def squared(difference: Tensor, valid: Tensor) -> Tensor:
    """Mean over the valid frames of the squared length of [B, T, D]."""
    return difference.pow(2).sum(-1)[valid].mean()


def run(work: Path, assets: Path, minutes: float) -> None:
    """Train for `minutes` in all, interrupted runs included; work/latents must be there.

    Writes codec.safetensors to the voice's folder `assets`, encoder.safetensors to `work`.
    """
    sample = torch.cat(list(stacked(work, SAMPLE_FRAMES)))
    basis = fit_basis(sample, CONFIG)
    with torch.no_grad():
        utterances = [
            basis.analyse(padded(latents, CONFIG.latents)) for latents in load_latents(work)
        ]
    vocoder = teacher_vocoder(teacher_graph(), CONFIG.vocoder)
    autoencoder = Autoencoder(CONFIG)
    checkpoint = work / "codec.pt"
    if not checkpoint.exists():
        first_codebooks(autoencoder.quantizer, torch.cat(utterances[VALIDATION:])[:SAMPLE_FRAMES])
        spectral = spectral_metric(utterances[:PROBED], basis, vocoder)
        autoencoder.root.copy_(torch.linalg.cholesky(mixed_metric(utterances, spectral)))
    train(autoencoder, utterances, checkpoint, minutes)
    assemble(autoencoder, basis, vocoder).save(assets / "codec.safetensors")
    save_checkpoint(work / ENCODER_FILE, autoencoder.encoder, asdict(ENCODER))


def train(
    autoencoder: Autoencoder, utterances: Sequence[Tensor], checkpoint: Path, minutes: float
) -> None:
    """Fit to utterances of frames [T, D]; the first ones only validate."""
    training, validation = utterances[VALIDATION:], utterances[:VALIDATION]
    trainer = Trainer(checkpoint, [autoencoder], autoencoder.losses, minutes, lr=1.5e-3)

    def epoch(rng: random.Random) -> Iterator[FrameBatch]:
        for batch in batches(training, rng):
            due = trainer.steps % REVIVE_EVERY == REVIVE_EVERY - 1
            if due and trainer.spent < REVIVE_UNTIL * trainer.seconds:
                chosen = rng.sample(training, min(REVIVE_UTTERANCES, len(training)))
                revive(autoencoder, chosen)
            yield batch

    trainer.run(epoch, list(batches(validation)))
    autoencoder.eval()


def batches(utterances: Sequence[Tensor], rng: random.Random | None = None) -> Iterator[FrameBatch]:
    """One pass in batches of like lengths; shuffled if `rng` is given."""
    for group in by_length(utterances, len, BATCH_FRAMES, rng):
        valid = pad_sequence([torch.ones(len(u), dtype=torch.bool) for u in group], True)
        yield FrameBatch(pad_sequence(group, True), valid)


@torch.no_grad()
def first_codebooks(quantizer: ResidualQuantizer, frames: Tensor, rounds: int = 15) -> None:
    """Set the codebooks by k-means of frames [N, D], then of what each one leaves over."""
    size = quantizer.codebooks.shape[1]
    for codebook in quantizer.codebooks:
        codebook.copy_(frames[torch.randperm(len(frames))[:size]])
        for _ in range(rounds):
            code = nearest(frames, codebook)
            count = torch.bincount(code, minlength=size)[:, None]
            mean = torch.zeros_like(codebook).index_add_(0, code, frames) / count.clamp(min=1)
            codebook.copy_(torch.where(count > 0, mean, codebook))
        frames = frames - codebook[nearest(frames, codebook)]


@torch.no_grad()
def revive(autoencoder: Autoencoder, utterances: Sequence[Tensor]) -> None:
    """Move entries that hardly any frame of `utterances` [T, D] uses to where frames are."""
    rest = torch.cat([autoencoder.encoder.whole(u) for u in utterances])
    for codebook in autoencoder.quantizer.codebooks:
        used = torch.bincount(nearest(rest, codebook), minlength=len(codebook))
        dead = (used < 2).nonzero()[:, 0]
        codebook[dead] = rest[torch.randint(len(rest), (len(dead),))]
        rest = rest - codebook[nearest(rest, codebook)]


def padded(latents: Tensor, multiple: int) -> Tensor:
    """Latents [S, D], the last one repeated up to a multiple of whole frames."""
    missing = -len(latents) % multiple
    return torch.cat((latents, latents[-1:].expand(missing, -1)))


def stacked(work: Path, count: int) -> Iterator[Tensor]:
    """The first `count` or so frames [T, latents * latent_dim] of the stored latents."""
    for latents in load_latents(work):
        frames = padded(latents, CONFIG.latents).reshape(-1, CONFIG.latents * latents.shape[1])
        yield frames
        count -= len(frames)
        if count <= 0:
            return


@torch.no_grad()
def fit_basis(frames: Tensor, config: LatentCodecConfig) -> FrameBasis:
    """Principal components of frames [N, latents * latent_dim], of unit deviation on average."""
    basis = FrameBasis(config.dim, config.latents, config.vocoder.latent_dim)
    basis.mean.copy_(frames.mean(0))
    centred = (frames - basis.mean).double()
    _, vectors = torch.linalg.eigh(centred.T @ centred / len(centred))
    components = vectors[:, -config.dim :].flip(1).T
    scale = (centred @ components.T).std(0).mean()
    basis.basis.copy_(components * scale)
    return basis


def mixed_metric(utterances: Sequence[Tensor], spectral: Tensor) -> Tensor:
    """The plain metric mixed with a spectral one [D, D] that weighs the frames' variance alike."""
    covariance = torch.cov(torch.cat(list(utterances)).T)
    spectral = spectral * covariance.trace() / (spectral @ covariance).trace()
    return SPECTRAL * spectral + (1 - SPECTRAL) * torch.eye(len(spectral))


@torch.inference_mode()
def spectral_metric(utterances: Sequence[Tensor], basis: FrameBasis, vocoder: Vocoder) -> Tensor:
    """How much of the log mel spectrum a difference in a frame changes: [D, D], by probing.

    Each coordinate is moved in all frames of an utterance at once, by signs that are random from
    frame to frame but the same for all coordinates, so that cross terms come out too.
    """
    bank = torch.tensor(
        librosa.filters.mel(sr=CONFIG.sample_rate, n_fft=1024, n_mels=80, fmax=8000)
    )
    total = torch.zeros(CONFIG.dim, CONFIG.dim)
    step = PROBE * torch.cat(list(utterances)).std(0)
    for frames in tqdm(utterances, desc="spectral metric"):
        signs = torch.randint(2, (len(frames), 1)) * 2.0 - 1
        before = log_mel(basis, vocoder, frames, bank)
        moved = [frames + signs * row for row in torch.diag(step)]
        change = torch.stack([log_mel(basis, vocoder, m, bank) - before for m in moved])
        change = change.flatten(1) / step[:, None]
        total += change @ change.T
    return total


def log_mel(basis: FrameBasis, vocoder: Vocoder, frames: Tensor, bank: Tensor) -> Tensor:
    """Log mel spectrum [mels, N] of what the vocoder makes of frames [T, D]."""
    samples = vocoder.stream().push(basis.synthesise(frames), last=True)
    window = torch.hann_window(1024)
    spectrum = torch.stft(samples, 1024, 256, window=window, return_complex=True).abs()
    return (bank @ spectrum).clamp(min=3e-3).log()


def assemble(autoencoder: Autoencoder, basis: FrameBasis, vocoder: Vocoder) -> LatentCodec:
    """The decoder that the voice runs."""
    codec = LatentCodec(CONFIG)
    codec.quantizer.load_state_dict(autoencoder.quantizer.state_dict())
    codec.post.load_state_dict(autoencoder.post.state_dict())
    codec.basis.load_state_dict(basis.state_dict())
    codec.vocoder.load_state_dict(vocoder.state_dict())
    return codec


@torch.no_grad()
def teacher_vocoder(graph: onnx.GraphProto, config: VocoderConfig) -> Vocoder:
    """The vocoder inside a Piper voice."""
    arrays = {item.name: item for item in graph.initializer}

    def weight(name: str) -> Tensor:
        return torch.tensor(numpy_helper.to_array(arrays[f"dec.{name}"]).astype(np.float32))

    vocoder = Vocoder(config)
    set_conv(vocoder.first, weight, "conv_pre")
    vocoder.last.taps.copy_(weight("conv_post.weight").permute(2, 1, 0))
    for i, stage in enumerate(vocoder.stages):
        blocks, stride = stage.up.blocks, stage.up.stride
        # [inputs, outputs, 2 strides]: the later half of an input's reach is the earlier tap.
        now, before = weight(f"ups.{i}.weight").transpose(1, 2).split(stride, dim=1)
        blocks.taps.copy_(torch.stack((before, now)).flatten(2))
        blocks.bias.copy_(weight(f"ups.{i}.bias").repeat(stride))
        for j, branch in enumerate(stage.branches):
            for k, conv in enumerate(branch):
                block = i * len(stage.branches) + j
                set_conv(conv, weight, f"resblocks.{block}.convs.{k}")
    return vocoder


def set_conv(conv: Conv, weight: Callable[[str], Tensor], name: str) -> None:
    """Take over a convolution of the ONNX graph: weight [outputs, inputs, K]."""
    conv.taps.copy_(weight(f"{name}.weight").permute(2, 1, 0))
    conv.bias.copy_(weight(f"{name}.bias"))
