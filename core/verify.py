"""The accept rules: one table.

A rule is two functions that belong together: how the draft's token is drawn from q, and how
drafted tokens are verified against p. Both read their randomness from `Draws`. They are pure
functions of tensors: no model, no cache, no clock.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from torch import Tensor

from core.codec.groups import AcousticGroups
from core.errors import ForespeakError
from core.rules.exact import (
    Verdict,
    draft_independent,
    draft_same_seed,
    verify_block,
    verify_ratio,
    verify_same_seed,
)
from core.rules.relaxed import verify_groups, verify_ssd, verify_typical, verify_vadusa
from core.sampling import Draws


@dataclass(frozen=True)
class Tolerance:
    """How far a relaxed rule goes: a number from least to most, in its paper's letter.

    step: what makes a difference that is worth trying; a whole one says that the number is whole.
    """

    letter: str
    value: float
    least: float
    most: float
    step: float

    def check(self, value: float, rule: str) -> None:
        """Raises ForespeakError where the rule cannot go just so far."""
        if not self.least <= value <= self.most:
            raise ForespeakError(
                f"{self.letter} {value:g} of the rule {rule!r} is out of range: "
                f"choose {self.least:g} to {self.most:g}."
            )
        if float(self.step).is_integer() and not float(value).is_integer():
            raise ForespeakError(
                f"{self.letter} {value:g} of the rule {rule!r} is not whole: "
                f"choose a whole number from {self.least:g} to {self.most:g}."
            )


@dataclass(frozen=True)
class Rule:
    """A named accept rule; `lossless` is a claim that an enumeration test backs.

    acoustic: `verify` also takes the codec's groups.
    """

    name: str
    title: str
    lossless: bool
    draw: Callable[[Draws, int, Tensor], int]
    verify: Callable[[Sequence[int], Tensor, Tensor, Draws], Verdict]
    tolerance: Tolerance | None = None
    acoustic: bool = False

    def relaxed_by(self, value: float) -> "Rule":
        """The same with another tolerance. Raises ForespeakError where it has none."""
        if self.tolerance is None:
            raise ForespeakError(f"The rule {self.name!r} has no tolerance: leave it out.")
        self.tolerance.check(value, self.name)
        verify = partial(self.verify, tolerance=value)
        return replace(self, verify=verify, tolerance=replace(self.tolerance, value=value))

    def hearing(self, groups: AcousticGroups) -> "Rule":
        """The same for one codec, of an acoustic rule."""
        return replace(self, verify=partial(self.verify, groups=groups))


def relaxed(name: str, title: str, verify: Callable[..., Verdict], tolerance: Tolerance) -> Rule:
    """A rule that is not lossless, as it stands in the table."""
    verify = partial(verify, tolerance=tolerance.value)
    return Rule(name, title, False, draft_independent, verify, tolerance)


RULES = {
    rule.name: rule
    for rule in (
        Rule("lossless", "Speculative sampling", True, draft_independent, verify_ratio),
        Rule("block", "Block verification", True, draft_independent, verify_block),
        Rule("same-seed", "Gumbel match", True, draft_same_seed, verify_same_seed),
        relaxed("ssd", "SSD tolerance β", verify_ssd, Tolerance("β", 0.2, 0, 1, 0.05)),
        relaxed("vadusa", "VADUSA tolerance τ", verify_vadusa, Tolerance("τ", 3, 1, 100, 1)),
        replace(
            relaxed(
                "pcg", "PCG acoustic groups", verify_groups, Tolerance("radius", 0.8, 0, 2, 0.05)
            ),
            acoustic=True,
        ),
        relaxed("typical", "Medusa typical", verify_typical, Tolerance("ε", 0.09, 0, 1, 0.01)),
    )
}


def find_rule(name: str, tolerance: float | None = None) -> Rule:
    """The rule of that name; relaxed as far as said, or as its table entry says."""
    if name not in RULES:
        raise ForespeakError(f"Unknown rule {name!r}: choose one of {', '.join(RULES)}.")
    return RULES[name] if tolerance is None else RULES[name].relaxed_by(tolerance)
