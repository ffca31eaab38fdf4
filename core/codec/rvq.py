"""Residual vector quantisation: each codebook encodes what the ones before it left over."""

import torch
from torch import Tensor, nn


class ResidualQuantizer(nn.Module):
    """Codebooks [Q, V, D]; frames [T, D] are the sum of one entry of each."""

    def __init__(self, num_codebooks: int, codebook_size: int, dim: int):
        super().__init__()
        self.codebooks = nn.Parameter(torch.zeros(num_codebooks, codebook_size, dim))

    def encode(self, frames: Tensor) -> Tensor:
        """Frames [T, D] to codes [Q, T], greedily: the nearest entry of each codebook in turn."""
        codes = []
        for codebook in self.codebooks:
            code = nearest(frames, codebook)
            frames = frames - codebook[code]
            codes.append(code)
        return torch.stack(codes)

    def decode(self, codes: Tensor) -> Tensor:
        """Codes [Q, T] to frames [T, D]."""
        index = torch.arange(len(codes), device=codes.device)[:, None]
        return self.codebooks[index, codes].sum(0)


def nearest(points: Tensor, codebook: Tensor) -> Tensor:
    """Index [N] of the entry of `codebook` [V, D] next to each of `points` [N, D]."""
    with torch.no_grad():
        half_squares = codebook.pow(2).sum(1) / 2
        return (half_squares - points @ codebook.T).argmin(1)


class FrameBasis(nn.Module):
    """Frames of D coordinates to and from `latents` consecutive vocoder latents each.

    The latents of a frame, end to end, are mean + coordinates @ basis: a truncated principal
    component analysis whose rows [D, latents * latent_dim] are orthogonal and carry its scale.
    """

    def __init__(self, dim: int, latents: int, latent_dim: int):
        super().__init__()
        self.mean = nn.Parameter(torch.zeros(latents * latent_dim))
        self.basis = nn.Parameter(torch.zeros(dim, latents * latent_dim))
        self.latents = latents

    def analyse(self, latents: Tensor) -> Tensor:
        """Latents [latents * T, latent_dim] to frames [T, D]."""
        stacked = latents.reshape(-1, len(self.mean)) - self.mean
        return stacked @ (self.basis / self.basis.pow(2).sum(1, keepdim=True)).T

    def synthesise(self, frames: Tensor) -> Tensor:
        """Frames [T, D] to latents [latents * T, latent_dim]."""
        stacked = torch.addmm(self.mean, frames, self.basis)
        return stacked.unflatten(1, (self.latents, -1)).flatten(0, 1)
