"""The codec's ceiling: sentences of the recorded teacher as codes, which no stage trained on.

What the codec makes of them is the best that any model over its codes could say.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from pydantic import TypeAdapter, ValidationError

from core.codec.base import Codec
from core.errors import ForespeakError
from core.files import write_text
from core.voices.base import ASSETS


@dataclass(frozen=True)
class Recorded:
    """A sentence, and what the teacher said as codes [Q][T]."""

    text: str
    codes: tuple[tuple[int, ...], ...]


def ceiling_path(voice: Path) -> Path:
    """The file in a voice's folder."""
    return voice / "ceiling.json"


def load_ceiling(voice: str) -> tuple[Recorded, ...]:
    """The recorded sentences of a voice by its name."""
    path = ceiling_path(ASSETS / voice)
    try:
        return TypeAdapter(tuple[Recorded, ...]).validate_json(path.read_bytes(), strict=True)
    except OSError as error:
        raise ForespeakError("This voice has no recorded sentences: choose another way.") from error
    except ValidationError as error:
        raise ForespeakError(f"{path} is damaged: restore it.") from error


def save_ceiling(voice: Path, sentences: Sequence[Recorded]) -> None:
    """Write them to a voice's folder, one a line."""
    lines = (json.dumps(asdict(s), separators=(",", ":"), ensure_ascii=False) for s in sentences)
    write_text(ceiling_path(voice), "[\n" + ",\n".join(lines) + "\n]\n")


def decode(codec: Codec, sentence: Recorded) -> np.ndarray:
    """The sound, float32 [samples]."""
    return codec.decode(torch.tensor(sentence.codes)).cpu().numpy()
