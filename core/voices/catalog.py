"""Which voices there are, and how to get at one by its name."""

from collections.abc import Callable
from functools import partial

import torch

from core.errors import ForespeakError
from core.sampling import Sampling
from core.voices.base import Voice
from core.voices.declaration import declared_names, read_declaration
from core.voices.declared import load_declared
from core.voices.joe import Joe

VOICES: dict[str, Callable[[torch.device], Voice]] = {"joe": Joe}
"""Voices that need a file of their own; others are declared in assets/voices."""


def voice_names() -> list[str]:
    """All voices that there are, here or to be fetched."""
    return [*VOICES, *declared_names()]


def find_voice(name: str) -> Callable[[torch.device], Voice]:
    """What builds the voice of that name on a device."""
    if name not in voice_names():
        raise ForespeakError(f"Unknown voice {name!r}: choose one of {', '.join(voice_names())}.")
    return VOICES.get(name) or partial(load_declared, name)


def recommended_sampling(voice: str) -> Sampling:
    """How the voice of that name is meant to draw, by its declaration; ours where none says so.

    Raises ForespeakError if there is no such voice, or its declaration is wrong.
    """
    find_voice(voice)
    return Sampling() if voice in VOICES else Sampling(**read_declaration(voice).sampling)
