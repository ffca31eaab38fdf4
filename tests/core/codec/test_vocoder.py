"""The piecewise vocoder against the textbook one, and the real weights against onnxruntime."""

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from core.codec.latent import LatentCodec
from core.codec.streaming import Conv, Upsample
from core.codec.vocoder import LAST_SLOPE, SLOPE, Vocoder
from core.voices.base import ASSETS
from tests.core.codec.tiny import CONFIG, tiny_codec

REFERENCE = Path(__file__).parent / "vocoder_reference.npz"  # made by onnxruntime


def conv(layer: Conv, x: Tensor) -> Tensor:
    """[C, T], with torch's own convolution."""
    weight = layer.taps.permute(2, 1, 0)
    return F.conv1d(x, weight, layer.bias, padding="same", dilation=layer.dilation)


def upsample(layer: Upsample, x: Tensor) -> Tensor:
    """[C, T], with torch's own transposed convolution."""
    stride = layer.stride
    before, now = layer.blocks.taps.unflatten(2, (stride, -1))
    weight = torch.cat((now, before), 1).transpose(1, 2)
    bias = layer.blocks.bias.view(stride, -1)[0]
    return F.conv_transpose1d(x, weight, bias, stride, padding=stride // 2)


def textbook(vocoder: Vocoder, latents: Tensor) -> Tensor:
    """HiFi-GAN over the whole utterance: [S, latent_dim] to [samples]."""
    x = conv(vocoder.first, latents.T)
    for stage in vocoder.stages:
        x = upsample(stage.up, F.leaky_relu(x, SLOPE))
        branches = []
        for branch in stage.branches:
            y = x
            for layer in branch:
                y = y + conv(layer, F.leaky_relu(y, SLOPE))
            branches.append(y)
        x = torch.stack(branches).mean(0)
    return torch.tanh(conv(vocoder.last, F.leaky_relu(x, LAST_SLOPE)))[0]


def tiny_vocoder() -> Vocoder:
    """Random; an upsampling bias is one for all steps of a block, as in the real weights."""
    vocoder = tiny_codec().vocoder
    for stage in vocoder.stages:
        bias = stage.up.blocks.bias.view(stage.up.stride, -1)
        bias.copy_(bias[:1].expand_as(bias).clone())
    return vocoder


def pieces(vocoder: Vocoder, latents: Tensor, size: int) -> Tensor:
    stream = vocoder.stream()
    done = [stream.push(piece, last=False) for piece in latents.split(size)]
    return torch.cat([*done, stream.push(latents[:0], last=True)])


@pytest.mark.parametrize("count", [1, 2, 3, 30])
@pytest.mark.parametrize("size", [1, 3, 100])
def test_pieces_equal_the_textbook(count, size):
    vocoder = tiny_vocoder()
    rng = torch.Generator().manual_seed(count)
    latents = torch.randn(count, CONFIG.vocoder.latent_dim, generator=rng)
    torch.testing.assert_close(pieces(vocoder, latents, size), textbook(vocoder, latents))


def test_the_first_samples_come_as_soon_as_their_context_is_there():
    vocoder = tiny_vocoder()
    latents = torch.randn(30, CONFIG.vocoder.latent_dim)
    stream = vocoder.stream()
    ready = len(stream.push(latents, last=False))
    assert 0 < ready < 30 * 8
    # The last sample that is out does not depend on latents to come, the next one does.
    longer = torch.cat((latents, torch.full((10, CONFIG.vocoder.latent_dim), 9.0)))
    zeros = torch.cat((latents, torch.zeros(10, CONFIG.vocoder.latent_dim)))
    changed = (textbook(vocoder, longer) != textbook(vocoder, zeros)).nonzero()[0]
    assert changed.item() == ready


@pytest.mark.voice
def test_the_real_weights_equal_onnxruntime():
    codec = LatentCodec.load(ASSETS / "joe" / "codec.safetensors", torch.device("cpu"))
    reference = np.load(REFERENCE)
    samples = pieces(codec.vocoder, torch.tensor(reference["latents"]).float(), size=4)
    begin = int(reference["begin"])
    expected = torch.tensor(reference["samples"])
    got = samples[begin : begin + len(expected)]
    torch.testing.assert_close(got, expected, atol=2e-3, rtol=0)  # the weights are float16
    assert expected.abs().max() > 0.05
