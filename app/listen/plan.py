"""What a facilitator asks for, checked before anything slow begins."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.listen.design import KINDS
from app.listen.verdict import least_trials
from app.listen.ways import CEILING, find_way
from app.orders import Order
from core.ceiling import Recorded
from core.errors import ForespeakError

MOST_TRIALS = 100
LONGEST_TEXT = 300  # characters: nobody can compare clips that take minutes


@dataclass(frozen=True)
class Plan:
    """recorded: the sentences of the codec ceiling by their texts, if a way needs them."""

    kind: str
    first: str
    second: str
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
        if kind not in KINDS:
            raise ForespeakError("Choose a kind of test: ABX or AB.")
        if not (first and second):
            raise ForespeakError("Choose two ways to compare.")
        if find_way(first) == find_way(second):
            raise ForespeakError("Both ways are the same: choose two different ones.")
        least = least_trials(kind)
        if trials is None or not least <= trials <= MOST_TRIALS or trials != int(trials):
            raise ForespeakError(
                f"Choose {least} to {MOST_TRIALS} trials: fewer can never be significant."
            )
        order = Order.from_controls("", *settings)
        needed = ceiling(order.voice) if CEILING in (first, second) else ()
        recorded = {sentence.text: sentence for sentence in needed}
        spoken = tuple(recorded) or clean_lines(texts or "")
        return cls(kind, first, second, int(trials), spoken, recorded, order)


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
