"""Normalised text -> sentences short enough to be synthesised one by one."""

from __future__ import annotations

import re

_END = re.compile(r"[.?!][\"')]*$")
_SHORT_WORDS = 2  # "Yes." has too little to say on its own; it joins a neighbour of its line
# Where an overlong sentence may be cut, best first: after these.
_CUTS = (re.compile(r"(?<=[;:])\s"), re.compile(r"(?<=,)\s"), re.compile(r"\s"))


def split_sentences(text: str, max_chars: int = 220) -> list[str]:
    """The sentences of `text` in order, each at most `max_chars` long and with a final mark.

    A line end always ends a sentence. No letter and no digit is lost, repeated or moved.
    Raises ValueError if `max_chars` leaves no room for a letter and its full stop.
    """
    if max_chars < 2:
        raise ValueError(f"max_chars must be at least 2, not {max_chars}")
    sentences = []
    for line in text.splitlines():
        parts = [p for part in _segment(line) for p in _shorten(part, max_chars - 1)]
        sentences += [_finish(part) for part in _join_short(parts, max_chars - 1)]
    return sentences


def _segment(line: str) -> list[str]:
    """sentencex's sentences that hold a letter or digit; a stray mark goes to nobody."""
    from sentencex import segment

    parts = (part.strip() for part in segment("en", line))
    return [part for part in parts if any(c.isalnum() for c in part)]


def _shorten(sentence: str, limit: int) -> list[str]:
    """`sentence` in parts of at most `limit` characters, cut as gently as possible.

    Clauses first, then words, and inside a word only if it is longer than `limit` by itself.
    """
    parts = []
    while len(sentence) > limit:
        cut = _last_cut(sentence, limit)
        parts.append(sentence[:cut].strip())
        sentence = sentence[cut:].strip()
    return [part for part in (*parts, sentence) if any(c.isalnum() for c in part)]


def _last_cut(sentence: str, limit: int) -> int:
    """Where to cut: the last good place in the second half of the room, else a worse one."""
    for pattern in _CUTS:
        places = [match.end() for match in pattern.finditer(sentence, 0, limit + 1)]
        if places and (places[-1] > limit // 3 or pattern is _CUTS[-1]):
            return places[-1]
    return limit


def _join_short(parts: list[str], limit: int) -> list[str]:
    """Very short parts joined to the one before, or to the next one at the start of a line."""
    joined: list[str] = []
    for part in parts:
        is_short = len(part.split()) <= _SHORT_WORDS
        after_short = len(joined) == 1 and len(joined[0].split()) <= _SHORT_WORDS
        if joined and (is_short or after_short) and len(joined[-1]) + 2 + len(part) <= limit:
            joined[-1] = f"{_finish(joined[-1])} {part}"
        else:
            joined.append(part)
    return joined


def _finish(sentence: str) -> str:
    """`sentence` with a final mark: without one the voice would end in mid-air."""
    if _END.search(sentence):
        return sentence
    return sentence.rstrip(" ,;:-(") + "."
