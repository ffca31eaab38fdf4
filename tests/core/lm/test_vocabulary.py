"""Prompts and entries by the names in a tokenizer.json."""

from pathlib import Path

import pytest

pytest.importorskip("tokenizers")

from core.errors import ForespeakError
from core.lm.vocabulary import Vocabulary
from tests.tiny_voice import SIGNS, SPEECH, make_tokenizer


@pytest.fixture
def vocabulary(tmp_path: Path) -> Vocabulary:
    make_tokenizer(tmp_path, [*SIGNS, *SPEECH[::-1]])
    return Vocabulary(tmp_path, "tiny/target")


def test_entries_are_found_by_name_in_any_order(vocabulary: Vocabulary) -> None:
    entries = vocabulary.entries([SPEECH[:4], SPEECH[4:8]], "<|end|>")
    assert entries.ids.tolist() == [[267, 266, 265, 264], [263, 262, 261, 260]]
    assert entries.spell([1, 1, 0], 1) == [262, 266, 263]
    assert (entries.stop, entries.width) == (258, 5)


def test_an_entry_that_is_missing_is_named(vocabulary: Vocabulary) -> None:
    with pytest.raises(ForespeakError, match=r"of tiny/target has no token <\|s_9\|>"):
        vocabulary.entries([[*SPEECH, "<|s_9|>"]], None)
    with pytest.raises(ForespeakError, match=r"has no token <\|stop\|>"):
        vocabulary.entries([SPEECH], "<|stop|>")
    with pytest.raises(ForespeakError, match="one token for two entries"):
        vocabulary.entries([SPEECH[:2], SPEECH[1:3]], None)


def test_signs_of_the_model_are_signs_in_the_template_and_text_in_the_text(
    vocabulary: Vocabulary,
) -> None:
    """Whoever types the end's sign must not end the prompt."""
    template = "<|begin|>A{text}<|speak|>"
    plain = vocabulary.prompt(template, "B")
    assert len(plain) == 4
    assert (plain[0], plain[-1]) == (256, 257)
    typed = vocabulary.prompt(template, "<|end|>{text}")
    assert 258 not in typed
    assert len(typed) == 3 + len("<|end|>{text}")


def test_a_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(ForespeakError, match=r"tokenizer\.json is damaged"):
        Vocabulary(tmp_path, "x")
