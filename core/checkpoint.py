"""Modules as safetensors: float16 weights, sizes in the header."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from core.errors import ForespeakError

Module = TypeVar("Module", bound=nn.Module)


def save_checkpoint(path: Path, module: nn.Module, config: Mapping[str, Any]) -> None:
    """Write the module's state as float16, its config as JSON in the header."""
    state = {name: tensor.half().contiguous() for name, tensor in module.state_dict().items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    save_file(state, partial, {"config": json.dumps(config)})
    partial.replace(path)  # a run that is killed leaves the old file or the new one


def load_checkpoint(path: Path, build: Callable[[dict[str, Any]], Module]) -> Module:
    """What `save_checkpoint` wrote: `build` makes the module of a config; float32, evaluating."""
    try:
        with safe_open(path, framework="pt") as file:
            config = json.loads(file.metadata()["config"])
            state = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
        module = build(config)
        module.load_state_dict(state)
    except FileNotFoundError as error:
        raise ForespeakError(f"{path} is missing: restore it, e.g. git checkout.") from error
    except (OSError, SafetensorError, RuntimeError, KeyError, TypeError, ValueError) as error:
        raise ForespeakError(f"{path} is damaged: restore it, e.g. git checkout.") from error
    return module.eval()
