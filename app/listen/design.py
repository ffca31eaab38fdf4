"""A listening test as it was prepared: nothing in it changes afterwards."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from core.errors import ForespeakError
from core.files import write_text

ABX, AB = "abx", "ab"
KINDS = {ABX: "ABX: which of A and B is X?", AB: "AB: which do you prefer?"}
QUESTIONS = {ABX: "Which of A and B is X?", AB: "Which do you prefer?"}
NEITHER = "none"  # what a listener who prefers neither answers
CHOICES = {ABX: ("A", "B"), AB: ("A", "B", NEITHER)}


@dataclass(frozen=True)
class Item:
    """What one trial plays: a text, spoken in both ways with one seed.

    clips: file names, of the first way and of the second; they tell neither. samples: of each
    clip; same: whether the two ways said the same, sample for sample.
    """

    text: str
    seed: int
    clips: tuple[str, str]
    samples: int
    same: bool


@dataclass(frozen=True)
class Terms:
    """What is compared, and how it was spoken: told with the votes. first, second: ways' names."""

    test: str
    version: str
    voice: str
    kind: str
    first: str
    second: str
    temperature: float
    top_p: float
    gamma: int
    rate: float


@dataclass(frozen=True)
class Design(Terms):
    """Everything that a listener must not know.

    key: given to whoever prepared the test; secret: what assignments are drawn from, never given
    to anyone.
    """

    key: str
    secret: str
    sample_rate: int
    items: tuple[Item, ...]
    at: str

    @property
    def trials(self) -> int:
        return len(self.items)

    @property
    def labels(self) -> str:
        """What the clips of a trial are called."""
        return "ABX" if self.kind == ABX else "AB"

    @property
    def same(self) -> bool:
        """Whether the two ways gave the same clip in every trial."""
        return all(item.same for item in self.items)

    def save(self, path: Path) -> None:
        write_text(path, json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: Path) -> "Design":
        """What `save` wrote."""
        try:
            return TypeAdapter(cls).validate_json(path.read_bytes(), strict=True)
        except (OSError, ValidationError) as error:
            raise ForespeakError("This test is damaged: prepare it again.") from error
