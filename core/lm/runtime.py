"""The decoder as decoding uses it: prepared weights, a cache that rolls back, few calls.

Same mathematics as `Decoder.forward` (a test compares their logits), arranged for passes
of 1 to G + 1 tokens: normalisation weights are folded into the layers behind them, every
linear part of the input becomes rows of one table, and keys and values sit in a buffer
whose length is all that a rollback changes.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.lm.decoder import Block, Decoder, rope_table
from core.lm.inputs import Inputs
from core.lm.linear import prepare_linear, scripted
from core.lm.state import BoundedState

Result = tuple[Tensor, Tensor | None]
"""Logits [m, V] and features [m, F] of a pass, on the CPU. Features are the rows behind those
layers that the runtime taps, side by side; None if there are no such layers."""
Pass = Callable[[int, list[list[int]]], Result]
"""(first position, input table rows of each position) -> what the pass gave."""


class PreparedBlock(nn.Module):
    """One layer of the decoder for m rows, in the two halves between which the cache is filled.

    What is constant is folded into the weights: those of the norms, their sqrt(width),
    attention's 1/sqrt(head).
    """

    def __init__(self, block: Block, device: torch.device):
        super().__init__()
        width = block.qkv.in_features
        self.head = width // block.heads
        qkv = block.qkv.weight * (block.norm_attention.weight * width**0.5)
        qkv[:width] *= self.head**-0.5
        gate_up = block.gate_up.weight * (block.norm_mlp.weight * width**0.5)
        self.qkv = prepare_linear(qkv, device)
        self.out = prepare_linear(block.out.weight, device)
        self.gate_up = prepare_linear(gate_up, device)
        self.down = prepare_linear(block.down.weight, device)

    def ask(self, x: Tensor, rope: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries [heads, m, head], and keys [heads, head, m] and values [heads, m, head] for
        the cache; x [m, width], rope [m, 1, 1, head / 2]."""
        qkv = self.qkv(unit(x)).float().view(len(x), 3, -1, self.head)
        torch.view_as_complex(qkv[:, :2].unflatten(-1, (-1, 2))).mul_(rope)
        query, key, value = qkv.unbind(1)
        return query.transpose(0, 1), key.permute(1, 2, 0), value.transpose(0, 1)

    def answer(
        self, x: Tensor, query: Tensor, keys: Tensor, values: Tensor, bias: Tensor
    ) -> Tensor:
        """The layer's output [m, width], having looked at n keys and values; bias [m, n] is -inf
        where a row must not look."""
        # At these sizes two products beat the fused kernel, and keys that lie transposed help.
        attention = torch.baddbmm(bias, query, keys).softmax(-1)
        x = x + self.out(torch.bmm(attention, values).transpose(0, 1).reshape(x.shape))
        gate, up = self.gate_up(unit(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Layers(nn.Module):
    """All of them over views of one sentence's cache."""

    def __init__(self, blocks: nn.ModuleList):
        super().__init__()
        self.blocks = blocks

    def forward(
        self, x: Tensor, start: int, rope: Tensor, bias: Tensor, keys: Tensor, values: Tensor
    ) -> list[Tensor]:
        """What each layer makes of the m positions from `start`, [m, width] each.

        They may attend to n positions, themselves included: bias [m, n] is -inf where a row must
        not look. keys and values: `DecoderRuntime.buffers`.
        """
        m, n = bias.shape
        first = start + m - n
        outputs: list[Tensor] = []
        for layer, block in enumerate(self.blocks):
            query, key, value = block.ask(x, rope)
            all_keys, all_values = keys[layer], values[layer]
            all_keys.narrow(2, start, m).copy_(key)
            all_values.narrow(1, start, m).copy_(value)
            seen_keys, seen_values = all_keys.narrow(2, first, n), all_values.narrow(1, first, n)
            x = block.answer(x, query, seen_keys, seen_values, bias)
            outputs.append(x)
        return outputs


class Output(nn.Module):
    """From the last layer to logits."""

    def __init__(self, decoder: Decoder, device: torch.device):
        super().__init__()
        self.size = decoder.config.codebook_size
        weights = decoder.head_weight() * (decoder.norm.weight * decoder.config.width**0.5)
        self.heads = nn.ModuleList(
            prepare_linear(weight, device, bias)
            for weight, bias in zip(weights, decoder.head_bias.detach(), strict=True)
        )

    def forward(self, x: Tensor, start: int) -> Tensor:
        """Rows [m, width] of positions from `start`, each through its own codebook's head."""
        x, books = unit(x), len(self.heads)
        logits = torch.empty(len(x), self.size, device=x.device)
        for codebook, head in enumerate(self.heads):
            row = (codebook - start) % books
            if row < len(x):
                logits[row::books] = head(x[row::books])
        return logits


class DecoderRuntime:
    """Prepared weights of one decoder. Holds no state: any number of sentences may share it."""

    def __init__(self, decoder: Decoder, device: torch.device, taps: Sequence[int] = ()):
        """taps: the layers whose outputs are kept, for whoever drafts from them."""
        self.config = decoder.config
        self.device = device
        self.taps = tuple(taps)
        with torch.inference_mode():
            self.blocks = nn.ModuleList(PreparedBlock(block, device) for block in decoder.blocks)
            self.layers = scripted(Layers(self.blocks))
            self.logits = scripted(Output(decoder, device))
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

    def tapped(self, outputs: Sequence[Tensor]) -> Tensor | None:
        """Features [m, F], of what each layer gave [m, width]; None if no layer is tapped."""
        return torch.cat([outputs[layer] for layer in self.taps], 1) if self.taps else None


class DecoderState(BoundedState):
    """One sentence being decoded, through passes over its keys and values."""

    def __init__(self, runtime: DecoderRuntime, capacity: int, run_pass: Pass):
        super().__init__(capacity)
        self._inputs = runtime.inputs
        self._run_pass = run_pass
        self._features = torch.empty(capacity, runtime.features)

    @torch.inference_mode()
    def forward(self, tokens: Sequence[int]) -> Tensor:
        """Take in the next positions; logits [m, V] of the tokens that follow each, on the CPU.

        tokens [m] are codebook entries 0..V-1; at position 0, `tokens` leaves the beginning
        out: its m - 1 tokens make m positions.
        """
        start, stop = self.length, self.stop(tokens)
        self.tokens.extend(tokens)
        self.length = stop
        rows = self._inputs.rows(self.tokens, start, stop)
        logits, features = self._run_pass(start, rows)
        if features is not None:
            self._features[start:stop] = features
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
        self._band = lru_cache(partial(band, window=runtime.config.window, device=runtime.device))

    def __call__(self, start: int, table_rows: list[list[int]]) -> Result:
        run, m = self._runtime, len(table_rows)
        stop = start + m
        x = self._base[start:stop] + run.inputs.table[torch.tensor(table_rows)].sum(1)
        bias = self._band(m)[:, -stop:]  # at the beginning there is less to look at
        outputs = run.layers(x, start, self._rope[start:stop], bias, self._keys, self._values)
        return on_cpu((run.logits(outputs[-1], start), run.tapped(outputs)))


def on_cpu(result: Result) -> Result:
    """What a pass gave, where sampling and drafts take it from."""
    logits, features = result
    return logits.cpu(), None if features is None else features.cpu()


def band(m: int, window: int, device: torch.device) -> Tensor:
    """0 where m positions may attend to, -inf elsewhere, of all that any of them sees; [m, n]."""
    n = window + m - 1
    places = torch.arange(n, device=device)
    distance = places[n - m :, None] - places
    hidden = (distance < 0) | (distance >= window)
    return torch.zeros(m, n, device=device).masked_fill_(hidden, -torch.inf)


def unit(x: Tensor) -> Tensor:
    """Rows scaled to length 1: RMSNorm without its constants, which the weights have taken."""
    return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)
