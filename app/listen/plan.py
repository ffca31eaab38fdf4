"""What a facilitator asks for, checked before anything slow begins."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from app.listen.design import KINDS, MOST_TRIALS
from app.listen.verdict import least_trials
from app.listen.ways import CEILING, DRAFT_ALONE, Way, find_way
from app.orders import DRAFT, Order, whole
from core.ceiling import Recorded
from core.errors import ForespeakError
from core.voices.base import Voice

LONGEST_TEXT = 300  # characters: nobody can compare clips that take minutes


@dataclass(frozen=True)
class Plan:
    """recorded: the sentences of the codec ceiling by their texts, if a way needs them."""

    kind: str
    first: Way
    second: Way
    trials: int
    texts: tuple[str, ...]
    recorded: dict[str, Recorded]
    order: Order

    @classmethod
    def from_controls(
        cls,
        ceiling: Callable[[str], tuple[Recorded, ...]],
        kind: str | None,
        first: str | None,
        second: str | None,
        trials: float | None,
        texts: str | None,
        *settings: Any,
    ) -> "Plan":
        """Raises where something is missing or out of range.

        ceiling: gives the recorded sentences of a voice; then what the page's controls hold.
        texts: one a line; settings: those of `Order.from_controls` but the text, of which draft
        and rule do not matter: the ways decide.
        """
        if not isinstance(kind, str) or kind not in KINDS:
            raise ForespeakError("Choose a kind of test: ABX or AB.")
        if not all(isinstance(name, str) and name for name in (first, second)):
            raise ForespeakError("Choose two ways to compare.")
        ways = find_way(first), find_way(second)
        if ways[0] == ways[1]:
            raise ForespeakError("Both ways are the same: choose two different ones.")
        number = _trials(kind, trials)
        order = _order(settings)
        if CEILING not in (first, second):
            return cls(kind, *ways, number, _typed(texts, number, order), {}, order)
        recorded = {sentence.text: sentence for sentence in ceiling(order.voice)}
        if number > len(recorded):
            raise ForespeakError(
                f"Recorded speech has {len(recorded)} sentences: choose at most {len(recorded)} "
                "trials."
            )
        return cls(kind, *ways, number, tuple(recorded)[:number], recorded, order)

    def drafted_by(self, voice: Voice) -> "Plan":
        """With the first draft that the voice has. Raises where a way needs a model and there is
        none."""
        if DRAFT_ALONE in (self.first.name, self.second.name) and DRAFT not in voice.drafts:
            raise ForespeakError(
                f"{voice.name} has no draft model that could speak alone: choose another way."
            )
        return replace(self, order=replace(self.order, draft=voice.drafts[0]))


def _trials(kind: str, trials: Any) -> int:
    least = least_trials(kind)
    known = isinstance(trials, (int, float))
    if not known or not least <= trials <= MOST_TRIALS:
        raise ForespeakError(
            f"Choose {least} to {MOST_TRIALS} trials: fewer can never be significant."
        )
    return whole("The number of trials", trials)


def _order(settings: tuple[Any, ...]) -> Order:
    """The shared settings, whatever somebody sent in their place."""
    try:
        order = Order.from_controls("", *settings)
    except (TypeError, ValueError, OverflowError) as error:
        raise ForespeakError("A setting is of the wrong kind: set every one anew.") from error
    return replace(order, draft=DRAFT)  # votes do not tell drafts apart: see `Plan.drafted_by`


def _typed(texts: Any, trials: int, order: Order) -> tuple[str, ...]:
    """Texts for so many trials, none of which is the same as another."""
    found = clean_lines(texts if isinstance(texts, str) else "")
    if len(found) > trials:
        raise ForespeakError(
            f"There are {len(found)} texts for {trials} trials: choose at least {len(found)} "
            "trials, or fewer texts."
        )
    different = len(set(found))
    if order.sampling.temperature == 0 and different < trials:
        raise ForespeakError(
            f"At temperature 0 a text always sounds the same: {trials} trials need {trials} "
            f"different texts, and there are {different}."
        )
    return found


def clean_lines(texts: str) -> tuple[str, ...]:
    """A text of each line that is not blank, without whatever cannot be printed."""
    lines = (" ".join(line.split()) for line in texts.splitlines())
    printable = ("".join(filter(str.isprintable, line)) for line in lines)
    found = tuple(filter(None, printable))
    if not found:
        raise ForespeakError("There are no texts: give one on each line.")
    for number, text in enumerate(found, 1):
        if len(text) > LONGEST_TEXT:
            raise ForespeakError(
                f"Text {number} has {len(text)} characters: give at most {LONGEST_TEXT}."
            )
    return found
