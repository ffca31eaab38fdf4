"""Weights from a model hub: asked for by name, whole and verified, or one line that says why not.

Only safetensors are fetched: they hold numbers, and opening them runs nothing. What is here
already is used without asking the hub; what is not is only ever fetched when somebody said so.
"""

import errno
import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from core.errors import ForespeakError
from core.resuming import bring, came

INSTALL = "pip install -r requirements-hub.txt"
INDEX = "model.safetensors.index.json"
BLOCK = 2**22  # bytes that are hashed at a time
SHARD = re.compile(r"model-\d+-of-\d+\.safetensors")


@dataclass(frozen=True)
class Repository:
    """A model at one revision, and which of its files are wanted; `weights` are safetensors."""

    name: str
    revision: str = "main"
    files: tuple[str, ...] = ("config.json",)
    weights: bool = True

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Remote:
    """A file on the hub: bytes, and the SHA-256 that it must have (None for small text files)."""

    name: str
    size: int
    sha256: str | None


class Hub:
    """A hub and this computer's cache of it; by default those of the huggingface_hub package."""

    def __init__(self, endpoint: str | None = None, cache: Path | None = None):
        try:
            import huggingface_hub
            from huggingface_hub import constants
        except ImportError as error:
            raise ForespeakError(f"The package huggingface_hub is missing: {INSTALL}") from error
        self._library = huggingface_hub
        self.endpoint = (endpoint or constants.ENDPOINT).rstrip("/")
        self.cache = Path(cache or constants.HF_HUB_CACHE)

    def find(self, repository: Repository) -> Path | None:
        """The folder that holds everything wanted of it; None if something is not here."""
        found = [self._cached(repository, name) for name in repository.files]
        if repository.weights:
            found += self._cached_weights(repository)
        return found[0].parent if found and all(found) else None

    def require(self, repository: Repository, remedy: str) -> Path:
        """The same folder; ForespeakError with this remedy if something is not here."""
        folder = self.find(repository)
        if folder is None:
            raise ForespeakError(f"{repository} is not on this computer yet: {remedy}")
        return folder

    def missing(self, repository: Repository) -> list[Remote]:
        """What `download` would fetch, with the bytes that are still to come; asks the hub."""
        return self._missing(repository, self._wanted(repository))

    def download(self, repository: Repository) -> Path:
        """Fetch what is missing and verify all of it; bars on standard error show how far it is.

        What has arrived stays if the rest fails, and the next call goes on there; what is damaged
        is deleted.
        """
        wanted = self._wanted(repository)
        missing = {file.name for file in self._check_space(repository, wanted)}
        for file in wanted:
            with explained(repository, self.endpoint):
                if file.sha256 and file.name in missing:
                    self._fetch(repository, file)
                path = Path(
                    self._library.hf_hub_download(
                        repository.name,
                        file.name,
                        revision=repository.revision,
                        cache_dir=self.cache,
                        endpoint=self.endpoint,
                    )
                )
            verify(path, file, repository)
            if file.sha256 and not path.is_symlink():  # the library has copied it: no links here
                self._blob(repository, file).unlink(missing_ok=True)
        return self.require(repository, "fetch it again")

    def _fetch(self, repository: Repository, file: Remote) -> None:
        """Bring a large file to where the library looks for it, first."""
        url = self._library.hf_hub_url(
            repository.name, file.name, revision=repository.revision, endpoint=self.endpoint
        )
        blob = self._blob(repository, file)
        lock = self.cache / ".locks" / blob.parents[1].name / f"{blob.name}.lock"
        bring(url, self.endpoint, blob, file.size, lock)

    def _blob(self, repository: Repository, file: Remote) -> Path:
        """Where the library keeps a large file: under its SHA-256."""
        folder = f"models--{repository.name.replace('/', '--')}"
        return self.cache / folder / "blobs" / str(file.sha256)

    def _wanted(self, repository: Repository) -> list[Remote]:
        """The files that are wanted, as the hub has them."""
        with explained(repository, self.endpoint):
            info = self._library.HfApi(self.endpoint).model_info(
                repository.name, revision=repository.revision, files_metadata=True
            )
        there = {
            file.rfilename: Remote(
                file.rfilename, file.size or 0, file.lfs.sha256 if file.lfs else None
            )
            for file in info.siblings
        }
        names = [*repository.files]
        if repository.weights:
            names += weight_names(there, repository)
        for name in names:
            if name not in there:
                raise ForespeakError(
                    f"{repository} has no {name} at revision {repository.revision}: "
                    "name another revision."
                )
        return [there[name] for name in names]

    def _missing(self, repository: Repository, wanted: list[Remote]) -> list[Remote]:
        missing = []
        for file in wanted:
            if not self._cached(repository, file.name):
                here = came(self._blob(repository, file)) if file.sha256 else 0
                missing.append(replace(file, size=max(0, file.size - here)))
        return missing

    def _check_space(self, repository: Repository, wanted: list[Remote]) -> list[Remote]:
        """What is missing, for which there is room."""
        missing = self._missing(repository, wanted)
        need = sum(file.size for file in missing)
        place = next(folder for folder in (self.cache, *self.cache.parents) if folder.exists())
        free = shutil.disk_usage(place).free
        if need > free:
            raise no_space(repository, f"needs {need / 1e9:.1f} GB, {place} has {free / 1e9:.1f}")
        return missing

    def _cached(self, repository: Repository, name: str) -> Path | None:
        path = self._library.try_to_load_from_cache(
            repository.name, name, cache_dir=self.cache, revision=repository.revision
        )
        return Path(path) if isinstance(path, str) else None

    def _cached_weights(self, repository: Repository) -> list[Path | None]:
        """Of every weight file, as far as can be known here; [None] where that is nothing."""
        whole = self._cached(repository, "model.safetensors")
        index = self._cached(repository, INDEX)
        if whole or index is None:
            return [whole]
        return [self._cached(repository, name) for name in shard_names(index)]


def weight_names(there: Iterable[str], repository: Repository) -> list[str]:
    """Which of a repository's files are its weights."""
    if "model.safetensors" in there:
        return ["model.safetensors"]
    shards = sorted(filter(SHARD.fullmatch, there))
    if not shards:
        raise ForespeakError(
            f"{repository} has no safetensors at revision {repository.revision}, and Forespeak "
            "opens no other weights: name another revision."
        )
    return [INDEX, *shards]


def shard_names(index: Path) -> list[str]:
    """The weight files that an index names."""
    try:
        return sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ForespeakError(
            f"{index} is damaged: delete it, and fetch the voice again."
        ) from error


def verify(path: Path, file: Remote, repository: Repository) -> None:
    """Delete the file, and say so, unless it is what the hub says it is."""
    if file.sha256 is None:
        return
    digest = hashlib.sha256()
    with path.open("rb") as opened:
        while block := opened.read(BLOCK):
            digest.update(block)
    if digest.hexdigest() != file.sha256:
        path.resolve().unlink()  # in the cache it is a link
        path.unlink(missing_ok=True)
        raise ForespeakError(
            f"{file.name} of {repository} arrived damaged and was deleted: fetch the voice again."
        )


def no_space(repository: Repository, why: str) -> ForespeakError:
    return ForespeakError(
        f"The disk is too full for {repository} ({why}): make room, or set HF_HOME to another disk."
    )


@contextmanager
def explained(repository: Repository, endpoint: str) -> Iterator[None]:
    """What the library raises, as one line that says what to do."""
    import httpx2
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError as error:
        raise ForespeakError(
            f"{repository} asks for consent: accept its terms at {endpoint}/{repository}, then "
            "log in with: hf auth login"
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise ForespeakError(
            f"{endpoint} has no {repository}, or it is private: check the name, or log in with: "
            "hf auth login"
        ) from error
    except errors.RevisionNotFoundError as error:
        raise ForespeakError(
            f"{repository} has no revision {repository.revision}: name another one."
        ) from error
    except (OSError, httpx2.HTTPError) as error:
        raise _unfinished(error, repository, endpoint) from error


def _unfinished(error: Exception, repository: Repository, endpoint: str) -> ForespeakError:
    """Why a file that exists did not come."""
    import httpx2
    from huggingface_hub import errors

    if getattr(error, "errno", None) == errno.ENOSPC:
        return no_space(repository, "nothing is left")
    cut = isinstance(error, httpx2.RemoteProtocolError) or "Consistency check" in str(error)
    if cut:
        return ForespeakError(
            f"The download of {repository} broke off: start it again; what has arrived stays."
        )
    if isinstance(error, errors.HfHubHTTPError):
        status = error.response.status_code
        return ForespeakError(f"{endpoint} refused {repository} (error {status}): try again later.")
    if isinstance(error, PermissionError):
        return ForespeakError(f"Cannot write {error.filename}: set HF_HOME to another folder.")
    return ForespeakError(
        f"Cannot reach {endpoint} for {repository}: check the network, or copy the hub's cache "
        "from a computer that has it."
    )
