"""Checks on what the user names: files to read, files to write. Before anything slow begins."""

import sys
from pathlib import Path

from core.errors import ForespeakError
from core.files import cannot_write


def read_text(text: str | None, file: Path | None) -> str:
    """The text to say: given, from a file, or from standard input where it is "-"."""
    if (text is None) == (file is None):
        raise ForespeakError('Give a text or --file, one of them: say "Hello there."')
    if file is not None:
        text = _decode(_read_file(file), str(file))
    elif text == "-":
        text = _decode(sys.stdin.buffer.read(), "Standard input")
    if not text.strip():
        raise ForespeakError("There is nothing to say: give some text with letters or digits.")
    return text


def check_writable(path: Path) -> None:
    """Raise unless a file can be written at `path`; what is there already stays as it is."""
    existed = path.exists()
    try:
        with path.open("ab"):
            pass
    except OSError as error:
        raise cannot_write(path, error) from error
    if not existed:
        path.unlink()


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ForespeakError(f"Cannot read {path} ({error.strerror}): check its name.") from error


def _decode(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ForespeakError(f"{source} is not UTF-8 text: save it as UTF-8.") from error
