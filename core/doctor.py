"""The command `doctor`: what this computer has, and what to do about what it lacks.

It must run where packages are missing, so nothing but the standard library is imported above.

`SHA256SUMS` lists a voice's files as `sha256sum` prints them; after new weights:
`cd assets/joe && sha256sum *.json *.safetensors > SHA256SUMS`.
"""

import hashlib
import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from core.errors import ForespeakError

ROOT = Path(__file__).parents[1]
INSTALL = "pip install -r requirements.txt"
INSTALL_HUB = "pip install -r requirements-hub.txt"
RESTORE = "git checkout -- assets"
SUM = re.compile(r"([0-9a-f]{64}) [ *](\S+)")  # sha256sum marks a binary file with *


class State(Enum):
    """OK; WARNING: something works less well or not at all; BAD: it cannot speak."""

    OK = "ok"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at; `remedy` is empty where nothing is to be done."""

    name: str
    state: State
    found: str
    remedy: str = ""


def examine(voice: str, device: str, audio: Callable[[], str]) -> list[Check]:
    """All checks, in the order in which to mend things.

    audio: names the output devices or raises ForespeakError; core knows no loudspeakers.
    Raises for a voice or device that Forespeak does not have.
    """
    _refuse_unknown(voice, device)
    return [
        check_python(),
        *check_packages(ROOT / "requirements.txt"),
        attempt("device", lambda: _describe_device(device), INSTALL),
        check_cpu(),
        _check_audio(audio),
        *(check_assets(ROOT / "assets" / voice) if (ROOT / "assets" / voice).is_dir() else ()),
        *check_voices(),
        attempt("speech", lambda: _speak(voice, device), "mend what is BAD above"),
    ]


def can_speak(checks: Iterable[Check]) -> bool:
    """Whether nothing needed is missing."""
    return all(check.state is not State.BAD for check in checks)


def attempt(name: str, probe: Callable[[], str], remedy: str) -> Check:
    """A check that is good if `probe` returns what it found, and bad if it raises.

    remedy: what to do unless the error itself says it.
    """
    try:
        return Check(name, State.OK, probe())
    except ForespeakError as error:
        problem, _, own_remedy = str(error).partition(": ")
        return Check(name, State.BAD, problem, own_remedy or remedy)
    except Exception as error:
        return Check(name, State.BAD, f"{type(error).__name__}: {error}", remedy)


def check_python() -> Check:
    """The interpreter and the system; an older Python does not get as far as this."""
    found = f"{platform.python_version()}, {platform.system()} {platform.machine()}"
    return Check("Python", State.OK, found)


def check_packages(requirements: Path) -> Iterator[Check]:
    """Every package that the requirements name, with its version."""
    for line in requirements.read_text(encoding="utf-8").splitlines():
        wanted = line.partition("#")[0].strip()
        if wanted:
            yield _check_package(wanted)


def _check_package(wanted: str) -> Check:
    name = re.split(r"[<>=!~\[; ]", wanted, maxsplit=1)[0]
    try:
        found = version(name)
    except PackageNotFoundError:
        return Check(name, State.BAD, "missing", INSTALL)
    try:
        from packaging.requirements import Requirement
    except ImportError:  # reported where the requirements name it
        return Check(name, State.OK, found)
    allowed = Requirement(wanted).specifier
    if not allowed.contains(found, prereleases=True):
        return Check(name, State.BAD, f"{found} is not {allowed}", INSTALL)
    return Check(name, State.OK, found)


def check_cpu() -> Check:
    """Threads, and the kernels that make verification cheap on a CPU."""
    try:
        import torch
    except Exception as error:  # OSError where one of its libraries cannot be loaded (Windows)
        return Check("CPU", State.BAD, f"PyTorch cannot be imported ({error})", INSTALL)
    capability = torch.backends.cpu.get_cpu_capability()
    found = f"{os.cpu_count()} cores, {torch.get_num_threads()} threads, {capability}"
    if "fbgemm" in torch.backends.quantized.supported_engines:
        return Check("CPU", State.OK, f"{found}, FBGEMM")
    remedy = "expect several times slower decoding: use a GPU or an x86-64 CPU with AVX2"
    return Check("CPU", State.WARNING, f"{found}, no FBGEMM", remedy)


def check_assets(folder: Path) -> Iterator[Check]:
    """Every file that the voice's SHA256SUMS lists."""
    name = f"assets/{folder.name}"
    try:
        lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    except OSError:
        yield Check(name, State.WARNING, "no SHA256SUMS to check by", RESTORE)
        return
    except UnicodeDecodeError:
        lines = []
    sums = [SUM.fullmatch(line) for line in lines]
    if not sums or None in sums:
        yield Check(f"{name}/SHA256SUMS", State.BAD, "damaged: not a list of checksums", RESTORE)
    for match in filter(None, sums):
        digest, file = match.groups()
        yield _check_file(folder / file, digest)


def _check_file(path: Path, digest: str) -> Check:
    name = f"assets/{path.parent.name}/{path.name}"
    try:
        with path.open("rb") as file:
            found = hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        return Check(name, State.BAD, str(error.strerror), RESTORE)
    if found != digest:
        return Check(name, State.BAD, "damaged: its checksum differs", RESTORE)
    return Check(name, State.OK, f"{path.stat().st_size / 1e6:.1f} MB, checksum fits")


def check_voices() -> Iterator[Check]:
    """Every voice that is declared in assets/voices: whether it is here, its licence, and how fast
    it would be on this CPU."""
    for path in sorted((ROOT / "assets" / "voices").glob("*.toml")):
        check = attempt(f"voice {path.stem}", partial(_describe_voice, path.stem), INSTALL_HUB)
        # Whoever does not use it need not care.
        yield replace(check, state=State.WARNING) if check.state is State.BAD else check


def _describe_voice(name: str) -> str:
    from core.hub import Hub
    from core.voices.declaration import read_declaration
    from core.voices.declared import expect_rtf

    declaration, hub = read_declaration(name), Hub()
    for repository in declaration.repositories.values():
        if hub.find(repository) is None:
            raise ForespeakError(f"not here: launch.py fetch {name} ({declaration.licence})")
    rtf = expect_rtf(name, hub)
    return f"here, licence {declaration.licence}; RTF without a draft about {rtf:.1f} on this CPU"


def _check_audio(audio: Callable[[], str]) -> Check:
    check = attempt("audio output", audio, INSTALL)
    return replace(check, state=State.WARNING) if check.state is State.BAD else check


def _refuse_unknown(voice: str, device: str) -> None:
    """Raise for a voice or device that does not exist, if there is an engine to ask."""
    try:
        from core.engine import pick_device
        from core.voices.catalog import find_voice
    except Exception:  # what is broken shows in the checks
        return
    find_voice(voice)
    pick_device(device)


def _describe_device(name: str) -> str:
    import torch

    from core.engine import pick_device

    device = pick_device(name)
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def _speak(voice: str, device: str) -> str:
    """Really load the voice and say something."""
    from core.engine import Engine, Finished, Settings
    from core.metrics import measure

    for event in Engine.load(voice, device).synthesize("Hello there.", Settings()):
        if isinstance(event, Finished):
            metrics = measure(event.trace)
    return f"{metrics.audio_s:.1f} s of sound in {metrics.wall_s:.1f} s"
