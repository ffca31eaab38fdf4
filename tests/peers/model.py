"""The voice's decoders as Hugging Face transformers wants a model: `generate` does the rest.

The same weights in plain float32 modules, attention by PyTorch's fused kernel, and transformers'
own cache with a sliding window. Nothing is slow on purpose: as in Forespeak, the input is one
look-up in a table, a pass computes no logits that nobody reads, and a single row needs no mask.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import Cache, GenerationMixin, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast

from core.lm.decoder import Block, Decoder, rope_table, rotate
from core.lm.inputs import Inputs
from core.lm.linear import prepare_linear

CPU = torch.device("cpu")


class Peer(PreTrainedModel, GenerationMixin):
    """One decoder, speaking one sentence at a time.

    The vocabulary is flat: the V entries of a codebook, whose phase follows from the position,
    and V itself, which begins a sentence. So the prompt is [[V]], and position n of the sequence
    answers with the logits [V] of token n.
    """

    config_class = PreTrainedConfig
    main_input_name = "input_ids"

    def __init__(self, decoder: Decoder):
        c = decoder.config
        super().__init__(
            PreTrainedConfig(
                vocab_size=c.codebook_size,
                num_hidden_layers=c.layers,
                sliding_window=c.window,
                layer_types=["sliding_attention"] * c.layers,
            )
        )
        self.sizes = c
        self.blocks = decoder.blocks
        self.norm = decoder.norm
        weights = decoder.head_weight().detach()
        self.heads = nn.ModuleList(map(head, weights, decoder.head_bias.detach()))
        self.inputs = Inputs(decoder, CPU)
        self.eval()

    def hear(self, cond: Tensor, hint: Tensor) -> None:
        """The sentence to speak: cond [T, cond_width], hint [T, code_dim]."""
        self._base = self.inputs.of_frames(cond, hint)
        self._rope = rope_table(len(self._base), self.sizes.width // self.sizes.heads)

    def prepare_inputs_for_generation(self, input_ids: Tensor, **kwargs) -> dict:
        """A position reads the tokens of this frame and of the last, not only the one before."""
        return super().prepare_inputs_for_generation(input_ids, **kwargs) | {"spoken": input_ids}

    def forward(
        self,
        input_ids: Tensor,
        spoken: Tensor,
        cache: Cache,
        attention_mask: Tensor | None = None,  # noqa: ARG002  one sentence: nothing is padded
        logits_to_keep: int = 0,
        **_kwargs: object,
    ) -> CausalLMOutputWithPast:
        """input_ids: what the cache lacks, [1, m]; spoken: all of the sentence, [1, start + m]."""
        start, m = cache.get_seq_length(), input_ids.shape[1]
        rows = self.inputs.rows(spoken[0, 1:].tolist(), start, start + m)
        x = self._base[start : start + m] + self.inputs.table[torch.tensor(rows)].sum(1)
        x, rope = x[None], self._rope[start : start + m]
        mask = sliding_mask(m, start, self.sizes.window)
        for layer, block in enumerate(self.blocks):
            x = run_block(block, x, rope, mask, cache, layer)
        kept = logits_to_keep or m
        logits = self._logits(self.norm(x[0, -kept:]), start + m - kept)
        return CausalLMOutputWithPast(logits=logits[None], cache=cache)

    def _logits(self, x: Tensor, start: int) -> Tensor:
        """Rows [m, width] of positions from `start`, each through its own codebook's head."""
        Q = len(self.heads)
        logits = x.new_empty(len(x), self.sizes.codebook_size)
        for row in range(min(Q, len(x))):
            logits[row::Q] = self.heads[(start + row) % Q](x[row::Q])
        return logits


def head(weight: Tensor, bias: Tensor) -> nn.Linear:
    """Of one codebook: weight [V, width], bias [V]."""
    linear = nn.Linear(weight.shape[1], weight.shape[0])
    linear.weight.data, linear.bias.data = weight, bias
    return linear


def run_block(
    block: Block, x: Tensor, rope: Tensor, mask: Tensor | None, cache: Cache, layer: int
) -> Tensor:
    """`Block.forward` of one sentence, x [1, m, width], with a cache."""
    _, m, width = x.shape
    qkv = block.qkv(block.norm_attention(x)).view(1, m, 3, block.heads, width // block.heads)
    query, key, value = qkv.permute(2, 0, 3, 1, 4)
    keys, values = cache.update(rotate(key, rope), value, layer)
    y = F.scaled_dot_product_attention(rotate(query, rope), keys, values, attn_mask=mask)
    x = x + block.out(y.transpose(1, 2).reshape(1, m, width))
    gate, up = block.gate_up(block.norm_mlp(x)).chunk(2, -1)
    return x + block.down(F.silu(gate) * up)


def sliding_mask(m: int, start: int, window: int) -> Tensor | None:
    """Which of the positions that the cache hands out each of m rows may see; None means all."""
    if m == 1:
        return None
    places = torch.arange(min(start, window - 1) + m)
    distance = places[-m:, None] - places
    return (distance >= 0) & (distance < window)


class Packed(nn.Module):
    """A linear layer on Forespeak's own kernel."""

    def __init__(self, linear: nn.Linear):
        super().__init__()
        bias = None if linear.bias is None else linear.bias.detach()
        self._run = prepare_linear(linear.weight.detach(), CPU, bias)

    def forward(self, x: Tensor) -> Tensor:
        return self._run(x.flatten(0, -2)).unflatten(0, x.shape[:-1])


def pack(module: nn.Module) -> None:
    """Put every linear layer inside on Forespeak's kernel."""
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, Packed(child))
        else:
            pack(child)
