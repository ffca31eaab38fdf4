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

from core.lm.decoder import Block, Decoder, rope_table
from core.lm.inputs import Inputs
from core.lm.linear import Linear, prepare_linear

Pass = Callable[[int, list[list[int]]], tuple[Tensor, Tensor]]
"""(first position, input table rows of each position) -> logits [m, V] and features [m, F], on
the CPU. Features are the rows behind those layers that the runtime taps, side by side."""


@dataclass(frozen=True)
class PreparedBlock:
    """One layer's weights, normalisation folded in."""

    qkv: Linear
    out: Linear
    gate_up: Linear
    down: Linear


class DecoderRuntime:
    """Prepared weights of one decoder. Holds no state: any number of sentences may share it."""

    def __init__(self, decoder: Decoder, device: torch.device, taps: Sequence[int] = ()):
        """taps: the layers whose outputs are kept, for whoever drafts from them."""
        self.config = decoder.config
        self.device = device
        self.taps = tuple(taps)
        with torch.inference_mode():
            self.blocks = [_prepare_block(block, device) for block in decoder.blocks]
            head = decoder.head_weight() * (decoder.norm.weight * self.config.width**0.5)
            self.heads = [
                prepare_linear(weight, device, bias)
                for weight, bias in zip(head, decoder.head_bias.detach(), strict=True)
            ]
            self.inputs = Inputs(decoder, device)

    @property
    def features(self) -> int:
        """F, their width."""
        return len(self.taps) * self.config.width

    @torch.inference_mode()
    def start(self, cond: Tensor, hint: Tensor) -> "DecoderState":
        """A sentence of T frames: cond [T, cond_width], hint [T, code_dim]."""
        base = self.inputs.of_frames(cond, hint)
        return DecoderState(self, len(base), ViewPass(self, base))

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

    def tapped(self, outputs: Sequence[Tensor]) -> Tensor:
        """Features [m, F], of what each layer gave [m, width]."""
        if not self.taps:
            return outputs[0][:, :0]
        return torch.cat([outputs[layer] for layer in self.taps], 1)


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


class DecoderState:
    """One sentence being decoded: the tokens taken in so far and their keys and values.

    `length` counts positions taken in; position n takes in token n - 1 (position 0 the
    beginning) and answers with the logits of token n. Rolling back only lowers `length`:
    stale entries are overwritten before anything can attend to them.
    """

    def __init__(self, runtime: DecoderRuntime, capacity: int, run_pass: Pass):
        self.length = 0
        self.capacity = capacity
        self.tokens: list[int] = []
        self._inputs = runtime.inputs
        self._run_pass = run_pass
        self._features = torch.empty(capacity, runtime.features)

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
        rows = self._inputs.rows(self.tokens, start, stop)
        logits, self._features[start:stop] = self._run_pass(start, rows)
        return logits

    def feature(self, position: int) -> Tensor:
        """Of a position that was taken in, [F]."""
        if not 0 <= position < self.length:
            raise ValueError(f"position {position} is not among the {self.length} taken in")
        return self._features[position]


class ViewPass:
    """A pass through views of exactly sized buffers: what a CPU does best."""

    def __init__(self, runtime: DecoderRuntime, base: Tensor):
        """base: the part of the input that is known before any token, [S, width]."""
        self._runtime = runtime
        self._base = base
        self._rope, self._keys, self._values = runtime.buffers(len(base))

    def __call__(self, start: int, table_rows: list[list[int]]) -> tuple[Tensor, Tensor]:
        m, window = len(table_rows), self._runtime.config.window
        stop, first = start + m, max(0, start - window + 1)
        x = self._base[start:stop] + self._runtime.inputs.table[torch.tensor(table_rows)].sum(1)
        rope = self._rope[start:stop]
        bias = band(m, stop - first, window, self._runtime.device)
        outputs = []
        for block, keys, values in zip(self._runtime.blocks, self._keys, self._values, strict=True):

            def remember(
                key: Tensor, value: Tensor, keys: Tensor = keys, values: Tensor = values
            ) -> tuple[Tensor, Tensor]:
                keys[:, :, start:stop] = key
                values[:, start:stop] = value
                return keys[:, :, first:stop], values[:, first:stop]

            x = run_block(block, x, rope, remember, bias)
            outputs.append(x)
        return self._runtime.logits(x, start).cpu(), self._runtime.tapped(outputs).cpu()


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
