"""Files are written whole, or the user is told and nothing has changed."""

import os
from pathlib import Path

import pytest

from core.errors import ForespeakError
from core.files import write_text


def test_it_writes_and_leaves_nothing_beside(tmp_path: Path):
    path = tmp_path / "a.json"
    for text in ("γ\n", "second"):
        write_text(path, text)
        assert path.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A full disk: the half-written text must not take the old one's place, nor stay around."""
    path = tmp_path / "a.json"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ForespeakError, match=r"Cannot write .*a\.json \(No space left"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_places_that_cannot_be_written(tmp_path: Path):
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "none" / "a.json", tmp_path / "file" / "a.json"):
        with pytest.raises(ForespeakError, match=r"Cannot write .* choose another place"):
            write_text(path, "text")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes or links here")
def test_links_and_devices_stay_what_they_are(tmp_path: Path):
    """`--trace /dev/null` must not turn the device into a file."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    write_text(Path(os.devnull), "text")
    assert not Path(os.devnull).is_file()
