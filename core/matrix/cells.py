"""What is compared: one cell per draft, rule, γ and temperature; the baseline is a cell as well."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from core.drafters import DRAFTS, check_draft
from core.errors import ForespeakError
from core.lm.capture import MAX_GAMMA
from core.verify import RULES, find_rule

NO_DRAFT = "none"
ADAPTIVE = "adaptive"


@dataclass(frozen=True)
class Cell:
    """One way of speaking. gamma: 0 is the baseline, None is adaptive; tolerance: of a relaxed
    rule, None for others."""

    draft: str
    rule: str
    gamma: int | None
    temperature: float
    tolerance: float | None = None

    @property
    def name(self) -> str:
        """Its own among all cells; of plain letters."""
        if self.is_baseline:
            return f"baseline-t{self.temperature:g}"
        rule = self.rule if self.tolerance is None else f"{self.rule}{self.tolerance:g}"
        gamma = ADAPTIVE if self.gamma is None else self.gamma
        return f"{self.draft}-{rule}-{gamma}-t{self.temperature:g}"

    @property
    def is_baseline(self) -> bool:
        return self.gamma == 0

    @property
    def lossless(self) -> bool:
        return RULES[self.rule].lossless


def grid(
    drafts: Iterable[str],
    rules: Iterable[str],
    gammas: Iterable[int | str],
    temperatures: Iterable[float],
    offered: Sequence[str] = tuple(DRAFTS),
) -> list[Cell]:
    """A baseline for each temperature, then every combination; each only once.

    rules: by name, "ssd:0.1" with a tolerance. gammas: numbers, or "adaptive". offered: the
    drafts that the voice has. Raises ForespeakError for what there is not, or if nothing is
    chosen.
    """
    drafts, temperatures = list(drafts), list(temperatures)
    chosen = [_rule(text) for text in rules]
    windows = [_gamma(gamma) for gamma in gammas]
    for what, found in (("draft", drafts), ("rule", chosen), ("γ", windows)):
        if not found:
            raise ForespeakError(f"No {what} is chosen: choose at least one.")
    for draft in drafts:
        check_draft(draft, offered)
    cells = [Cell(NO_DRAFT, "lossless", 0, temperature) for temperature in temperatures]
    for temperature, (rule, tolerance), draft, gamma in product(
        temperatures, chosen, drafts, windows
    ):
        cells.append(Cell(draft, rule, gamma, temperature, tolerance))
    return list(dict.fromkeys(cells))


def todo(
    cells: Sequence[Cell], sentences: int, done: Iterable[tuple[Cell, int]]
) -> Iterator[tuple[Cell, int]]:
    """(cell, number of the sentence) of what is not done yet: all cells with the first sentence,
    then all with the next, so that what is there at any time compares all."""
    known = set(done)
    for number, cell in product(range(sentences), cells):
        if (cell, number) not in known:
            yield cell, number


def _rule(text: str) -> tuple[str, float | None]:
    """A name, and how far the rule goes if it is a relaxed one."""
    name, colon, tolerance = text.partition(":")
    try:
        rule = find_rule(name, float(tolerance) if colon else None)
    except ValueError as error:
        raise ForespeakError(
            f"{tolerance!r} is no tolerance of the rule {name!r}: give a number."
        ) from error
    return name, rule.tolerance and rule.tolerance.value


def _gamma(gamma: int | str) -> int | None:
    if gamma == ADAPTIVE:
        return None
    if not (str(gamma).isdecimal() and 1 <= int(gamma) <= MAX_GAMMA):
        raise ForespeakError(f"γ {gamma} is out of range: choose 1 to {MAX_GAMMA}, or {ADAPTIVE}.")
    return int(gamma)
