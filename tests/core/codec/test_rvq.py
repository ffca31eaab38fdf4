"""Quantiser and frame basis."""

import torch

from core.codec.rvq import FrameBasis, ResidualQuantizer, nearest


def quantizer(num_codebooks: int = 3, size: int = 16, dim: int = 4) -> ResidualQuantizer:
    """Random codebooks, each finer than the one before."""
    result = ResidualQuantizer(num_codebooks, size, dim).requires_grad_(False)
    rng = torch.Generator().manual_seed(1)
    for q, codebook in enumerate(result.codebooks):
        codebook.normal_(std=0.2**q, generator=rng)
    return result


def test_what_one_codebook_holds_survives_the_round_trip():
    rvq = quantizer(num_codebooks=1)
    codes = torch.arange(16)[None]
    assert torch.equal(rvq.encode(rvq.decode(codes)), codes)


def test_every_further_codebook_brings_the_frames_closer():
    rvq = quantizer()
    frames = torch.randn(200, 4, generator=torch.Generator().manual_seed(2))
    codes = rvq.encode(frames)
    errors = []
    for used in range(4):
        partial = ResidualQuantizer(used, 16, 4)
        partial.codebooks.data = rvq.codebooks[:used]
        errors.append((partial.decode(codes[:used]) - frames).pow(2).mean())
    assert codes.shape == (3, 200)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0] / 4


def test_nearest_is_the_nearest():
    rng = torch.Generator().manual_seed(3)
    points, codebook = torch.randn(50, 6, generator=rng), torch.randn(9, 6, generator=rng)
    assert torch.equal(nearest(points, codebook), torch.cdist(points, codebook).argmin(1))


def test_no_frames():
    rvq = quantizer()
    assert rvq.decode(rvq.encode(torch.empty(0, 4))).shape == (0, 4)


def test_the_basis_undoes_itself():
    basis = FrameBasis(dim=3, latents=2, latent_dim=4).requires_grad_(False)
    rng = torch.Generator().manual_seed(4)
    rows, _ = torch.linalg.qr(torch.randn(8, 3, generator=rng))
    basis.basis.copy_(rows.T * 2.5)
    basis.mean.normal_(generator=rng)
    frames = torch.randn(5, 3, generator=rng)
    latents = basis.synthesise(frames)
    assert latents.shape == (10, 4)
    torch.testing.assert_close(basis.analyse(latents), frames)
