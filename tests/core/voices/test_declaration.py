"""What a file in assets/voices may say, and what is said about it where it is wrong."""

from pathlib import Path

import pytest

from core.errors import ForespeakError
from core.voices.declaration import FOLDER, Declaration, declared_names, read_declaration

GOOD = """
title = "Tiny"
licence = "None needed"
prompt = "<|begin|>Say:{text}<|speak|>"
stop = "<|end|>"
longest_s = 3
[target]
repository = "tiny/target"
revision = "v1"
[draft]
repository = "tiny/draft"
[codec]
kind = "xcodec2"
repository = "tiny/codec"
[[codebooks]]
token = "<custom_{}>"
first = 10
[sampling]
temperature = 0.6
top_k = 50
"""


def declare(folder: Path, text: str) -> Declaration:
    (folder / "tiny.toml").write_text(text, encoding="utf-8")
    return read_declaration("tiny", folder)


def test_all_that_a_file_says(tmp_path: Path) -> None:
    voice = declare(tmp_path, GOOD)
    target, draft, codec = (voice.repositories[part] for part in ("target", "draft", "codec"))
    assert (target.name, target.revision, draft.revision) == ("tiny/target", "v1", "main")
    assert target.files == ("config.json", "tokenizer.json")
    assert (codec.name, codec.files) == ("tiny/codec", ("config.json",))
    assert voice.codebooks[0].tokens(2) == ["<custom_10>", "<custom_11>"]
    assert declared_names(tmp_path) == ["tiny"]


def test_draft_and_end_may_be_left_out(tmp_path: Path) -> None:
    text = GOOD.replace('[draft]\nrepository = "tiny/draft"\n', "").replace('stop = "<|end|>"', "")
    voice = declare(tmp_path, text)
    assert voice.stop is None
    assert set(voice.repositories) == {"target", "codec"}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("{text}", "", r"prompt: {text} must stand in it once"),
        ('"xcodec2"', '"dac"', r"codec\.kind: 'dac' is not one of encodec, xcodec2"),
        ('"tiny/draft"', '"../draft"', r"draft\.repository: "),
        ("<custom_{}>", "<custom>", r"codebooks\.0\.token: "),
        ("longest_s = 3", "longest_s = 0", "longest_s: "),
        ('licence = "None needed"', "", "licence: Field required"),
        ("[sampling]", "tempo = 3\n[sampling]", r"codebooks\.0\.tempo: Extra inputs"),
        ("top_k = 50", "top_k = -1", r"sampling: Top-k -1 is out of range"),
        ("top_k = 50", "heat = 1", r"sampling: .*heat"),
        ("[codec]", "[codec", "at line"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(ForespeakError, match=f"^tiny.toml does not declare a voice: .*{words}"):
        declare(tmp_path, GOOD.replace(old, new))


def test_a_wrong_line_of_bark_is_named(tmp_path: Path) -> None:
    text = (
        (FOLDER / "bark.toml").read_text(encoding="utf-8").replace("temperature = 0.7", "heat = 1")
    )
    with pytest.raises(ForespeakError, match=r"sampling: .*heat"):
        declare(tmp_path, text)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ForespeakError, match=r"Cannot read .*nobody"):
        read_declaration("nobody", tmp_path)


@pytest.mark.parametrize("name", declared_names())
def test_declarations_that_come_along_are_right(name: str) -> None:
    read_declaration(name)
