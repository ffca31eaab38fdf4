"""What was measured, kept as it comes: a file of JSON lines that survives a crash.

The first line tells what the measurements depend on. A run that begins again with the same goes
on where the last one ended; one with anything else does not mix with it.
"""

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import torch
from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from core.engine import Engine, Settings
from core.errors import ForespeakError
from core.files import cannot_write
from core.matrix.cells import Cell
from core.metrics import Metrics
from core.trace import STRICT
from core.verify import RULES
from core.voices.base import ASSETS

SCHEMA = 1


@dataclass(frozen=True)
class Opinion:
    """Wrong words and words of a text as it was heard, and its opinion score (DNSMOS, overall)."""

    __pydantic_config__: ClassVar = STRICT

    errors: int
    words: int
    dnsmos: float


@dataclass(frozen=True)
class Sample:
    """One sentence in one cell, and the baseline right beside it.

    alpha: `core.costs.mean_acceptance`; predicted: speed-up; distance: from the target's
    distribution, `core.distance`; divergence: the first token that should be the baseline's and
    is not; opinions: None where nobody judged. What a baseline has not is None.
    """

    __pydantic_config__: ClassVar = STRICT

    cell: Cell
    sentence: int
    baseline: Metrics
    measured: Metrics
    alpha: float | None
    c: float | None
    predicted: float | None
    distance: float
    divergence: int | None
    opinion: Opinion | None
    baseline_opinion: Opinion | None

    @property
    def speedup(self) -> float:
        return self.measured.tokens_per_s / self.baseline.tokens_per_s


@dataclass(frozen=True)
class Header:
    """What the measurements depend on, beside their cells. weights: a checksum."""

    __pydantic_config__: ClassVar = STRICT

    version: str
    voice: str
    weights: str
    device: str
    machine: str
    threads: int
    torch: str
    seed: int
    rate: float
    top_k: int
    top_p: float
    sentences: tuple[str, ...]
    codebooks: int
    schema: int = SCHEMA

    @classmethod
    def of(
        cls, engine: Engine, settings: Settings, sentences: Iterable[str], version: str
    ) -> "Header":
        """version: of the program."""
        return cls(
            version=version,
            voice=engine.voice.name,
            weights=weights_checksum(ASSETS / engine.voice.name),
            device=str(engine.device),
            machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
            threads=torch.get_num_threads(),
            torch=torch.__version__,
            seed=settings.seed,
            rate=settings.rate,
            top_k=settings.sampling.top_k,
            top_p=settings.sampling.top_p,
            sentences=tuple(sentences),
            codebooks=engine.voice.codec.num_codebooks,
        )

    @property
    def mark(self) -> str:
        """Short, and another one as soon as anything differs."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:12]


class Results:
    """Samples by cell and sentence; of two of the same the later one counts."""

    def __init__(self, header: Header, samples: Iterable[Sample] = ()):
        self.header = header
        self._samples = {(sample.cell, sample.sentence): sample for sample in samples}

    def add(self, sample: Sample) -> None:
        self._samples[sample.cell, sample.sentence] = sample

    @property
    def samples(self) -> list[Sample]:
        return list(self._samples.values())

    @property
    def by_cell(self) -> Mapping[Cell, list[Sample]]:
        """In the order in which cells were first measured."""
        found: dict[Cell, list[Sample]] = {}
        for (cell, _), sample in self._samples.items():
            found.setdefault(cell, []).append(sample)
        return found

    def done(self, judged: bool) -> set[tuple[Cell, int]]:
        """What need not be measured again; judged: where somebody will say how it sounds, what
        nobody did say that of must."""
        return {key for key, sample in self._samples.items() if sample.opinion or not judged}


@contextmanager
def kept(path: Path, header: Header) -> Iterator["Kept"]:
    """The results in a file, which is made if it is not there; nobody else writes to it meanwhile.

    Raises ForespeakError if it holds those of something else, or cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(path.name + ".lock"), timeout=0):
            yield Kept(path, header)
    except Timeout as error:
        raise ForespeakError(
            f"Somebody is measuring into {path}: wait for them, or choose another file."
        ) from error
    except OSError as error:
        raise cannot_write(path, error) from error


class Kept(Results):
    """Results whose samples are in a file as soon as they are added."""

    def __init__(self, path: Path, header: Header):
        self._path = path
        if path.exists() and path.stat().st_size:
            found, whole = _read(path)
            _check_same(path, found.header, header)
            super().__init__(header, found.samples)
            os.truncate(path, whole)  # a line that a crash cut off
        else:
            super().__init__(header)
            self._append(asdict(header))

    def add(self, sample: Sample) -> None:
        super().add(sample)
        self._append(asdict(sample))

    def _append(self, line: dict[str, Any]) -> None:
        with self._path.open("ab") as file:
            file.write(json.dumps(line, allow_nan=False).encode() + b"\n")


def load_results(path: Path) -> Results:
    """A file of results, as it was measured, or as the JSON export has it."""
    return _read(path)[0]


def _read(path: Path) -> tuple[Results, int]:
    """The results, and how many bytes of the file they are: the last line may be cut off."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ForespeakError(f"Cannot read {path} ({error.strerror}).") from error
    try:
        exported = _exported(data)
        lines = exported or data.splitlines(keepends=True)
        if not exported and not lines[-1].endswith(b"\n"):
            lines.pop()
        header = TypeAdapter(Header).validate_json(lines[0], strict=True)
        adapter = TypeAdapter(Sample)
        samples = [adapter.validate_json(line, strict=True) for line in lines[1:]]
    except (ValidationError, IndexError, KeyError, TypeError) as error:
        raise ForespeakError(f"{path.name} holds no results of a bench, or is damaged.") from error
    if header.schema != SCHEMA or not all(_is_sound(header, sample) for sample in samples):
        raise ForespeakError(f"{path.name} holds results that this version cannot show.")
    return Results(header, samples), sum(map(len, lines))


def _exported(data: bytes) -> list[bytes]:
    """The lines that an export was made of; none if it is none."""
    try:
        found = json.loads(data)
    except ValueError:
        return []
    if not (isinstance(found, dict) and "samples" in found):
        return []
    return [json.dumps(line).encode() for line in (found["header"], *found["samples"])]


def _is_sound(header: Header, sample: Sample) -> bool:
    """Whether whoever shows it need not look further."""
    metrics = sample.baseline, sample.measured
    return (
        sample.cell.rule in RULES
        and 0 <= sample.sentence < len(header.sentences)
        and all(m.tokens_per_s > 0 for m in metrics)
        and all(len(m.per_codebook) == header.codebooks for m in metrics)
    )


def _check_same(path: Path, found: Header, wanted: Header) -> None:
    differing = [
        f.name for f in fields(Header) if getattr(found, f.name) != getattr(wanted, f.name)
    ]
    if differing:
        raise ForespeakError(
            f"{path} holds results of another {', '.join(differing)}: choose another file."
        )


def weights_checksum(folder: Path) -> str:
    """Of all weights in a folder; empty without one."""
    total = hashlib.sha256()
    files = sorted(folder.glob("*.safetensors"))
    for path in files:
        total.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16] if files else ""
