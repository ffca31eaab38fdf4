"""Sentences are what the voice synthesises one by one: complete, short enough, in order."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.text import prepare
from core.text.sentences import split_sentences


def letters(text):
    return [c for c in text if c.isalnum()]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Dr. Smith lives here. He left us then.", ["Dr. Smith lives here.", "He left us then."]),
        ("It is, e.g. in the U.S. and so on.", ["It is, e.g. in the U.S. and so on."]),
        ("milk and honey\neggs in a basket", ["milk and honey.", "eggs in a basket."]),
        ("No final mark", ["No final mark."]),
        ("Ends with a comma,", ["Ends with a comma."]),
        ('He said: "Go away now!"', ['He said: "Go away now!"']),
        ("Is it so? It is so indeed!", ["Is it so?", "It is so indeed!"]),
        ("", []),
        ("... ?!\n\n", []),
    ],
)
def test_split(text, sentences):
    assert split_sentences(text) == sentences


def test_short_fragments_join_their_neighbour_but_not_across_lines():
    assert split_sentences("Yes. I think so too.") == ["Yes. I think so too."]
    assert split_sentences("I think so too. Yes.") == ["I think so too. Yes."]
    assert split_sentences("Milk\nEggs") == ["Milk.", "Eggs."]


def test_an_overlong_sentence_is_cut_after_a_clause():
    text = "it was the best of times, it was the worst of times, it was the age of wisdom"
    assert split_sentences(text, max_chars=60) == [
        "it was the best of times, it was the worst of times.",
        "it was the age of wisdom.",
    ]


def test_without_clauses_it_is_cut_at_spaces():
    parts = split_sentences("word " * 100, max_chars=50)
    assert {word.strip(".") for part in parts for word in part.split()} == {"word"}


def test_a_monster_word_is_cut_inside():
    parts = split_sentences("lala" * 1250)
    assert max(map(len, parts)) <= 220
    assert "".join(letters("".join(parts))) == "lala" * 1250


def test_repeated_clauses_are_kept():
    text = "It was the best of times, it was the worst of times. " * 3
    assert letters("".join(split_sentences(text))) == letters(text)


@settings(max_examples=200, deadline=None)
@given(
    st.text(
        st.sampled_from("abcXYZ019 .,;:?!'\"()-\n") | st.characters(codec="utf-8"), max_size=300
    ),
    st.integers(min_value=2, max_value=60),
)
def test_no_letter_is_lost_and_no_sentence_is_too_long(text, max_chars):
    parts = split_sentences(text, max_chars)
    assert letters("".join(parts)) == letters(text)
    assert all(len(part) <= max_chars for part in parts)
    assert all(part[-1] in ".?!\"')" for part in parts)


def test_room_for_no_letter_is_refused():
    with pytest.raises(ValueError, match="at least 2"):
        split_sentences("text", max_chars=1)


def test_prepare_reads_then_splits():
    text = "Dr. Smith owes me $3.12, e.g. for tea.\n- He lives in the U.S. now\n- He’s well 🙂"
    assert list(prepare(text)) == [
        "doctor Smith owes me three dollars twelve cents, for example for tea.",
        "He lives in the US now.",
        "He's well.",
    ]


@pytest.mark.parametrize("text", ["", "  ", '""', "🙂", "...", "\n"])
def test_prepare_of_nothing_speakable_is_empty(text):
    assert list(prepare(text)) == []


def test_hard_wrapped_prose_is_not_cut_at_line_ends():
    """Text from a mail or a terminal breaks its lines in mid-sentence; lists do not."""
    wrapped = (
        "The committee will publish its report on Monday, and the\nmembers will then vote on it."
    )
    assert list(prepare(wrapped)) == [wrapped.replace("\n", " ")]
    assert list(prepare("milk and honey\neggs in a basket")) == [
        "milk and honey.",
        "eggs in a basket.",
    ]


def test_the_first_sentence_does_not_wait_for_the_rest(monkeypatch):
    """A long text must not delay its own beginning."""
    read = []

    def reader(line: str) -> str:
        read.append(line)
        return line

    monkeypatch.setattr("core.text.normalize._normalize_line", reader)
    sentences = prepare("One line here.\nAnother line here.\nA third one.")
    assert next(sentences) == "One line here."
    assert read == ["One line here."]
