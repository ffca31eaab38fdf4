"""The recorded sentences that come with the voice."""

import hashlib

import numpy as np
import pytest
import torch

from core import ceiling
from core.ceiling import Recorded, ceiling_path, decode, load_ceiling, save_ceiling
from core.codec.base import check_codes
from core.errors import ForespeakError
from core.voices.base import ASSETS
from tests.fake_voice import SAMPLES_PER_FRAME, ToneCodec

SENTENCES = (Recorded('A "quoted" one.', ((0, 1), (2, 3))), Recorded("é", ((4,), (0,))))


@pytest.fixture
def assets(tmp_path, monkeypatch):
    monkeypatch.setattr(ceiling, "ASSETS", tmp_path)
    (tmp_path / "fake").mkdir()
    return tmp_path


def test_what_was_saved_is_loaded(assets):
    save_ceiling(assets / "fake", SENTENCES)
    assert load_ceiling("fake") == SENTENCES


def test_it_becomes_sound():
    codec = ToneCodec()
    sound = decode(codec, SENTENCES[0])
    np.testing.assert_array_equal(sound, codec.decode(torch.tensor([[0, 1], [2, 3]])).numpy())
    assert len(sound) == 2 * SAMPLES_PER_FRAME


@pytest.mark.usefixtures("assets")
def test_a_voice_without_any():
    with pytest.raises(ForespeakError, match="no recorded sentences"):
        load_ceiling("fake")


@pytest.mark.parametrize("text", ["", "{}", '[{"text": 1}]'])
def test_a_damaged_file(assets, text):
    ceiling_path(assets / "fake").write_text(text)
    with pytest.raises(ForespeakError, match="damaged"):
        load_ceiling("fake")


def test_the_embedded_voice_has_some():
    found = load_ceiling("joe")
    assert len({sentence.text for sentence in found}) == 8
    for sentence in found:
        check_codes(torch.tensor(sentence.codes), 4, 512)


def test_checksums_are_of_what_is_there():
    lines = (ASSETS / "joe" / "SHA256SUMS").read_text().splitlines()
    sums = dict(reversed(line.split("  ")) for line in lines)
    content = ceiling_path(ASSETS / "joe").read_bytes()
    assert sums["ceiling.json"] == hashlib.sha256(content).hexdigest()
