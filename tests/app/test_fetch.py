"""The command that fetches a voice: the licence first, then everything or nothing."""

from pathlib import Path

import pytest

pytest.importorskip("httpx2")

from app.fetch import fetch
from core.errors import ForespeakError
from core.hub import Hub
from core.voices import declaration
from tests.fake_hub import FakeHub, serving

VOICE = """
title = "Tiny"
licence = "Only on Sundays"
prompt = "{text}"
longest_s = 3
sampling = {temperature = 0.7, top_k = 50}
[target]
repository = "tiny/target"
[codec]
kind = "xcodec2"
repository = "tiny/codec"
[[codebooks]]
token = "<|s_{}|>"
"""


def test_licence_and_size_are_agreed_to_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    served = {f"tiny/{part}": tmp_path / part for part in ("target", "codec")}
    for folder in served.values():
        folder.mkdir()
        for name in ("config.json", "tokenizer.json", "model.safetensors"):
            (folder / name).write_bytes(b"x" * 50_000_000 if "safe" in name else b"{}")
    voices = tmp_path / "voices"
    voices.mkdir()
    (voices / "tiny.toml").write_text(VOICE)
    monkeypatch.setattr(
        "app.fetch.read_declaration", lambda name: declaration.read_declaration(name, voices)
    )
    asked: list[str] = []

    def answer(text: str, agreed: bool) -> bool:
        asked.append(text)
        return agreed

    with serving(FakeHub(served)) as fake:
        hub = Hub(fake.url, tmp_path / "cache")
        with pytest.raises(ForespeakError, match="Nothing was fetched"):
            fetch("tiny", lambda text: answer(text, False), hub)
        assert not any("resolve" in path for path in fake.asked)
        fetch("tiny", lambda text: answer(text, True), hub)
        assert "0.1 GB from tiny/target, tiny/codec" in asked[-1]
        assert "Licence: Only on Sundays." in asked[-1]
        fetch("tiny", lambda text: answer(text, False), hub)  # nothing is missing: not asked again
        assert len(asked) == 2
    command = "launch.py say --voice tiny --temperature 0.7 --top-k 50 TEXT"
    assert f"Tiny is here. Try: {command}" in capsys.readouterr().err
