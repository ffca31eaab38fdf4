"""Modules as safetensors: float16, or int8 with a scale per row; sizes in the header."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from core.errors import ForespeakError

Module = TypeVar("Module", bound=nn.Module)


SCALE = ".scale"  # of a row's int8 weights


def save_checkpoint(
    path: Path, module: nn.Module, config: Mapping[str, Any], int8: bool = False
) -> None:
    """Write the module's state, its config as JSON in the header.

    int8: matrices take half the room; for drafts, whose errors cost a little speed and no more.
    """
    state: dict[str, Tensor] = {}
    for name, tensor in module.state_dict().items():
        if int8 and tensor.dim() > 1:
            scale = tensor.abs().amax(-1, keepdim=True).clamp(min=1e-8) / 127
            state[name] = (tensor / scale).round().char()
            state[name + SCALE] = scale
        else:
            state[name] = tensor.half().contiguous()
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
        scales = {name: state.pop(name) for name in list(state) if name.endswith(SCALE)}
        for name, scale in scales.items():
            state[name.removesuffix(SCALE)] *= scale
        module = build(config)
        module.load_state_dict(state)
    except FileNotFoundError as error:
        raise ForespeakError(f"{path} is missing: restore it, e.g. git checkout.") from error
    except (OSError, SafetensorError, RuntimeError, KeyError, TypeError, ValueError) as error:
        raise ForespeakError(f"{path} is damaged: restore it, e.g. git checkout.") from error
    return module.eval()
