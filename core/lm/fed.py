"""What drafts share that read the target's mind: hidden states it had anyway.

They guess the tokens behind the last verified position from what the target's layers made of it
("features"), and from the conditioning of the frames ahead, which aligned phonemes give before
any token is known. Input rows and output weights are the target's own, so a draft is small.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch.nn.functional as F
from torch import Tensor, nn

from core.checkpoint import load_checkpoint
from core.lm.decoder import Decoder


@dataclass(frozen=True)
class FedConfig:
    """taps: the target's layers whose outputs are read; mlp: width of a gate; steps: how many
    tokens ahead it has learned to guess."""

    taps: tuple[int, ...]
    mlp: int
    steps: int


class Fed(nn.Module):
    """States to logits, through the target's own output weights."""

    def __init__(self, config: FedConfig, target: Decoder):
        super().__init__()
        self.config = config
        self.norm = nn.RMSNorm(target.config.width, eps=1e-6)
        self.norm.weight.data.copy_(target.norm.weight)
        self.register_buffer("head", target.head_weight().detach(), persistent=False)
        self.register_buffer("head_bias", target.head_bias.detach().clone(), persistent=False)

    def logits(self, states: Tensor, ahead: int) -> Tensor:
        """States [B, S, width] of positions n to logits [B, S, V] of tokens n + ahead."""
        states = self.norm(states)
        Q, V = self.head_bias.shape
        logits = states.new_empty(*states.shape[:2], V)
        for q in range(Q):
            behind = (q - ahead) % Q
            logits[:, behind::Q] = F.linear(states[:, behind::Q], self.head[q], self.head_bias[q])
        return logits


FedT = TypeVar("FedT", bound=Fed)


def load_fed(build: Callable[[FedConfig, Decoder], FedT], path: Path, target: Decoder) -> FedT:
    """Of one checkpoint; ForespeakError if it is missing or damaged."""

    def of_header(values: dict[str, Any]) -> FedT:
        return build(FedConfig(**values | {"taps": tuple(values["taps"])}), target)

    return load_checkpoint(path, of_header)
