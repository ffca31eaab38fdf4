"""Text to phonemes: normaliser, sentence splitter, phonemizer."""

from core.text.normalize import normalize
from core.text.phonemize import Phonemes, Phonemizer
from core.text.sentences import split_sentences

__all__ = ["Phonemes", "Phonemizer", "prepare"]


def prepare(text: str) -> list[str]:
    """The speakable sentences of any text, in order; [] if there is nothing to say.

    Normalised first: it spells out the abbreviations whose dots would cut sentences, and it
    keeps the line ends, which separate list items.
    """
    return split_sentences(normalize(text))
