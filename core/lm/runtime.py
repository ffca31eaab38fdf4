"""The decoder as decoding uses it: prepared weights, a cache that rolls back, few calls.

Same mathematics as `Decoder.forward` (a test compares their logits), arranged for passes
of 1 to G + 1 tokens: normalisation weights are folded into the layers behind them, every
linear part of the input becomes rows of one table, and keys and values sit in a buffer
whose length is all that a rollback changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from core.lm.decoder import Decoder, rope_table
from core.lm.linear import Linear, prepare_linear


@dataclass(frozen=True)
class PreparedBlock:
    """One layer's weights, normalisation folded in."""

    qkv: Linear
    out: Linear
    gate_up: Linear
    down: Linear


class DecoderRuntime:
    """Prepared weights of one decoder. Holds no state: any number of sentences may share it."""

    def __init__(self, decoder: Decoder, device: torch.device):
        self.config = decoder.config
        self.device = device
        with torch.inference_mode():
            self.blocks = [_prepare_block(block, device) for block in decoder.blocks]
            head = decoder.head_weight() * decoder.norm.weight
            self.heads = [
                prepare_linear(weight, device, bias)
                for weight, bias in zip(head, decoder.head_bias.detach(), strict=True)
            ]
            self.table = _input_table(decoder).to(device)
            self.cond = decoder.cond.weight.detach().to(device)
            self.guess = decoder.geometry.weight[:, 2 * self.config.code_dim :].detach().to(device)
            self.phase = decoder.phase.weight.detach().to(device)

    @torch.inference_mode()
    def start(self, cond: Tensor, guess: Tensor, slack: int) -> "DecoderState":
        """A sentence of T frames: cond [T, cond_width], guess [T, code_dim].

        slack: how many tokens beyond the sentence's last a pass may touch.
        """
        frames = F.linear(cond, self.cond) + F.linear(guess, self.guess)
        base = (frames[:, None] + self.phase).flatten(0, 1)
        return DecoderState(self, F.pad(base, (0, 0, 0, slack)))


def _prepare_block(block: torch.nn.Module, device: torch.device) -> PreparedBlock:
    return PreparedBlock(
        prepare_linear(block.qkv.weight * block.norm_attention.weight, device),
        prepare_linear(block.out.weight, device),
        prepare_linear(block.gate_up.weight * block.norm_mlp.weight, device),
        prepare_linear(block.down.weight, device),
    )


def _input_table(decoder: Decoder) -> Tensor:
    """Rows that sum to a token's input: [previous token | this frame | last frame | zero].

    The previous token's embedding has Q V + 1 rows (the last one begins a sentence); the
    other two hold each entry's codebook vector through the geometry map, Q V rows each.
    """
    c = decoder.config
    vectors = decoder.vectors.flatten(0, 1)
    this_frame, last_frame = decoder.geometry.weight[:, : 2 * c.code_dim].split(c.code_dim, 1)
    zero = torch.zeros(1, c.width)
    return torch.cat(
        (decoder.embed.weight, vectors @ this_frame.T, vectors @ last_frame.T, zero)
    ).detach()


class DecoderState:
    """One sentence being decoded: the tokens taken in so far and their keys and values.

    `length` counts positions taken in; position n takes in token n - 1 (position 0 the
    beginning) and answers with the logits of token n. Rolling back only lowers `length`:
    stale entries are overwritten before anything can attend to them.
    """

    def __init__(self, runtime: DecoderRuntime, base: Tensor):
        self.runtime = runtime
        self.length = 0
        self.tokens: list[int] = []
        self._base = base
        c = runtime.config
        head = c.width // c.heads
        capacity = base.shape[0]
        self._rope = rope_table(capacity, head)[:, None, None].to(base.device)
        self._cache = torch.zeros(c.layers, 2, c.heads, capacity, head, device=base.device)

    def rollback(self, length: int) -> None:
        """Forget everything from position `length` on."""
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot roll back from {self.length} to {length}")
        self.length = length
        del self.tokens[max(0, length - 1) :]

    @torch.inference_mode()
    def forward(self, tokens: Sequence[int]) -> Tensor:
        """Take in the next positions; logits [m, V] of the tokens that follow each.

        tokens [m] are codebook entries 0..V-1; at position 0, `tokens` leaves the beginning
        out: its m - 1 tokens make m positions.
        """
        begin = self.length == 0
        m = len(tokens) + begin
        start, stop = self.length, self.length + m
        if m == 0 or stop > self._base.shape[0]:
            raise ValueError(f"{m} positions from {start} do not fit {self._base.shape[0]}")
        self.tokens.extend(tokens)
        x = self._base[start:stop] + self._inputs(start, stop)
        first = max(0, start - self.runtime.config.window + 1)
        mask = _band(m, stop - first, self.runtime.config.window, x.device) if m > 1 else None
        rope = self._rope[start:stop]
        for block, cache in zip(self.runtime.blocks, self._cache, strict=True):
            x = _block(block, x, rope, cache, (first, start, stop), mask)
        self.length = stop
        return self._logits(F.rms_norm(x, x.shape[-1:], eps=1e-6), start)

    def _inputs(self, start: int, stop: int) -> Tensor:
        """Sum of the table's rows for positions start..stop-1; [m, width]."""
        c = self.runtime.config
        Q, entries = c.num_codebooks, c.num_codebooks * c.codebook_size
        this_frame, last_frame, zero = entries + 1, 2 * entries + 1, 3 * entries + 1
        rows = []
        for n in range(start, stop):
            frame = n - n % Q
            before = max(0, frame - Q)
            near = [self.tokens[i] + (i % Q) * c.codebook_size for i in range(before, n)]
            row = [near[-1] if near else entries]
            row += [this_frame + token for token in near[frame - before :]]
            row += [last_frame + token for token in near[: frame - before]]
            rows.append(row + [zero] * (2 * Q - len(row)))
        return self.runtime.table[torch.tensor(rows, device=self._base.device)].sum(1)

    def _logits(self, x: Tensor, start: int) -> Tensor:
        """Each row through the head of its own codebook."""
        Q = self.runtime.config.num_codebooks
        logits = torch.empty(len(x), self.runtime.config.codebook_size, device=x.device)
        for row in range(min(Q, len(x))):
            logits[row::Q] = self.runtime.heads[(start + row) % Q](x[row::Q])
        return logits


def _band(m: int, width: int, window: int, device: torch.device) -> Tensor:
    """Which of the last `width` positions each of the last m may attend to; bool [m, width]."""
    distance = torch.arange(width - m, width)[:, None] - torch.arange(width)
    return ((distance >= 0) & (distance < window)).to(device)


def _block(
    block: PreparedBlock,
    x: Tensor,
    rope: Tensor,
    cache: Tensor,
    span: tuple[int, int, int],
    mask: Tensor | None,
) -> Tensor:
    """One layer over m rows; x [m, width], cache [2, heads, capacity, head]."""
    first, start, stop = span
    m, width = x.shape
    _, heads, _, head = cache.shape
    qkv = block.qkv(F.rms_norm(x, (width,), eps=1e-6)).float().view(m, 3, heads, head)
    torch.view_as_complex(qkv[:, :2].unflatten(-1, (-1, 2))).mul_(rope)
    cache[:, :, start:stop] = qkv[:, 1:].permute(1, 2, 0, 3)
    query = qkv[:, 0].transpose(0, 1)[None]
    key, value = cache[:, None, :, first:stop]
    mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    x = x + block.out(mixed[0].transpose(0, 1).reshape(m, width))
    gate, up = block.gate_up(F.rms_norm(x, (width,), eps=1e-6)).chunk(2, -1)
    return x + block.down(F.silu(gate) * up)
