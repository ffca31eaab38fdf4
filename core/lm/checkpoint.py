"""Modules as safetensors: float16 weights, sizes in the header."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from core.errors import ForespeakError


def save_checkpoint(path: Path, module: nn.Module, config: Mapping[str, Any]) -> None:
    """Write the module's state as float16, its config as JSON in the header."""
    state = {name: tensor.half().contiguous() for name, tensor in module.state_dict().items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    save_file(state, partial, {"config": json.dumps(config)})
    partial.replace(path)  # a run that is killed leaves the old file or the new one


def load_checkpoint(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Config and float32 state of what `save_checkpoint` wrote."""
    try:
        with safe_open(path, framework="pt") as file:
            config = json.loads(file.metadata()["config"])
            state = {name: file.get_tensor(name).to(torch.float32) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError as error:
        raise ForespeakError(f"{path} is missing: restore it, e.g. git checkout.") from error
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ForespeakError(f"{path} is damaged: restore it, e.g. git checkout.") from error
    return config, state
