"""This computer's sound outputs, through PortAudio (sounddevice). The doctor asks here, too."""

from types import ModuleType
from typing import Any

from core.errors import ForespeakError


def describe_outputs() -> str:
    """The output devices, the default one first; raises if there are none."""
    default = find_output(import_sounddevice(), None)
    return ", ".join(dict.fromkeys([default["name"], *(name for name, _ in list_outputs())]))


def list_outputs() -> list[tuple[str, int]]:
    """(name, number) of every output device; raises if there are none."""
    sounddevice = import_sounddevice()
    find_output(sounddevice, None)
    return [
        (d["name"], d["index"]) for d in sounddevice.query_devices() if d["max_output_channels"]
    ]


def import_sounddevice() -> ModuleType:
    """The package; raises where it or PortAudio itself is missing."""
    try:
        import sounddevice
    except ModuleNotFoundError as error:
        raise ForespeakError(
            "The package sounddevice is missing: pip install -r requirements.txt."
        ) from error
    except OSError as error:  # PortAudio itself cannot be loaded
        raise ForespeakError(
            "The PortAudio library is missing: install it (Debian: apt install libportaudio2)."
        ) from error
    return sounddevice


def find_output(sounddevice: ModuleType, number: int | None) -> dict[str, Any]:
    """The device of that number, or the one that plays unless another is asked for."""
    try:
        return sounddevice.query_devices(number, "output")
    except (sounddevice.PortAudioError, ValueError) as error:
        raise ForespeakError("No audio output device was found: connect one.") from error
