"""A listening test as it was prepared: nothing in it changes afterwards."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from core.errors import ForespeakError
from core.files import write_text

ABX, AB = "abx", "ab"
KINDS = {ABX: "ABX: which of A and B is X?", AB: "AB: which do you prefer?"}
QUESTIONS = {ABX: "Which of A and B is X?", AB: "Which do you prefer?"}
NEITHER = "none"  # what a listener who prefers neither answers
ANSWERS = {
    ABX: {"A": "X is A", "B": "X is B"},
    AB: {"A": "I prefer A", "B": "I prefer B", NEITHER: "No preference"},
}
MOST_TRIALS = 100
LEAST_HEARD_S = 1.0  # of each clip before a vote counts


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
    """What is compared, and how it was spoken: told with the votes.

    first, second: ways' names; their titles as they were then, for a later version may call them
    otherwise.
    """

    test: str
    version: str
    voice: str
    kind: str
    first: str
    second: str
    first_title: str
    second_title: str
    temperature: float
    top_p: float
    gamma: int
    rate: float


@dataclass(frozen=True)
class Design(Terms):
    """Everything that a listener must not know.

    key: given to whoever prepared the test; secret: what assignments are drawn from, never given
    to anyone. gain: for all clips, so that none is too loud for 16 bits.
    """

    key: str
    secret: str
    sample_rate: int
    gain: float
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
    def form(self) -> dict[str, Any]:
        """What a listener is asked, for the page."""
        answers = ANSWERS[self.kind].items()
        return {
            "test": self.test,
            "kind": self.kind,
            "trials": self.trials,
            "least_heard_s": LEAST_HEARD_S,
            "labels": list(self.labels),
            "answers": [{"choice": choice, "title": title} for choice, title in answers],
        }

    def save(self, path: Path) -> None:
        write_text(path, json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: Path) -> "Design":
        """What `save` wrote."""
        try:
            return TypeAdapter(cls).validate_json(path.read_bytes(), strict=True)
        except (OSError, ValidationError) as error:
            raise ForespeakError("This test is damaged: prepare it again.") from error
