"""Llama-type decoders as they are published: config.json and safetensors, nothing converted.

Llama 2 and 3 and Qwen 2: RMSNorm, grouped queries, rotary positions, SwiGLU.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from core.errors import ForespeakError
from core.lm.linear import Linear, prepare_linear
from core.lm.prompted import Cache, Entries, Head, PromptedState, Sight, graph_pool
from core.lm.weights import Weights, read_config

KINDS = ("llama", "qwen2")


@dataclass(frozen=True)
class LlamaConfig:
    """Sizes, and the angle that each pair of a head's dimensions turns by per position."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    head: int
    eps: float
    positions: int
    frequencies: Tensor

    @classmethod
    def from_json(cls, config: dict[str, Any], name: str) -> "LlamaConfig":
        """Of a published config.json; name: whose, should it be refused."""
        if (kind := config.get("model_type")) not in KINDS:
            raise ForespeakError(
                f"{name} is a model of type {kind}: those that can be used are {', '.join(KINDS)}."
            )
        if config.get("hidden_act", "silu") != "silu" or config.get("use_sliding_window"):
            raise ForespeakError(f"{name} is of an unusual shape (activation or attention window).")
        heads = config["num_attention_heads"]
        head = config.get("head_dim") or config["hidden_size"] // heads
        return cls(
            layers=config["num_hidden_layers"],
            width=config["hidden_size"],
            heads=heads,
            kv_heads=config.get("num_key_value_heads") or heads,
            head=head,
            eps=config["rms_norm_eps"],
            positions=config["max_position_embeddings"],
            frequencies=rope_frequencies(config, head, name),
        )


def rope_frequencies(config: dict[str, Any], head: int, name: str) -> Tensor:
    """Angles per position, [head / 2], scaled as the config asks."""
    # Older configs keep the base apart from the scaling; newer ones keep both together.
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    base = rope.get("rope_theta") or config.get("rope_theta") or 10000.0
    frequencies = 1.0 / base ** (torch.arange(0, head, 2).float() / head)
    kind = rope.get("rope_type") or rope.get("type") or "default"
    if kind == "default":
        return frequencies
    if kind == "linear":
        return frequencies / rope["factor"]
    if kind == "llama3":
        return _llama3(frequencies, rope)
    raise ForespeakError(f"{name} scales its positions by {kind!r}, which is not supported.")


def _llama3(frequencies: Tensor, rope: dict[str, Any]) -> Tensor:
    """Fast turns stay, slow ones are slowed by the factor, those between are blended."""
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    turns = rope["original_max_position_embeddings"] * frequencies / (2 * math.pi)
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    return frequencies * (kept + (1 - kept) / rope["factor"])


@dataclass(frozen=True)
class Layer:
    """One layer's weights."""

    norm_attention: Tensor
    qkv: Linear
    out: Linear
    norm_mlp: Tensor
    gate_up: Linear
    down: Linear


class LlamaRuntime:
    """Implements `PromptedModel`: weights as decoding uses them, shared by all sentences."""

    def __init__(self, weights: Weights, entries: Entries, device: torch.device):
        self.entries = entries
        self.device = device
        self.config = LlamaConfig.from_json(read_config(weights.folder), weights.folder.name)
        self.positions = self.config.positions
        self.pool = graph_pool(self)
        with torch.inference_mode():
            self._layers = [
                self._layer(weights, f"model.layers.{n}.") for n in range(self.config.layers)
            ]
            self._embedding = weights["model.embed_tokens.weight"].to(device)
            check_ids(entries, len(self._embedding), weights.folder.name)
            self._norm = weights["model.norm.weight"].to(device).float()
            head = weights.get("lm_head.weight")
            self._head = Head(self._embedding.cpu() if head is None else head, entries, device)
            self._frequencies = self.config.frequencies.to(device)

    def start(self, prompt: Sequence[int], length: int) -> PromptedState:
        """A sentence of up to `length` tokens behind a prompt of ids."""
        if len(prompt) + length > self.positions:
            raise ForespeakError(
                f"The sentence is too long: the model sees {self.positions} tokens. "
                "Split it in two."
            )
        return PromptedState(self, self.embed(torch.tensor(prompt)), length)

    def cache(self, capacity: int) -> Cache:
        c = self.config
        return Cache(c.layers, c.kv_heads, c.head, capacity, self.device)

    @torch.inference_mode()
    def embed(self, ids: Tensor) -> Tensor:
        return self._embedding[ids.to(self.device)].float()

    def logits(self, x: Tensor, first: int) -> Tensor:
        return self._head(rms_norm(x, self._norm, self.config.eps), first)

    def run(self, x: Tensor, sight: Sight) -> Tensor:
        angles = torch.outer(sight.places, self._frequencies)
        rope = angles.cos(), angles.sin()
        for number, layer in enumerate(self._layers):
            x = x + self._attend(number, layer, x, rope, sight)
            gate, up = layer.gate_up(rms_norm(x, layer.norm_mlp, self.config.eps)).chunk(2, -1)
            x = x + layer.down(F.silu(gate) * up)
        return x

    def _attend(
        self, number: int, layer: Layer, x: Tensor, rope: tuple[Tensor, Tensor], sight: Sight
    ) -> Tensor:
        c = self.config
        qkv = layer.qkv(rms_norm(x, layer.norm_attention, c.eps)).view(len(x), -1, c.head)
        query, key, value = qkv.transpose(0, 1).split((c.heads, c.kv_heads, c.kv_heads))
        query, key = rotate_halves(query, rope), rotate_halves(key, rope)
        keys, values = sight.remember(number, key, value)
        heard = F.scaled_dot_product_attention(
            query.to(keys.dtype)[None], keys[None], values[None], sight.mask, enable_gqa=True
        )
        return layer.out(heard[0].transpose(0, 1).reshape(len(x), -1))

    def _layer(self, weights: Weights, prefix: str) -> Layer:
        def linear(*names: str) -> Linear:
            """Of layers that read the same input, side by side."""
            weight = torch.cat([weights[f"{prefix}{name}.weight"] for name in names])
            biases = [weights.get(f"{prefix}{name}.bias") for name in names]
            biased = None if None in biases else torch.cat(biases).float()
            return prepare_linear(weight, self.device, biased)

        def norm(name: str) -> Tensor:
            return weights[f"{prefix}{name}.weight"].to(self.device).float()

        return Layer(
            norm_attention=norm("input_layernorm"),
            qkv=linear("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
            out=linear("self_attn.o_proj"),
            norm_mlp=norm("post_attention_layernorm"),
            gate_up=linear("mlp.gate_proj", "mlp.up_proj"),
            down=linear("mlp.down_proj"),
        )


def check_ids(entries: Entries, size: int, name: str) -> None:
    """Raise ForespeakError unless a model of `size` ids has one for every entry."""
    highest = max(int(entries.ids.max()), entries.stop or 0)
    if highest >= size:
        raise ForespeakError(
            f"{name} knows {size} ids, and its vocabulary names number {highest}: "
            "they do not belong together."
        )


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Rows [m, width] of size 1 in the mean square, weighted."""
    return F.rms_norm(x.float(), weight.shape, weight, eps)


def rotate_halves(x: Tensor, rope: tuple[Tensor, Tensor]) -> Tensor:
    """Rotary position embedding of pairs (n, n + head / 2); x [heads, m, head]."""
    cos, sin = rope
    one, other = x.float().chunk(2, -1)
    return torch.cat((one * cos - other * sin, other * cos + one * sin), -1)
