"""Any text a user may paste -> plain English that can be spoken.

ftfy mends the characters, kitten-text-processing (NeMo's grammars) reads numbers, dates, money,
units and abbreviations, anyascii spells foreign letters. The rules below cover only what those
get wrong; each says what for. Emoji and other pictures are dropped: they decorate, and their
names ("slightly smiling face") interrupt the sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

_Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]

_PIECE_CHARS = 200  # kitten's time grows faster than the text, so long sentences go in pieces
_COSTLY = re.compile(r"\d+|\.\w")  # numbers, and joints as in U.S.
_MOST_COSTLY = 12  # in a piece
_LONGEST_WORD = 60
_PATH_CHARS = 40  # the path of a longer URL is not spoken
_HOST_CHARS = 80  # a longer host is just called "link"
_END_MARKS = ".!?"


def normalize(text: str) -> str:
    """Speakable English, one line per line of `text` that holds anything speakable, else "".

    Plain English text comes back as it is, so normalising twice changes nothing.
    """
    return "\n".join(normalize_lines(text))


def normalize_lines(text: str) -> Iterator[str]:
    """The lines of `normalize`, each read only when it is asked for."""
    lines = map(_normalize_line, _mend(text).splitlines())
    return (line for line in lines if line)


def _normalize_line(line: str) -> str:
    from sentencex import segment

    for pattern, replacement in (*_MARKUP, *_WEB, *_NUMBERS, *_SYMBOLS):
        line = pattern.sub(replacement, line)
    line = _transliterate(line)
    spoken = (_verbalize(sentence.strip()) for sentence in segment("en", line))
    return _tidy(" ".join(spoken))


# --- characters -----------------------------------------------------------------------------


def _mend(text: str) -> str:
    """Mojibake, compatibility forms and curly quotes mended; invisible characters removed."""
    import ftfy

    text = text.encode("utf-8", "ignore").decode("utf-8")  # lone surrogates
    text = ftfy.fix_text(text)
    for pattern, replacement in _BEFORE_NFKC:
        text = pattern.sub(replacement, text)
    text = unicodedata.normalize("NFKC", text)
    text = text.replace("\t", " ").replace("\N{FRACTION SLASH}", "/")
    text = "".join(c for c in text if c == "\n" or unicodedata.category(c) not in ("Cc", "Cf"))
    # Long runs of spaces would cost the rules below quadratic time.
    text = re.sub(r"[^\S\n]+", " ", text)
    return _WRAP.sub(" ", re.sub(r" ?\n ?", "\n", text))


# A line of prose that goes on in the next one: long, no mark at its end, a small letter follows.
_WRAP = re.compile(r"(?<=[^\n]{40})(?<![.!?:;])\n(?=[a-z])")

# NFKC would glue these to the number before them: 2½ -> 21/2, x² -> x2, 20º -> 20o.
_BEFORE_NFKC: tuple[_Rule, ...] = (
    (re.compile(r"(?<=\d)(?=[¼-¾⅐-⅞])"), " "),
    (re.compile("²"), " squared"),
    (re.compile("³"), " cubed"),
    (re.compile("[º˚]"), "°"),
    (re.compile("[™®©]"), ""),
    (re.compile("[\u2028\u2029\x0b\x0c\x85]"), "\n"),
)


def _transliterate(text: str) -> str:
    """Foreign letters and digits in Latin ones; Western European letters stay for espeak-ng."""
    return "".join(map(_spell, unicodedata.normalize("NFC", text)))


def _spell(character: str) -> str:
    if character.isascii() or unicodedata.category(character)[0] not in "LMN":
        return character
    if character <= "ÿ" and character not in "ßæþðÆÞÐ":
        return character
    from anyascii import anyascii

    # An ideograph is a syllable: kept apart, they stay pronounceable.
    return f" {anyascii(character)} " if _IDEOGRAPH.match(character) else anyascii(character)


_IDEOGRAPH = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


# --- rules, applied in this order ------------------------------------------------------------

_MARKUP: tuple[_Rule, ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"^\s*(?:```|~~~).*$", ""),  # code fence
        (r"^\s*(?:[-*_=]\s*){3,}$", ""),  # horizontal rule
        (r"^\s*(?:>\s?)+", ""),  # quotation
        (r"^\s*#{1,6}\s+", ""),  # heading
        (r"^\s*[-*+•‣▪◦]\s+(?:\[[ xX]\]\s+)?", ""),  # bullet, task
        (r"^\s*(\d{1,3})[.)]\s+", r"\1, "),  # "1. item": the number does not end a sentence
        (r"!?\[([^\]]*)\]\([^)]*\)", r"\1"),  # link, image
        (r"(\*{1,3}|~~|`+)(?=\S)(.+?)(?<=\S)\1", r"\2"),  # emphasis, code
        (r"(?<!\w)(_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)", r"\2"),
        (r"</?[a-zA-Z]\w*\s*/?>", " "),  # bare tags; others are read as words, without marks
        (r"\s*\|\s*", ", "),  # table cell
    )
)


def _say_address(text: str) -> str:
    """host or file names as said: "dot" and "slash", the other joints are pauses."""
    text = re.sub(r"[^\w./-]", " ", text)
    text = re.sub(r"\.", " dot ", text)
    text = re.sub(r"/", " slash ", text)
    return re.sub(r"[_-]+", " ", text)


def _say_url(match: re.Match[str]) -> str:
    """Host, and the path if it is short. The scheme, the query and the fragment say nothing."""
    url, end = re.fullmatch(r"(.*?)([.,;:!?)\]}'\"]*)", match.group(), re.DOTALL).groups()
    url = re.sub(r"^(?:\w+://)?(?:[^/@]*@)?(?:www\.)?", "", url)
    host, _, path = re.split(r"[?#]", url)[0].rstrip("/").partition("/")
    host = host.partition(":")[0] if len(host) <= _HOST_CHARS else "link"
    path = f"/{path}" if 0 < len(path) <= _PATH_CHARS else ""
    return f" {_say_address(host + path)}{end}"


def _say_email(match: re.Match[str]) -> str:
    local = match.group(1).replace("+", " plus ").replace("_", " underscore ")
    local = local.replace("-", " dash ")
    return f"{_say_address(local)} at {_say_address(match.group(2))}"


_WEB: tuple[_Rule, ...] = (
    (re.compile(r"(?:\b(?:https?|ftp|file)://|\bwww\.)\S+", re.IGNORECASE), _say_url),
    (re.compile(r"(?<![\w.+-])([\w.+-]+)@((?:[\w-]+\.)+\w\w+)"), _say_email),
    # example.com/docs, node.js, README.md; not "U.S.", "e.g." or a missing space after a stop
    (
        re.compile(r"\b(?:[\w-]{2,}\.)+[a-z]{2,}\b(?:/[^\s,;!?]*[\w/])?"),
        lambda match: _say_url(match) if "/" in match.group() else _say_address(match.group()),
    ),
    (re.compile(r":\\"), " backslash "),  # C:\users
    (re.compile(r"\\+"), " backslash "),
    (re.compile(r"(?<=\w)_+(?=\w)"), " "),  # snake_case
)

_CURRENCY = r"(?:€|£|\$|(?:euros?|EUR|USD|GBP|pounds?|dollars?)\b)"
_UNITS = {
    "km/h": "kilometers per hour",
    "kph": "kilometers per hour",
    "m/s": "meters per second",
    "kHz": "kilohertz",
    "Hz": "hertz",
    "ms": "milliseconds",
    "kB": "kilobytes",
    "KB": "kilobytes",
    "MB": "megabytes",
    "GB": "gigabytes",
    "TB": "terabytes",
}


def _plain_number(match: re.Match[str]) -> str:
    """1.234.567,50 -> 1,234,567.50"""
    whole, _, cents = match.group().replace(".", "").partition(",")
    return f"{int(whole):,}" + (f".{cents}" if cents else "")


def _say_phone(match: re.Match[str]) -> str:
    """+44 20 7946 0958: digit by digit, a pause between the groups."""
    groups = re.findall(r"\d+", match.group())
    plus = "plus " if match.group().startswith("+") else ""
    return plus + ", ".join(" ".join(group) for group in groups)


_NUMBERS: tuple[_Rule, ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # Continental numbers. With one dot or comma only money tells them from English ones.
        (r"(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d{1,2}(?![\d.,]*\d)", _plain_number),
        (rf"(?<![\d.,])\d{{1,3}}(?:\.\d{{3}})+(?=\s?{_CURRENCY})", _plain_number),
        (r"(?<![\d.,])[1-9]\d{0,2}(?:\.\d{3}){2}(?![\d.,]*\d)", _plain_number),
        (rf"(?<![\d.,])\d+,\d{{1,2}}(?=\s?(?:{_CURRENCY}|%))", _plain_number),
        (r"(?<=[€£$])(\s?)(\d+),(\d{2})(?![\d.,]*\d)", r"\1\2.\3"),
        (r"(?<![\d.,])(\d[\d,]*(?:\.\d{1,2})?)\s?(€|£|\$)(?!\s?\d)", r"\2\1"),  # kitten: 27.50 €
        (r"(?<=\d)\.(?=\d+\.\d)|(?<=\d\.\d)\.(?=\d)", " dot "),  # 1.2.3, 192.168.0.1
        (r"(?<![\w+])\+\d[\d ()./-]{6,}\d(?!\w)", _say_phone),
        (r"(?<![\w-])\d{3}-\d{4}(?![\w-])", _say_phone),
        (r"\b[vV](?=\d)", "version "),
        (r"\b[Nn]o\.\s*(?=\d)|#(?=\d)", "number "),
        (r"\bpp?\.\s*(?=\d)", "page "),
        (r"#(?=[^\W\d])", "hashtag "),
        (r"\b24/7\b", "24 7"),
        (r"(\d+)'\s?(\d+)\"", r"\1 feet \2 inches"),
        (r"(?<=\d)\"", "”"),  # a closing quote, not inches; straightened again by _tidy
        (r"(?<![\w.,-])(\d{1,3})-(\d{1,3})(?![\w-]|[.,]\d)", r"\1 to \2"),
        (r"(?<=\d)\s*[*×x]\s*(?=\w)", " times "),
        (r"(?<=\d)\s+-\s+(?=\d)", " minus "),
        (r"(?<=\d)\s*[–—]\s*(?=\d)", " to "),
        (r"(?<=\w)\s+<\s+(?=\w)|(?<=\d)<(?=\d)", " is less than "),
        (r"(?<=\w)\s+>\s+(?=\w)|(?<=\d)>(?=\d)", " is greater than "),
        (r"(?<=\d)\s+%", "%"),
        (
            rf"(?<=\d)\s?({'|'.join(_UNITS)})\b",
            lambda match: " " + _UNITS[match.group(1)],
        ),
    )
)


def _greek_name(match: re.Match[str]) -> str:
    name = unicodedata.name(unicodedata.normalize("NFD", match.group())[0])
    return f" {name.split()[-1].lower()} ".replace("lamda", "lambda")


_SYMBOLS: tuple[_Rule, ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\b([Ee])\.g\.,?(?=\s)", r"for example"),  # kitten misses capitals and the comma
        (r"\b[Ii]\.e\.,?(?=\s)", "that is"),
        (r"\bBlvd\b(?:\.(?!\s*$))?", "Boulevard"),
        (r"(?<=[A-Za-z] )Ave\b(?:\.(?!\s*$))?", "Avenue"),
        (r"(?<=[A-Za-z] )Rd\b(?:\.(?!\s*$))?", "Road"),
        (r"(?<=[a-z] )St\b(?:\.?(?=,|\s+[a-z])|(?=\.?\s*$))", "Street"),
        (r"\bApt\.", "Apartment"),
        (r"\bProf\.(?=\s)", "Professor"),
        (r"\bapprox\.(?=\s)", "approximately"),
        (r"\b(and)/(or)\b", r"\1 \2"),
        (r"(?<=\w)\s*&\s*(?=\w)", " and "),
        (r"(?<![^\W\d_])[Α-ω](?![^\W\d_])", _greek_name),  # a lone γ; Greek words are spelt
        (r"×", " times "),
        (r"÷", " divided by "),
        (r"±", " plus or minus "),
        (r"≈", " about "),
        (r"≤", " at most "),
        (r"≥", " at least "),
        (r"≠", " is not equal to "),
        (r"∞", " infinity "),
        (r"√", " root of "),
        (r"\s*(?:—|–|--+|\s-(?=\s))\s*", ", "),  # a dash is a pause
        (r"\.{3,}(?=\s*$)", "."),
        (r"\s*\.{2,}\s*", ", "),  # an ellipsis too
        (r"\s*=+\s*", " equals "),
        (r"[{}\[\]<>|^~`*_]|\$(?!\s?\d)|(?<!\w)#(?!\w)", " "),
    )
)


# --- words ----------------------------------------------------------------------------------

# What kitten is needed for; without any of it a sentence is plain and passes as it is.
_UNSPOKEN = re.compile(r"[^\w\s,;:!?'\"().-]|\d|\.(?=.*\w)")


@cache
def _reader() -> Any:
    """kitten's English grammar, loaded once because that takes most of a second."""
    from kitten_text_processing import Normalizer

    return Normalizer(input_case="cased", lang="en")


def _verbalize(sentence: str) -> str:
    """Numbers, abbreviations and signs of one sentence in words; its final mark is kept."""
    if not _UNSPOKEN.search(sentence):
        return sentence
    spoken = " ".join(map(_read_piece, _pieces(sentence)))
    if sentence[-1:] in _END_MARKS and spoken[-1:].isalnum():
        spoken += sentence[-1]  # "... in the U.S." lost its stop with the abbreviation
    return spoken


def _read_piece(piece: str) -> str:
    """`piece` by kitten, unless that would take seconds (40 ms a number on one core).

    Long rows of numbers and monster words are left to espeak-ng, which reads digits too.
    """
    too_many = len(_COSTLY.findall(piece)) > _MOST_COSTLY
    if too_many or max(map(len, piece.split()), default=0) > _LONGEST_WORD:
        return piece
    return _reader().normalize(piece, punct_post_process=True)


def _pieces(sentence: str) -> list[str]:
    """`sentence` in pieces of about _PIECE_CHARS, cut at spaces only."""
    pieces = [""]
    for word in sentence.split():
        if len(pieces[-1]) + len(word) > _PIECE_CHARS:
            pieces.append("")
        pieces[-1] = f"{pieces[-1]} {word}".strip()
    return pieces


def _tidy(line: str) -> str:
    """Single spaces and single marks, no sign that cannot be spoken; "" without any letter."""
    line = line.replace("”", '"')
    for pattern, replacement in _TIDY:
        line = pattern.sub(replacement, line)
    line = line.rstrip(" ,;:-(")
    return line if any(c.isalnum() for c in line) else ""


_TIDY: tuple[_Rule, ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"[^\w\s.,;:?!'\"()-]|_", " "),
        (r"\(\s*\)|\"\s*\"", " "),
        (r"\s+(?=[.,;:?!])", ""),
        (r"\.+(?=[,;:])|[,;:]+(?=[.,;:?!])|(?<=[?!])\.+", ""),
        (r"\.{2,}", "."),
        (r"([,;:?!])(?=[^\W\d_])", r"\1 "),
        (r"\s+", " "),
        (r"^[\s.,;:?!)-]+", ""),
    )
)
