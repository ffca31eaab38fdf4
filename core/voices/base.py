"""What the engine asks of a voice; everything that differs between families hides behind it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from core.codec.base import Codec
from core.drafters import Drafter, LanguageModel
from core.sampling import Sampling
from core.trace import Sentence

ASSETS = Path(__file__).parents[2] / "assets"


@dataclass(frozen=True)
class Plan:
    """A sentence ready to be decoded: what will be shown, and what the models are fed.

    stop: the token that ends the sentence, where one can: entry V, behind those of the codebook;
    `sentence.frames` is then how long it may become. span: drafts must not cross a multiple of so
    many tokens, if any. before: what has to be said first, if anything.
    """

    sentence: Sentence
    conditioning: Any
    stop: int | None = None
    span: int | None = None
    before: "Stage | None" = None


@dataclass(frozen=True)
class Stage:
    """Tokens that are no sound yet: a target and a draft say them, and a plan comes of them.

    name: what they are called.
    """

    name: str
    target: LanguageModel
    draft: LanguageModel
    length: int
    stop: int | None
    then: Callable[[list[int]], Plan]


class Voice(Protocol):
    """A target, its draft, their codec and the text front end. Shared by concurrent runs."""

    name: str
    codec: Codec
    drafts: Sequence[str]
    """Which of `core.drafters.DRAFTS` it has; "model" and "ngram" need nothing more than below."""

    def sentences(self, text: str) -> Iterable[str]:
        """The speakable sentences of any text, none if there are none; lazily, if it can."""

    def plan(self, sentence: str, rate: float) -> Plan:
        """Phonemes, durations (at `rate` times the natural pace) and conditioning."""

    def target(self, plan: Plan) -> LanguageModel:
        """The target at the sentence's beginning."""

    def draft(self, plan: Plan) -> LanguageModel:
        """The draft at the sentence's beginning."""

    def fed_draft(
        self, name: str, plan: Plan, target: LanguageModel, sampling: Sampling
    ) -> Drafter:
        """Any other of `drafts`: one that reads what this target made of its positions."""
