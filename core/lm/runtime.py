"""The decoder as decoding uses it: prepared weights, a cache that rolls back, few calls.

Same mathematics as `Decoder.forward` (a test compares their logits), arranged for passes
of 1 to G + 1 tokens: normalisation weights are folded into the layers behind them, every
linear part of the input becomes rows of one table, and keys and values sit in a buffer
whose length is all that a rollback changes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from core.lm.decoder import Block, Decoder, DecoderConfig, rope_table
from core.lm.linear import Linear, prepare_linear

Pass = Callable[[int, list[list[int]]], Tensor]
"""(first position, input table rows of each position) -> logits [m, V], on the CPU."""


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
            head = decoder.head_weight() * (decoder.norm.weight * self.config.width**0.5)
            self.heads = [
                prepare_linear(weight, device, bias)
                for weight, bias in zip(head, decoder.head_bias.detach(), strict=True)
            ]
            self.table = _input_table(decoder).to(device)
            self.cond = decoder.cond.weight.detach().to(device)
            self.hint = decoder.geometry.weight[:, 2 * self.config.code_dim :].detach().to(device)
            self.phase = decoder.phase.weight.detach().to(device)

    @torch.inference_mode()
    def start(self, cond: Tensor, hint: Tensor) -> "DecoderState":
        """A sentence of T frames: cond [T, cond_width], hint [T, code_dim]."""
        frames = F.linear(cond, self.cond) + F.linear(hint, self.hint)
        return self._state((frames[:, None] + self.phase).flatten(0, 1))

    def _state(self, base: Tensor) -> "DecoderState":
        return DecoderState(self.config, len(base), ViewPass(self, base))

    def buffers(self, capacity: int) -> tuple[Tensor, Tensor, Tensor]:
        """Rotations [capacity, 1, 1, head / 2]; empty keys [layers, heads, head, capacity] and
        values [layers, heads, capacity, head]."""
        c = self.config
        head = c.width // c.heads
        rope = rope_table(capacity, head)[:, None, None].to(self.device)
        keys = torch.zeros(c.layers, c.heads, head, capacity, device=self.device)
        return rope, keys, torch.zeros_like(keys.mT, memory_format=torch.contiguous_format)

    def logits(self, x: Tensor, start: int) -> Tensor:
        """Rows [m, width] of positions from `start`, each through its own codebook's head."""
        x = unit(x)
        Q = self.config.num_codebooks
        logits = torch.empty(len(x), self.config.codebook_size, device=x.device)
        for row in range(min(Q, len(x))):
            logits[row::Q] = self.heads[(start + row) % Q](x[row::Q])
        return logits


def _prepare_block(block: Block, device: torch.device) -> PreparedBlock:
    """Fold in what is constant: norm weights, the norm's sqrt(width), attention's 1/sqrt(head)."""
    width = block.qkv.in_features
    qkv = block.qkv.weight * (block.norm_attention.weight * width**0.5)
    qkv[:width] *= (width // block.heads) ** -0.5
    gate_up = block.gate_up.weight * (block.norm_mlp.weight * width**0.5)
    return PreparedBlock(
        prepare_linear(qkv, device),
        prepare_linear(block.out.weight, device),
        prepare_linear(gate_up, device),
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

    def __init__(self, config: DecoderConfig, capacity: int, run_pass: Pass):
        self.length = 0
        self.capacity = capacity
        self.tokens: list[int] = []
        self._config = config
        self._run_pass = run_pass

    def rollback(self, length: int) -> None:
        """Forget everything from position `length` on."""
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot roll back from {self.length} to {length}")
        self.length = length
        del self.tokens[max(0, length - 1) :]

    @torch.inference_mode()
    def forward(self, tokens: Sequence[int]) -> Tensor:
        """Take in the next positions; logits [m, V] of the tokens that follow each, on the CPU.

        tokens [m] are codebook entries 0..V-1; at position 0, `tokens` leaves the beginning
        out: its m - 1 tokens make m positions.
        """
        start = self.length
        stop = start + len(tokens) + (start == 0)
        if not start < stop <= self.capacity:
            raise ValueError(f"positions {start} to {stop} do not fit a cache of {self.capacity}")
        self.tokens.extend(tokens)
        self.length = stop
        return self._run_pass(start, self._table_rows(start, stop))

    def _table_rows(self, start: int, stop: int) -> list[list[int]]:
        """Rows of the input table that positions start..stop-1 add up; m lists of 2 Q."""
        c = self._config
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
        return rows


class ViewPass:
    """A pass through views of exactly sized buffers: what a CPU does best."""

    def __init__(self, runtime: DecoderRuntime, base: Tensor):
        """base: the part of the input that is known before any token, [S, width]."""
        self._runtime = runtime
        self._base = base
        self._rope, self._keys, self._values = runtime.buffers(len(base))

    def __call__(self, start: int, table_rows: list[list[int]]) -> Tensor:
        """Logits [m, V] of positions from `start`, on the CPU."""
        m, window = len(table_rows), self._runtime.config.window
        stop, first = start + m, max(0, start - window + 1)
        x = self._base[start:stop] + self._runtime.table[torch.tensor(table_rows)].sum(1)
        rope = self._rope[start:stop]
        bias = band(m, stop - first, window, self._runtime.device)
        for block, keys, values in zip(self._runtime.blocks, self._keys, self._values, strict=True):

            def remember(
                key: Tensor, value: Tensor, keys: Tensor = keys, values: Tensor = values
            ) -> tuple[Tensor, Tensor]:
                keys[:, :, start:stop] = key
                values[:, start:stop] = value
                return keys[:, :, first:stop], values[:, first:stop]

            x = run_block(block, x, rope, remember, bias)
        return self._runtime.logits(x, start).cpu()


def band(m: int, width: int, window: int, device: torch.device) -> Tensor:
    """0 where the last m of `width` positions may attend to, -inf elsewhere; [m, width]."""
    places = torch.arange(width, device=device)
    distance = places[width - m :, None] - places
    hidden = (distance < 0) | (distance >= window)
    return torch.zeros(m, width, device=device).masked_fill_(hidden, -torch.inf)


def run_block(
    block: PreparedBlock,
    x: Tensor,
    rope: Tensor,
    remember: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]],
    bias: Tensor,
) -> Tensor:
    """One layer over m rows; x [m, width], rope [m, 1, 1, head / 2].

    remember: stores keys [heads, head, m] and values [heads, m, head], and returns all that
    the rows may attend to, n of each; bias [m, n] is -inf where a row must not look.
    """
    m, width = x.shape
    head = 2 * rope.shape[-1]
    qkv = block.qkv(unit(x)).float().view(m, 3, -1, head)
    torch.view_as_complex(qkv[:, :2].unflatten(-1, (-1, 2))).mul_(rope)
    query, key, value = qkv.unbind(1)
    keys, values = remember(key.permute(1, 2, 0), value.transpose(0, 1))
    # At these sizes two products beat the fused kernel, and keys that lie transposed help.
    attention = torch.baddbmm(bias, query.transpose(0, 1), keys).softmax(-1)
    x = x + block.out(torch.bmm(attention, values).transpose(0, 1).reshape(m, width))
    gate, up = block.gate_up(unit(x)).chunk(2, -1)
    return x + block.down(F.silu(gate) * up)


def unit(x: Tensor) -> Tensor:
    """Rows scaled to length 1: RMSNorm without its constants, which the weights have taken."""
    return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)
