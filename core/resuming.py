"""A large file from the hub, over several calls if need be: what has come stays, the rest follows.

The hub's library goes on within one call only; it deletes what it has when that fails.
"""

from pathlib import Path
from urllib.parse import urlsplit


def bring(url: str, endpoint: str, blob: Path, size: int, lock: Path) -> None:
    """Append what still lacks of the file at `url`, which has `size` bytes; it becomes `blob` once
    all have come. A bar on standard error shows how far it is. Raises what the library raises.

    lock: the library's own for this file, so that nobody else writes it meanwhile.
    """
    from huggingface_hub.utils import WeakFileLock

    for folder in (blob.parent, lock.parent):
        folder.mkdir(parents=True, exist_ok=True)
    with WeakFileLock(lock):
        if blob.exists():
            return
        partial = partial_of(blob)
        if came(blob) > size:  # of no use to anybody
            partial.unlink()
        _append(url, endpoint, partial, size)
        partial.replace(blob)


def came(blob: Path) -> int:
    """How many bytes of a file have come that is not whole yet."""
    partial = partial_of(blob)
    return partial.stat().st_size if partial.exists() else 0


def partial_of(blob: Path) -> Path:
    """Where it grows."""
    return blob.with_name(f"{blob.name}.incomplete")


def _append(url: str, endpoint: str, partial: Path, size: int) -> None:
    from huggingface_hub import get_hf_file_metadata
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    headers = build_hf_headers() | {"Accept-Encoding": "identity"}  # bytes must count
    location = get_hf_file_metadata(url, headers=headers, endpoint=endpoint).location
    if urlsplit(location).netloc != urlsplit(endpoint).netloc:
        headers.pop("authorization", None)  # the hub's secret is not for those who store for it
    name = url.rpartition("/")[2]
    with partial.open("ab") as file:
        http_get(
            location,
            file,
            resume_size=file.tell(),
            headers=headers,
            expected_size=size,
            displayed_filename=name,
        )
