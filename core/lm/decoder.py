"""The codec language model: a Llama-style decoder over flattened RVQ tokens.

Token n belongs to frame n // Q and codebook n % Q. Tokens are not arbitrary names: each
stands for a vector, and the model is told so on both sides. The input carries the sum of
this frame's codebook vectors so far, the whole vector of the previous frame and the
conditioner's hint at this one; the output weight of an entry is a free vector plus a linear
map of the entry's own codebook vector.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.checkpoint import load_checkpoint


@dataclass(frozen=True)
class DecoderConfig:
    """Sizes; `window` is how many tokens back a token can attend (itself included)."""

    layers: int
    width: int
    heads: int
    mlp: int
    cond_width: int = 384
    window: int = 128
    num_codebooks: int = 4
    codebook_size: int = 512
    code_dim: int = 64


class Block(nn.Module):
    """RMSNorm, rotary attention over a sliding window, RMSNorm, SwiGLU."""

    def __init__(self, config: DecoderConfig):
        super().__init__()
        width = config.width
        self.heads = config.heads
        self.norm_attention = nn.RMSNorm(width, eps=1e-6)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.norm_mlp = nn.RMSNorm(width, eps=1e-6)
        self.gate_up = nn.Linear(width, 2 * config.mlp, bias=False)
        self.down = nn.Linear(config.mlp, width, bias=False)

    def forward(self, x: Tensor, rope: Tensor, mask: Tensor) -> Tensor:
        B, S, W = x.shape
        qkv = self.qkv(self.norm_attention(x)).view(B, S, 3, self.heads, W // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(rotate(q, rope), rotate(k, rope), v, attn_mask=mask)
        x = x + self.out(y.transpose(1, 2).reshape(B, S, W))
        gate, up = self.gate_up(self.norm_mlp(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


def rotate(x: Tensor, rope: Tensor) -> Tensor:
    """Rotary position embedding (arXiv 2104.09864), neighbouring pairs; x [..., S, head]."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * rope).flatten(-2)


def rope_table(length: int, head: int) -> Tensor:
    """Rotations as unit complex numbers, [length, head / 2]."""
    angle = torch.outer(torch.arange(length), 10000.0 ** -(torch.arange(0, head, 2) / head))
    return torch.polar(torch.ones_like(angle), angle)


class Decoder(nn.Module):
    """Logits of every next token of whole sentences, for training."""

    def __init__(self, config: DecoderConfig, codebooks: Tensor):
        """codebooks: [Q, V, code_dim], of the codec the tokens come from."""
        super().__init__()
        c = self.config = config
        Q, V = c.num_codebooks, c.codebook_size
        scale = codebooks[0].pow(2).mean().sqrt()
        spread = codebooks.pow(2).mean((1, 2), keepdim=True).sqrt()
        self.register_buffer("vectors", codebooks / scale, persistent=False)
        self.register_buffer("directions", codebooks / spread, persistent=False)
        self.embed = nn.Embedding(Q * V + 1, c.width)
        self.phase = nn.Embedding(Q, c.width)
        self.cond = nn.Linear(c.cond_width, c.width, bias=False)
        self.geometry = nn.Linear(3 * c.code_dim, c.width, bias=False)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.norm = nn.RMSNorm(c.width, eps=1e-6)
        self.head = nn.Parameter(torch.empty(Q, V, c.width))
        self.head_geometry = nn.Parameter(torch.empty(Q, c.code_dim, c.width))
        self.head_bias = nn.Parameter(torch.zeros(Q, V))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Normal, 0.02; residual outputs smaller with depth, so that the stream keeps its size."""
        for name, p in self.named_parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)
            if name.endswith(("out.weight", "down.weight")):
                p.data /= math.sqrt(2 * self.config.layers)
        # 64 directions add up in each output weight; start with a nearly even distribution.
        self.head_geometry.data /= math.sqrt(self.config.code_dim)

    def head_weight(self) -> Tensor:
        """Output weights with the codebooks' geometry folded in; [Q, V, width]."""
        return self.head + self.directions @ self.head_geometry

    def latent(self, codes: Tensor) -> Tensor:
        """Sum of codebook vectors of whole frames, normalised; codes [B, Q, T] -> [B, T, dim]."""
        return sum(self.vectors[q][codes[:, q]] for q in range(self.config.num_codebooks))

    def known_inputs(self, cond: Tensor, hint: Tensor) -> Tensor:
        """The part of `inputs` that is there before any token; [B, T * Q, width]."""
        hinted = F.linear(hint, self.geometry.weight[:, 2 * self.config.code_dim :])
        return ((self.cond(cond) + hinted)[:, :, None] + self.phase.weight).flatten(1, 2)

    def inputs(self, codes: Tensor, cond: Tensor, hint: Tensor) -> Tensor:
        """What the first block reads at each position, [B, T * Q, width]; codes [B, Q, T]."""
        B, Q, T = codes.shape
        offset = torch.arange(Q, device=codes.device)[:, None] * self.config.codebook_size
        tokens = (codes + offset).transpose(1, 2).reshape(B, T * Q)
        begin = torch.full_like(tokens[:, :1], Q * self.config.codebook_size)
        previous = torch.cat((begin, tokens[:, :-1]), 1)
        vectors = torch.stack([self.vectors[q][codes[:, q]] for q in range(Q)], 2)
        total = vectors.cumsum(2)
        so_far = F.pad(total[:, :, :-1], (0, 0, 1, 0))
        last = F.pad(total[:, :-1, -1], (0, 0, 1, 0))
        context = torch.stack((last, hint), 2).reshape(B, T, 1, -1).expand(-1, -1, Q, -1)
        geometry = torch.cat((so_far, context), -1)
        x = self.embed(previous).view(B, T, Q, -1) + self.phase.weight
        x = x + self.cond(cond)[:, :, None] + self.geometry(geometry)
        return x.view(B, T * Q, -1)

    def forward(self, codes: Tensor, cond: Tensor, hint: Tensor) -> Tensor:
        """Teacher-forced logits [B, T, Q, V] of codes [B, Q, T], given the conditioner's output."""
        B, Q, T = codes.shape
        x = self.inputs(codes, cond, hint)
        rope = rope_table(T * Q, self.config.width // self.config.heads).to(codes.device)
        place = torch.arange(T * Q, device=codes.device)
        distance = place[:, None] - place
        mask = (distance >= 0) & (distance < self.config.window)
        for block in self.blocks:
            x = block(x, rope, mask)
        x = self.norm(x).view(B, T, Q, -1)
        return torch.einsum("btqd,qvd->btqv", x, self.head_weight()) + self.head_bias


def load_decoder(path: Path, codebooks: Tensor) -> Decoder:
    """From a checkpoint, over these codebooks; ForespeakError if it is missing or damaged."""
    return load_checkpoint(path, lambda config: Decoder(DecoderConfig(**config), codebooks))
