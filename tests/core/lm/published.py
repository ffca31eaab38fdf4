"""Tiny random checkpoints in their published format, and what transformers makes of them."""

from copy import deepcopy
from pathlib import Path

import torch
from torch import Tensor, nn


def randomise(module: nn.Module, seed: int = 0) -> nn.Module:
    """Every weight random and felt, as numbers that bfloat16 holds, which is how they are kept."""
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in module.named_parameters():
            drawn = torch.randn(weight.shape, generator=rng)
            weight.copy_((1 + 0.3 * drawn if is_scale(name, weight) else 0.25 * drawn).bfloat16())
    return module.eval()


def is_scale(name: str, weight: Tensor) -> bool:
    """Whether it is a normalisation's weight, which lies around 1."""
    return "norm" in name and name.endswith("weight") and weight.dim() == 1


def save(model: nn.Module, folder: Path) -> Path:
    """As bfloat16 safetensors with config.json; the model itself stays as it is."""
    deepcopy(model).bfloat16().save_pretrained(folder)
    return folder
