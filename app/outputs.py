"""This computer's sound outputs, through PortAudio (sounddevice). The doctor asks here, too."""

from types import ModuleType
from typing import Any

from core.errors import ForespeakError


def describe_outputs() -> str:
    """The output devices, the default one first; raises if there are none."""
    sounddevice = import_sounddevice()
    default = default_output(sounddevice)
    names = [d["name"] for d in sounddevice.query_devices() if d["max_output_channels"]]
    return ", ".join(dict.fromkeys([default["name"], *names]))


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


def default_output(sounddevice: ModuleType) -> dict[str, Any]:
    """The device that plays unless another is asked for; raises if there is none."""
    try:
        return sounddevice.query_devices(kind="output")
    except (sounddevice.PortAudioError, ValueError) as error:
        raise ForespeakError(
            "No audio output device was found: connect one, or write a file with -o."
        ) from error
