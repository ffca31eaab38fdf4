"""Whether a voice fits, asked before it is loaded."""

import re
from pathlib import Path

import torch

from core.errors import ForespeakError


def free_memory(device: torch.device) -> int | None:
    """Bytes that are free where the voice would lie; None where nobody can tell."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:  # what Linux could free counts, too; other systems are not asked
        available = re.search(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text())
    except OSError:
        return None
    return int(available[1]) * 1024 if available else None


def check_memory(name: str, need: int, device: torch.device, smaller: str) -> None:
    """Raise ForespeakError if a voice needs more bytes than are free; smaller: one that needs
    less."""
    free = free_memory(device)
    if free is None or need <= free:
        return
    choices = [f"choose the voice {smaller}"]
    choices += ["speak on the CPU (--device cpu)"] if device.type == "cuda" else []
    choices += ["close other programs"]
    raise ForespeakError(
        f"{name} needs about {need / 1e9:.1f} GB of memory, and {device.type} has "
        f"{free / 1e9:.1f} free: {', or '.join(choices)}."
    )
