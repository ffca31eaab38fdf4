"""Text to phonemes: normaliser, sentence splitter, phonemizer."""

from collections.abc import Iterator

from core.text.normalize import normalize_lines
from core.text.phonemize import Phonemes, Phonemizer
from core.text.sentences import split_sentences

__all__ = ["Phonemes", "Phonemizer", "prepare"]


def prepare(text: str) -> Iterator[str]:
    """The speakable sentences of any text, in order, each line read when it is due.

    Normalised first: it spells out the abbreviations whose dots would cut sentences, and it
    keeps the line ends, which separate list items.
    """
    for line in normalize_lines(text):
        yield from split_sentences(line)
