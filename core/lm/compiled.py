"""The decoder as a draft uses it: one token at a time, each step one compiled function.

Same mathematics as `Decoder.forward` (a test compares their logits).
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from core.lm.decoder import Block, Decoder, rope_table
from core.lm.inputs import Inputs
from core.lm.kernels import Layer, decoder_step, packed, prepare_heads
from core.lm.state import BoundedState


def prepare_layer(block: Block) -> Layer:
    """Folds in the weights of the norms, their sqrt(width), and attention's 1/sqrt(head)."""
    width = block.qkv.in_features
    qkv = block.qkv.weight * (block.norm_attention.weight * width**0.5)
    qkv[:width] *= (width // block.heads) ** -0.5
    gate_up = block.gate_up.weight * (block.norm_mlp.weight * width**0.5)
    return Layer(packed(qkv), packed(block.out.weight), packed(gate_up), packed(block.down.weight))


class CompiledDecoder:
    """Prepared weights. Holds no state: any number of sentences may share it."""

    @torch.inference_mode()
    def __init__(self, decoder: Decoder):
        self.config = decoder.config
        self.layers = tuple(prepare_layer(block) for block in decoder.blocks)
        self.heads = prepare_heads(decoder.head_weight(), decoder.norm.weight, decoder.head_bias)
        self.inputs = Inputs(decoder, torch.device("cpu"))
        self.table = packed(self.inputs.table)
        frame = torch.zeros(1, self.config.cond_width), torch.zeros(1, self.config.code_dim)
        self.start(*frame).forward([])  # compiled now, rather than in the first sentence

    @torch.inference_mode()
    def start(self, cond: Tensor, hint: Tensor) -> "CompiledState":
        """A sentence of T frames: cond [T, cond_width], hint [T, code_dim]."""
        return CompiledState(self, self.inputs.of_frames(cond.cpu(), hint.cpu()))


class CompiledState(BoundedState):
    """One sentence being decoded."""

    def __init__(self, decoder: CompiledDecoder, base: Tensor):
        """base: the part of the input that is known before any token, [S, width]."""
        super().__init__(len(base))
        c = decoder.config
        self._decoder = decoder
        self._base = base.numpy()
        self._rope = rope_table(len(base), c.width // c.heads).numpy()
        self._keys = np.empty((c.layers, len(base), c.heads, c.width // c.heads), np.float32)
        self._values = np.empty_like(self._keys)

    def forward(self, tokens: Sequence[int]) -> Tensor:
        """As of `core.lm.runtime.DecoderState`."""
        start, stop = self.length, self.stop(tokens)
        self.tokens.extend(tokens)
        self.length = stop
        logits = np.empty((stop - start, self._decoder.config.codebook_size), np.float32)
        for row, position in enumerate(range(start, stop)):
            logits[row] = self._step(position)
        return torch.from_numpy(logits)

    def _step(self, position: int) -> np.ndarray:
        run = self._decoder
        (rows,) = run.inputs.rows(self.tokens, position, position + 1)
        return decoder_step(
            run.layers,
            run.heads[position % len(run.heads)],
            self._base[position],
            run.table,
            np.array(rows),
            position,
            self._keys,
            self._values,
            self._rope[position],
            run.config.window,
        )
