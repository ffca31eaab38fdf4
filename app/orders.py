"""What somebody asks for: a text, a voice, and how to speak it."""

from dataclasses import dataclass, replace
from typing import Any

from core.drafters import DRAFTS, check_draft
from core.engine import Settings
from core.errors import ForespeakError
from core.sampling import Sampling
from core.speedup import Outlook
from core.verify import find_rule
from core.voices.catalog import recommended_sampling

AUTOMATIC, ADAPTIVE = "automatic", "adaptive"
DRAFT, NO_DRAFT = "model", "none"
LONGEST_TEXT = 20_000  # characters


@dataclass(frozen=True)
class Order:
    """Checked. gamma 0 is the baseline, None lets the engine's costs decide; adaptive: anew in
    each round. draft: who guesses where somebody does. tolerance: None is the rule's own."""

    text: str
    voice: str
    gamma: int | None
    rule: str
    sampling: Sampling
    seed: int
    rate: float
    adaptive: bool = False
    draft: str = DRAFT
    tolerance: float | None = None

    @classmethod
    def from_controls(
        cls,
        text: str,
        voice: str,
        draft: str,
        rule: str,
        gamma: str | int,
        temperature: float,
        top_p: float,
        seed: float,
        rate: float,
        tolerance: str | float | None = None,
    ) -> "Order":
        """From what the page's controls hold. Raises where one is empty or out of range.

        tolerance: of a relaxed rule, may be empty; other rules have none, and pay no heed.
        """
        given: tuple[Any, ...] = (text, voice, draft, rule, gamma, temperature, top_p, seed, rate)
        if None in given:
            raise ForespeakError("A setting is empty: fill in every one.")
        if len(text) > LONGEST_TEXT:
            raise ForespeakError(
                f"The text has {len(text)} characters: give at most {LONGEST_TEXT}."
            )
        # What the page has no control for is as the voice is meant to speak.
        sampling = recommended_sampling(voice)
        check_draft(draft, (*DRAFTS, NO_DRAFT))
        chosen = None if gamma in (AUTOMATIC, ADAPTIVE) else int(gamma)
        order = cls(
            text=text,
            voice=voice,
            gamma=0 if draft == NO_DRAFT else chosen,
            rule=rule,
            sampling=replace(sampling, temperature=float(temperature), top_p=float(top_p)),
            seed=whole("Seed", seed),
            rate=float(rate),
            adaptive=gamma == ADAPTIVE,
            draft=DRAFT if draft == NO_DRAFT else draft,
            tolerance=number("Tolerance", tolerance) if find_rule(rule).tolerance else None,
        )
        order.settings(1)
        return order

    def settings(self, automatic_gamma: int, outlook: Outlook | None = None) -> Settings:
        """For the engine. outlook: what an adaptive γ goes by; without, it is the automatic one."""
        return self._settings(automatic_gamma if self.gamma is None else self.gamma, outlook)

    def baseline(self) -> Settings:
        """The same without a draft."""
        return self._settings(0)

    def drafted(self, automatic_gamma: int, outlook: Outlook | None = None) -> Settings:
        """The same with a draft, even if none was asked for."""
        return self._settings(self.gamma or automatic_gamma, outlook)

    def _settings(self, gamma: int, outlook: Outlook | None = None) -> Settings:
        settings = Settings(
            self.sampling,
            self.rule,
            gamma,
            self.seed,
            self.rate,
            self.tolerance,
            draft=self.draft,
        )
        if not (gamma and self.adaptive and outlook):
            return settings
        return replace(settings, gamma=outlook.widest, adaptive=outlook)


def number(name: str, text: str | float | None) -> float | None:
    """Of a text field, None if it is empty. Raises ForespeakError if it is no number."""
    if text in (None, ""):
        return None
    try:
        return float(text)
    except ValueError as error:
        raise ForespeakError(f"{name} {text!r} is not a number: give one, or none.") from error


def whole(name: str, value: float) -> int:
    """Of a number field. Raises ForespeakError rather than round what somebody typed."""
    if not float(value).is_integer():
        raise ForespeakError(f"{name} {value:g} is not whole: give a whole number.")
    return int(value)
