"""Texts in other scripts than the voice reads: they are spoken, but whoever wrote them should know
how."""

import unicodedata
from itertools import pairwise

SPELLED = (
    "Letters that are not Latin were spelled in Latin ones, and read as English: the voice speaks "
    "no other language."
)

SPELLED_SHORT = "Other scripts were spelled in Latin letters."  # where there is one line


def spelled(text: str) -> bool:
    """Whether words of a text are written in another script. A single Greek letter is a symbol,
    which has a name; an ideograph is a word."""
    letters = [_foreign(c) for c in unicodedata.normalize("NFKC", text)]
    return "Lo" in letters or any(one and other for one, other in pairwise(letters))


def _foreign(character: str) -> str:
    """The category of a letter of another script, "" of anything else."""
    category = unicodedata.category(character)
    is_letter = category.startswith("L") and not character.isascii()
    latin = unicodedata.name(character, "").startswith("LATIN")
    return category if is_letter and not latin else ""
