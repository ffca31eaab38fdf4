"""Users paste anything: each case is read as a person would read it aloud, and none may crash."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.text.normalize import normalize

READ_AS = {
    # money, continental and English numbers
    "$3.12": "three dollars twelve cents",
    "27,50 €": "twenty seven euros fifty cents",
    "costs 3,99€ now": "costs three euros ninety nine cents now",
    "1.234,50 €": "one thousand two hundred and thirty four euros fifty cents",
    "$1.5 million": "one point five million dollars",
    "50% of 1,234": "fifty percent of one thousand two hundred and thirty four",
    "50 %": "fifty percent",
    "1.234.567 euro": (
        "one million two hundred thirty four thousand five hundred and sixty seven euro"
    ),
    "1/2": "one half",
    "2½ cups": "two and a half cups",  # compatibility forms alone would make it 21/2
    "x²": "x squared",
    "v1.2.3": "version one dot two dot three",
    "10–20 people": "ten to twenty people",
    "3 + 4 = 7": "three plus four equals seven",
    "7 - 3": "seven minus three",
    "RTF < 1": "RTF is less than one",
    "the 21st": "the twenty first",
    'He said "5"': 'He said "five"',  # not inches
    # dates and times
    "3/14/2025": "march fourteenth twenty twenty five",
    "2026-11-30": "november thirtieth twenty twenty six",
    "March 3rd": "march third",
    "in 1999": "in nineteen ninety nine",
    "5:30pm": "five thirty PM",
    # telephone, addresses of the web
    "call 555-123-4567": "call five five five, one two three, four five six seven",
    "555-1234": "five five five, one two three four",
    "https://example.com/a/b?c=1&d=2": "example dot com slash a slash b",
    "Visit www.example.com, please.": "Visit example dot com, please.",
    "john.smith@example.co.uk": "john dot smith at example dot co dot uk",
    "README.md": "README dot md",
    "https://example.com/" + "a/" * 500: "example dot com",
    "http://" + "a" * 3000 + ".com": "link",
    # abbreviations
    "Dr. Smith": "doctor Smith",
    "He left the U.S. She stayed.": "He left the US. She stayed.",  # the stop ends a sentence
    "e.g. this": "for example this",
    "I.e., no": "that is no",
    "Sunset Blvd": "Sunset Boulevard",
    "I live on Sunset Blvd.": "I live on Sunset Boulevard.",
    "J. K. Rowling": "JK Rowling",
    "see p. 5": "see page five",
    # units
    "5 km/h": "five kilometers per hour",
    "20°C": "twenty degrees Celsius",
    "20º": "twenty degrees",
    "5 ms": "five milliseconds",
    # characters
    "we’ve": "we've",
    "cafÃ©": "café",
    "naïve café": "naïve café",
    "Tes\u200bt": "Test",
    "\ud800 lone": "lone",
    "a\0b\x07": "ab",
    "😀 hi 👨‍👩‍👧": "hi",
    "，hello": "hello",
    "wait… what": "wait, what",
    "γ is 4": "gamma is four",
    # other scripts are spelt in Latin letters; English beside them stays
    "中文+English": "Zhong Wen plus English",
    "Привет мир": "Privet mir",
    # markup and code
    "${alert(1)}": "alert(one)",
    "<img onerror>": "img onerror",
    "<b>bold</b>": "bold",
    "C:\\users\\bob": "C backslash users backslash bob",
    "# Title": "Title",
    "**bold** and _it_": "bold and it",
    "[link](http://x.y)": "link",
    "snake_case": "snake case",
    "- milk\n* eggs\n3. bread": "milk\neggs\nthree, bread",
    "lala" * 1250: "lala" * 1250,
}


@pytest.mark.parametrize(("text", "spoken"), READ_AS.items(), ids=lambda text: text[:30])
def test_reading(text, spoken):
    assert normalize(text) == spoken


@pytest.mark.parametrize("spoken", READ_AS.values(), ids=lambda text: text[:30])
def test_what_was_read_once_stays(spoken):
    assert normalize(spoken) == spoken


@pytest.mark.parametrize(
    "text", ["", " ", '""', '" "', "...", "?!", "，", "---", "🙂", "\n\n", "\u200b", "()", "<br>"]
)
def test_nothing_speakable_gives_no_text(text):
    assert normalize(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "It was the best of times, it was the worst of times.",
        "I'd say \"no\"; wouldn't you? (Perhaps!) Yes: a well-known rock 'n' roll song.",
        "O'Brien's naïve café",
    ],
)
def test_plain_text_is_not_touched(text):
    assert normalize(text) == text


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_any_text_becomes_speakable(text):
    spoken = normalize(text)
    assert all(c.isalnum() or c in " \n.,;:?!'\"()-" for c in spoken)
    assert all(any(c.isalnum() for c in line) for line in spoken.split("\n") if spoken)


@pytest.mark.parametrize(
    "text", ["1 " * 1000, "1," * 1000, "A.B. " * 500, "*" * 5000, "a@" * 2000, "((" * 3000]
)
def test_a_heap_of_marks_or_numbers_takes_no_minutes(text):
    # kitten needs 40 ms a number, and regular expressions may back-track without end
    normalize("Load the grammar: 1.")
    start = time.perf_counter()
    normalize(text)
    assert time.perf_counter() - start < 5


def test_long_runs_of_spaces_cost_no_time():
    """Patterns that begin with any number of spaces are quadratic in a run of them."""
    assert normalize("a" + " " * 200_000 + "b") == "a b"
