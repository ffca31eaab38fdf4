"""The phonemes must be those the teacher voice was trained on, and each must find its word."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import ForespeakError
from core.text.align import align_words
from core.text.phonemize import Phonemizer

# Texts and phoneme ids (hexadecimal, one byte each) as stored in the voice kit: linking ʲ, clause
# terminators, an ellipsis, a phrase whose pronunciation changed, numbers, dashes, contractions.
KIT = json.loads(Path(__file__).with_name("kit_phonemes.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def phonemizer():
    return Phonemizer()


def spoken_words(phonemes):
    """(word, its phonemes) in order, the phonemes of a word joined."""
    spoken = {}
    for symbol, index in zip(phonemes.symbols, phonemes.word_index, strict=True):
        if index >= 0:
            spoken[index] = spoken.get(index, "") + symbol
    return [(phonemes.words[index], symbols) for index, symbols in spoken.items()]


@pytest.mark.parametrize(("text", "ids"), KIT.items(), ids=lambda value: value[:30])
def test_ids_are_those_of_the_voice_kit(phonemizer, text, ids):
    assert bytes(phonemizer(text).ids).hex() == ids


def test_two_final_stops_read_as_one(phonemizer):
    assert phonemizer("Taxes, etc..") == phonemizer("Taxes, etc.")


def test_espeak_carries_nothing_from_one_reading_to_the_next(phonemizer, monkeypatch):
    # after "etc.." it says "dot" at the start of whatever it reads next; a sentence is read twice
    monkeypatch.setattr("core.text.phonemize._safe_for_espeak", str)
    assert "ʲ" in phonemizer("We agree, etc..").symbols  # known from the second reading


def test_merged_and_reduced_words_keep_their_own_phonemes(phonemizer):
    # espeak-ng says "of the" and "should have" as one group
    said = spoken_words(phonemizer("They should have come out of the house, of course."))
    assert [word for word, _ in said] == [
        "They",
        "should",
        "have",
        "come",
        "out",
        "of",
        "the",
        "house",
        "of",
        "course",
    ]
    assert dict(said)["have"] == "əv"
    assert dict(said)["house"] == "hˈaʊs"


def test_a_number_of_several_groups_shifts_no_other_word(phonemizer):
    said = spoken_words(phonemizer("In 1999 we had 21 dogs."))
    assert [word for word, _ in said] == ["In", "1999", "we", "had", "21", "dogs"]
    assert dict(said)["21"] == "twˈɛnti wˈʌn"  # the space inside belongs to the number
    assert dict(said)["dogs"] == "dˈɑːɡz"


def test_no_word_leaves_its_clause(phonemizer):
    result = phonemizer("No, it is a test: yes!")
    comma = result.symbols.index(",")
    assert {result.words[i] for i in result.word_index[:comma] if i >= 0} == {"No"}
    assert result.word_index[comma] == -1
    assert "No" not in {result.words[i] for i in result.word_index[comma:] if i >= 0}


def test_a_one_letter_word_after_a_comma_is_in_its_own_clause(phonemizer):
    # espeak-ng reads that letter ahead, with the clause before
    said = spoken_words(phonemizer("One, a cat."))
    assert said == [("One", "wˌʌn"), ("a", "ɐ"), ("cat", "kˈæt")]


def test_a_wrong_reference_stays_local():
    # "2" is read as something else than alone; its neighbours must not move
    references = [(0, "wˈʌn"), (1, "ɹɹɹɹɹɹ"), (2, "dˈɑːɡ")]
    assert align_words("wˈʌn tˈuː dˈɑːɡ", references)[:4] == [0] * 4
    assert align_words("wˈʌn tˈuː dˈɑːɡ", references)[-5:] == [2] * 5


@pytest.mark.parametrize("text", ["", " ", "...", "?!", '""', "\0", "\ud800"])
def test_nothing_to_say_has_no_word(phonemizer, text):
    result = phonemizer(text)
    assert result.symbols[0] == "^"
    assert result.symbols[-1] == "$"
    assert result.words == ()


def test_text_after_a_nul_is_still_said(phonemizer):
    # a C string ends at NUL
    assert [word for word, _ in spoken_words(phonemizer("One\0two."))] == ["One", "two"]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_any_text_gives_a_consistent_record(phonemizer, text):
    result = phonemizer(text)
    assert len(result.ids) == len(result.symbols) == len(result.word_index)
    assert result.ids[0] == 1
    assert result.ids[-1] == 2
    assert 0 not in result.ids  # no blanks
    said = [index for index in result.word_index if index >= 0]
    assert said == sorted(said)
    assert all(index < len(result.words) for index in said)


def test_threads_and_instances_get_the_same_phonemes():
    # espeak-ng keeps its state in globals of the C library
    texts = list(KIT) * 4
    with ThreadPoolExecutor(4) as pool:
        results = pool.map(lambda text: bytes(Phonemizer()(text).ids).hex(), texts)
        assert list(results) == [KIT[text] for text in texts]


@pytest.mark.parametrize("content", [None, "{", "{}"])
def test_a_missing_or_broken_map_says_how_to_mend_it(tmp_path, content):
    path = tmp_path / "phonemes.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(ForespeakError, match="restore the assets") as error:
        Phonemizer(path)
    assert "\n" not in str(error.value)
