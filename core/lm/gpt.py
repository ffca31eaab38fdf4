"""GPT-2-like decoders as Bark publishes them: learned positions, LayerNorm, GELU.

Three share one checkpoint: semantic and coarse acoustics go from token to token, fine acoustics
sees everything at once.
"""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from core.lm.linear import Linear, prepare_linear
from core.lm.prompted import Cache, Entries, Head, Sight, graph_pool
from core.lm.weights import Weights


@dataclass(frozen=True)
class GptConfig:
    """Sizes of one decoder; `positions` is how many tokens it can see."""

    layers: int
    heads: int
    width: int
    positions: int

    @classmethod
    def from_json(cls, config: dict[str, Any]) -> "GptConfig":
        """Of a part of Bark's config.json."""
        return cls(
            config["num_layers"], config["num_heads"], config["hidden_size"], config["block_size"]
        )


@dataclass(frozen=True)
class Norm:
    """LayerNorm; the bias is None where the decoder has no biases."""

    weight: Tensor
    bias: Tensor | None

    def __call__(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias)


@dataclass(frozen=True)
class Layer:
    """One layer's weights."""

    norm_attention: Norm
    qkv: Linear
    out: Linear
    norm_mlp: Norm
    up: Linear
    down: Linear


class GptStack:
    """The layers of a decoder, between embeddings and output; without state."""

    def __init__(self, weights: Weights, prefix: str, config: GptConfig, device: torch.device):
        self.config = config
        self._weights, self._device = weights, device
        self._layers = [self._layer(f"{prefix}layers.{n}.") for n in range(config.layers)]
        self._final = self._norm(f"{prefix}layernorm_final")
        self._positions = weights[f"{prefix}position_embeds_layer.weight"].to(device).float()

    def __call__(self, x: Tensor, sight: Sight) -> Tensor:
        """Outputs [m, width] of rows x [m, width]."""
        x = x + self._positions[sight.places]
        for number, layer in enumerate(self._layers):
            x = x + self._attend(number, layer, x, sight)
            x = x + layer.down(F.gelu(layer.up(layer.norm_mlp(x)).float()))
        return self._final(x)

    def _attend(self, number: int, layer: Layer, x: Tensor, sight: Sight) -> Tensor:
        qkv = layer.qkv(layer.norm_attention(x)).float().view(len(x), 3, self.config.heads, -1)
        query, key, value = qkv.permute(1, 2, 0, 3)
        keys, values = sight.remember(number, key, value)
        heard = F.scaled_dot_product_attention(
            query.to(keys.dtype)[None], keys[None], values[None], sight.mask
        )
        return layer.out(heard[0].transpose(0, 1).reshape(len(x), -1))

    def _layer(self, prefix: str) -> Layer:
        return Layer(
            norm_attention=self._norm(f"{prefix}layernorm_1"),
            qkv=self._linear(f"{prefix}attn.att_proj"),
            out=self._linear(f"{prefix}attn.out_proj"),
            norm_mlp=self._norm(f"{prefix}layernorm_2"),
            up=self._linear(f"{prefix}mlp.in_proj"),
            down=self._linear(f"{prefix}mlp.out_proj"),
        )

    def _linear(self, name: str) -> Linear:
        bias = self._weights.get(f"{name}.bias")
        bias = None if bias is None else bias.float()
        return prepare_linear(self._weights[f"{name}.weight"], self._device, bias)

    def _norm(self, name: str) -> Norm:
        bias = self._weights.get(f"{name}.bias")
        bias = None if bias is None else bias.to(self._device).float()
        return Norm(self._weights[f"{name}.weight"].to(self._device).float(), bias)


class GptRuntime:
    """Implements `PromptedModel`: one of the two that go from token to token."""

    def __init__(
        self,
        weights: Weights,
        prefix: str,
        config: dict[str, Any],
        entries: Entries,
        device: torch.device,
    ):
        """prefix: of its tensors' names; config: its part of config.json."""
        self.entries = entries
        self.device = device
        with torch.inference_mode():
            self._stack = GptStack(weights, prefix, GptConfig.from_json(config), device)
            self.positions = self._stack.config.positions
            self.pool = graph_pool(self)
            self._embedding = weights[f"{prefix}input_embeds_layer.weight"].to(device).float()
            self._head = Head(weights[f"{prefix}lm_head.weight"], entries, device)

    def cache(self, capacity: int) -> Cache:
        c = self._stack.config
        return Cache(c.layers, c.heads, c.width // c.heads, capacity, self.device)

    @torch.inference_mode()
    def embed(self, ids: Tensor) -> Tensor:
        return self._embedding[ids.to(self.device)]

    def run(self, x: Tensor, sight: Sight) -> Tensor:
        return self._stack(x, sight)

    def logits(self, x: Tensor, first: int) -> Tensor:
        return self._head(x, first)


class FineRuntime:
    """The last stage: the codebooks behind the coarse ones, each from all before it."""

    def __init__(self, weights: Weights, prefix: str, config: dict[str, Any], device: torch.device):
        given = config["n_codes_given"]
        self.device = device
        with torch.inference_mode():
            self._stack = GptStack(weights, prefix, GptConfig.from_json(config), device)
            self._embeddings = [
                weights[f"{prefix}input_embeds_layers.{q}.weight"].to(device).float()
                for q in range(config["n_codes_total"])
            ]
            self._heads = {
                given + n: prepare_linear(self._head(weights, prefix, n), device)
                for n in range(config["n_codes_total"] - given)
            }

    @torch.inference_mode()
    def logits(self, codes: Tensor, q: int) -> Tensor:
        """Of codebook q at every frame, [T, ids], from codes [Q, T] of the codebooks up to q: its
        own place holds what stands for an unknown code."""
        x = sum(self._embeddings[n][codes[n]] for n in range(q + 1))
        places = torch.arange(len(x), device=self.device)
        everything = Sight(places, None, lambda _, *seen: seen)
        return self._heads[q](self._stack(x, everything)).float()

    def _head(self, weights: Weights, prefix: str, number: int) -> Tensor:
        """An output layer, which a checkpoint may leave out where it is an input layer, too."""
        head = weights.get(f"{prefix}lm_heads.{number}.weight")
        return weights[f"{prefix}input_embeds_layers.{number + 1}.weight"] if head is None else head
