"""A published checkpoint: a folder with config.json and safetensors, one file or many."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from core.errors import ForespeakError


class Weights:
    """Tensors by name, each read when it is asked for: a large model is never here twice."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._files = {}
        for path in sorted(folder.glob("*.safetensors")):
            with self._explained():
                file = safe_open(path, framework="pt")
                self._files |= dict.fromkeys(file.keys(), file)
        if not self._files:
            raise ForespeakError(f"{folder} holds no safetensors: fetch the voice again.")

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def __getitem__(self, name: str) -> Tensor:
        if name not in self._files:
            raise ForespeakError(
                f"{self.folder} has no tensor {name}: it is another kind of model."
            )
        with self._explained():
            return self._files[name].get_tensor(name)

    def names(self) -> list[str]:
        """Of all tensors."""
        return list(self._files)

    def get(self, name: str) -> Tensor | None:
        """The tensor, if there is one."""
        return self[name] if name in self._files else None

    @property
    def parameters(self) -> int:
        """How many numbers they hold, from the headers alone."""
        return self.count(lambda _: True)

    def count(self, wanted: Callable[[str], bool]) -> int:
        """How many of them are in tensors of wanted names."""
        return sum(
            math.prod(file.get_slice(name).get_shape())
            for name, file in self._files.items()
            if wanted(name)
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (OSError, SafetensorError) as error:
            raise ForespeakError(f"{self.folder} is damaged: fetch the voice again.") from error


def read_config(folder: Path) -> dict[str, Any]:
    """What config.json says of the model in a folder."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ForespeakError(f"{folder}/config.json is damaged: fetch the voice again.") from error
    if not isinstance(config, dict):
        raise ForespeakError(f"{folder}/config.json is damaged: fetch the voice again.")
    return config
