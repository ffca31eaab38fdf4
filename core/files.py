"""Writing what the user asked for: whole or not at all."""

import os
from contextlib import suppress
from pathlib import Path

from core.errors import ForespeakError


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 so that `path` holds the old text or the new one, never a part of it."""
    try:
        if path.exists() and not path.is_file():  # a pipe or a device: nothing to keep whole
            path.write_text(text, encoding="utf-8")
        else:
            _replace(path.resolve(), text)  # resolved, or a link would be replaced by a file
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> ForespeakError:
    """What to tell the user when writing `path` failed."""
    return ForespeakError(f"Cannot write {path} ({error.strerror}): choose another place.")


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError:
        with suppress(OSError):
            beside.unlink()
        raise
