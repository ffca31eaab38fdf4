"""Text to the phonemes the teacher voice was trained on: espeak-ng, offline, in Piper's spelling.

The teacher saw phonemes from a newer espeak-ng than any light pip package bundles and through a
call (`espeak_TextToPhonemesWithTerminator`) that only Piper's own build has. Both are bridged
here and checked against the texts of the voice kit: see `_linking_marks`, `_terminator` and
`_NEWER_DICTIONARY`.
"""

from __future__ import annotations

import ctypes
import json
import re
import threading
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.errors import ForespeakError
from core.text.align import align_words

_PHONEME_MAP = Path(__file__).parents[2] / "assets" / "joe" / "phonemes.json"

_VOICE = b"en-us"  # Piper's setting for en_US-joe-medium

# Constants of espeak-ng's speak_lib.h.
_AUDIO_OUTPUT_SYNCHRONOUS = 2
_INITIALIZE_DONT_EXIT = 0x8000  # without it, missing data ends the whole Python process
_CHARS_UTF8 = 1
_PHONEMES_MNEMONIC = 0
_PHONEMES_IPA = 2
_SEPARATOR = "\x01"  # asked for between phonemes; a character that is never a phoneme

# Phrases whose pronunciation changed between espeak-ng 1.52.0 and the teacher's build.
_NEWER_DICTIONARY = {"hˈæzbiːn": "hɐzbɪn"}

_LANGUAGE_FLAG = re.compile(r"\([^)]+\)")  # "(fr)" ... "(en-us)" around foreign words
_PIECE = re.compile(f"([{_SEPARATOR} ])")
_PUNCTUATION = dict(zip(".?!,:;—", ".?!,:;;", strict=True))
_CLAUSE_END = re.compile(r"([.?!,:;—]+)(?:[^\w.?!,:;—]+(\w?)[^\w.?!,:;—]*)?$")
_WORD = re.compile(r"[^\W_]+(?:['’.&/-]+[^\W_]+|,\d+)*")

# espeak-ng keeps its state in globals of the C library, so the lock belongs to the process.
_ESPEAK_LOCK = threading.Lock()


@dataclass(frozen=True)
class Phonemes:
    """The phonemes of one sentence; `ids`, `symbols` and `word_index` have the same length.

    ids: Piper ids, from ^ to $, blanks removed.
    symbols: the IPA (or punctuation) character of each id.
    words: the sentence's words as written, without punctuation around them.
    word_index: the index into `words` that each id belongs to, -1 for none (^, $, pauses).
    """

    ids: tuple[int, ...]
    symbols: tuple[str, ...]
    words: tuple[str, ...]
    word_index: tuple[int, ...]


@dataclass(frozen=True)
class _Clause:
    """What espeak-ng reads at one go: characters start..end of the text, and their IPA."""

    start: int
    end: int
    ipa: str  # phonemes, words apart by a space, without the terminator
    terminator: str  # "", or one of . ? ! or ", " "; " ": "


class Phonemizer:
    """Phonemes of speakable English sentences. Safe under threads; instances are cheap.

    Raises ForespeakError if the phoneme map or the espeak-ng package is missing or broken.
    """

    def __init__(self, phoneme_map: Path = _PHONEME_MAP) -> None:
        try:
            spec = json.loads(phoneme_map.read_text(encoding="utf-8"))
            self._ids: dict[str, int] = spec["ids"]
        except (OSError, ValueError, KeyError) as error:
            raise ForespeakError(
                f"Cannot read the phoneme map {phoneme_map} ({error}): restore the assets folder."
            ) from error

    def __call__(self, sentence: str) -> Phonemes:
        """Phonemes of `sentence`; only ^ and $ if it holds nothing that espeak-ng can say."""
        sentence = _safe_for_espeak(sentence)
        spans = [match.span() for match in _WORD.finditer(sentence)]
        words = tuple(sentence[start:end] for start, end in spans)
        with _ESPEAK_LOCK:
            library = _library()
            clauses = list(_clauses(library, sentence))
            alone = {word: _pronounce(library, word) for word in dict.fromkeys(words)}
        symbols, word_index = ["^"], [-1]
        for clause in clauses:
            inside = [i for i, (a, b) in enumerate(spans) if a < clause.end and b > clause.start]
            references = [(i, _decompose(alone[words[i]])) for i in inside]
            ipa = self._known(clause.ipa)
            terminator = self._known(clause.terminator)
            symbols += ipa + terminator
            word_index += align_words("".join(ipa), references) + [-1] * len(terminator)
        symbols.append("$")
        word_index.append(-1)
        ids = tuple(self._ids[symbol] for symbol in symbols)
        return Phonemes(ids, tuple(symbols), words, tuple(word_index))

    def _known(self, ipa: str) -> list[str]:
        """The characters that the voice has an id for; Piper drops the others too."""
        return [symbol for symbol in _decompose(ipa) if symbol in self._ids]


def _decompose(ipa: str) -> str:
    """IPA with accents as characters of their own, as in Piper's phoneme map."""
    return unicodedata.normalize("NFD", ipa)


def _safe_for_espeak(text: str) -> str:
    """`text` without what would cut it (NUL), cannot be encoded, or upsets espeak-ng.

    Two final stops ("etc..") leave a pending "dot" inside espeak-ng, so they become one.
    """
    text = text.encode("utf-8", "ignore").decode("utf-8").replace("\0", " ")
    return re.sub(r"(?<!\.)\.\.(\s*)$", r".\1", text)


@cache
def _library() -> ctypes.CDLL:
    """The espeak-ng C library, loaded and set to the teacher's voice; call it under the lock."""
    try:
        import espeakng_loader  # here, so that importing this module stays free of side effects

        library = ctypes.CDLL(espeakng_loader.get_library_path())
        data = espeakng_loader.get_data_path()
    except (ImportError, OSError, RuntimeError) as error:
        raise ForespeakError(
            f"espeak-ng cannot be loaded ({error}): run `pip install -r requirements.txt` again."
        ) from error
    options = _INITIALIZE_DONT_EXIT
    rate = library.espeak_Initialize(_AUDIO_OUTPUT_SYNCHRONOUS, 0, data.encode(), options)
    if rate <= 0 or library.espeak_SetVoiceByName(_VOICE) != 0:
        raise ForespeakError(
            f"espeak-ng found no voice en-us in {data}: reinstall the package espeakng-loader."
        )
    library.espeak_TextToPhonemes.restype = ctypes.c_char_p
    library.espeak_TextToPhonemes.argtypes = [
        ctypes.POINTER(ctypes.c_void_p),
        ctypes.c_int,
        ctypes.c_int,
    ]
    return library


def _read(library: ctypes.CDLL, text: str, mode: int) -> Iterator[tuple[str, str]]:
    """(phonemes, characters read) of each clause of `text`; the characters add up to `text`."""
    data = text.encode("utf-8")
    buffer = ctypes.create_string_buffer(data)
    base = ctypes.addressof(buffer)
    pointer, done = ctypes.c_void_p(base), 0
    while pointer.value:
        phonemes = library.espeak_TextToPhonemes(ctypes.byref(pointer), _CHARS_UTF8, mode)
        position = pointer.value - base if pointer.value else len(data)
        yield phonemes.decode("utf-8"), data[done:position].decode("utf-8", "replace")
        done = position


def _read_whole(library: ctypes.CDLL, text: str, mode: int) -> list[tuple[str, str]]:
    """All of `_read`, then an empty text: it flushes what espeak-ng would say in the next call."""
    clauses = list(_read(library, text, mode))
    list(_read(library, "", mode))
    return clauses


def _pronounce(library: ctypes.CDLL, word: str) -> str:
    """A word said on its own, without spaces; for alignment only."""
    ipa = "".join(phonemes for phonemes, _ in _read_whole(library, word, _PHONEMES_IPA))
    return _LANGUAGE_FLAG.sub("", ipa).replace(" ", "")


def _clauses(library: ctypes.CDLL, text: str) -> Iterator[_Clause]:
    """The clauses of `text` as espeak-ng cuts them, with Piper's terminators."""
    separator = ord(_SEPARATOR) << 8
    ipa = _read_whole(library, text, _PHONEMES_IPA | separator)
    mnemonics = _read_whole(library, text, _PHONEMES_MNEMONIC | separator)
    start = read = 0
    for (phonemes, source), (names, _) in zip(ipa, mnemonics, strict=True):
        read += len(source)
        terminator, ahead = _terminator(source)
        yield _Clause(start, read - ahead, _linking_marks(phonemes, names), terminator)
        start = read - ahead


def _linking_marks(phonemes: str, names: str) -> str:
    """IPA of a clause with a ʲ wherever espeak-ng has its linking phoneme ";" ("be able").

    espeak-ng 1.52.0 writes that phoneme as nothing, the teacher's newer build as ʲ, so the
    mnemonic names tell where it stands.
    """
    pieces, named = _PIECE.split(phonemes), _PIECE.split(names)
    if len(pieces) == len(named):
        pieces = [p or ("ʲ" if n == ";" else "") for p, n in zip(pieces, named, strict=True)]
    ipa = _LANGUAGE_FLAG.sub("", "".join(pieces).replace(_SEPARATOR, ""))
    for older, newer in _NEWER_DICTIONARY.items():
        ipa = ipa.replace(older, newer)
    return ipa


def _terminator(source: str) -> tuple[str, int]:
    """Piper's clause terminator for the characters espeak-ng read, and how many lie beyond it.

    espeak-ng looks one word character ahead to decide whether a mark ends the clause; that
    character belongs to the next clause. A stop before a small letter and an ellipsis end a
    clause without a terminator.
    """
    match = _CLAUSE_END.search(source)
    if not match:
        return "", 0
    marks, ahead = match.group(1), match.group(2) or ""
    beyond = len(source) - match.start(2) if ahead else 0
    if marks.startswith("..") or (marks[0] == "." and ahead.islower()):
        return "", beyond
    mark = _PUNCTUATION[marks[0]]
    return (mark + " " if mark in ",:;" else mark), beyond
