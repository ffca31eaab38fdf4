"""Codecs as transformers has them, an optional package."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from core.errors import ForespeakError
from core.hub import INSTALL
from core.lm.weights import read_config


def find_class(name: str) -> Any:
    """A class of transformers; ForespeakError where the package is missing or lacks it."""
    try:
        import transformers

        return getattr(transformers, name)
    except (ImportError, AttributeError) as error:
        raise ForespeakError(f"The package transformers is missing: {INSTALL}") from error


def load_published(name: str, folder: Path) -> nn.Module:
    """A published checkpoint as a model of that class; ForespeakError if it is damaged."""
    kind = find_class(name)
    try:
        return kind.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, dtype=torch.float32
        ).eval()
    except (OSError, ValueError, RuntimeError) as error:
        raise ForespeakError(f"{folder} is damaged: fetch the voice again.") from error


def frame_rate(name: str, folder: Path) -> float:
    """Frames a second of a published codec, before it is loaded; name: of its configuration's
    class."""
    config = find_class(name)(**read_config(folder))
    return config.sampling_rate / config.hop_length
