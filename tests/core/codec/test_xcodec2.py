"""X-Codec 2 as a codec of ours: what transformers decodes, a sentence at a time."""

from pathlib import Path

import pytest
import torch

pytest.importorskip("transformers", minversion="5.24")

from core.codec.xcodec2 import XCodec2
from core.errors import ForespeakError
from tests.tiny_voice import SIZE, make_codec

CPU = torch.device("cpu")


def test_samples_are_those_of_transformers_and_streaming_is_offline(tmp_path: Path) -> None:
    model = make_codec(tmp_path)
    codec = XCodec2.load(tmp_path, CPU)
    assert (codec.codebook_size, codec.frame_rate, codec.sample_rate) == (SIZE, 50, 16000)
    codes = torch.randint(SIZE, (1, 21), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        wanted = model.decode(codes[None]).audio_values[0, 0]
    assert wanted.std() > 0
    assert torch.equal(codec.decode(codes), wanted)
    stream = codec.stream()
    assert not any(len(stream.push(piece)) for piece in codes.split(4, 1))
    assert torch.equal(stream.finish(), wanted)
    for late in (stream.finish, lambda: stream.push(codes)):
        with pytest.raises(RuntimeError, match="finished"):
            late()


def test_no_frames_are_no_samples(tmp_path: Path) -> None:
    make_codec(tmp_path)
    codec = XCodec2.load(tmp_path, CPU)
    assert len(codec.stream().finish()) == len(codec.decode(torch.empty(1, 0).long())) == 0


def test_codes_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    make_codec(tmp_path)
    with pytest.raises(ValueError, match="codes run from 0"):
        XCodec2.load(tmp_path, CPU).decode(torch.full((1, 3), SIZE))


def test_damage_is_told(tmp_path: Path) -> None:
    make_codec(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(ForespeakError, match="damaged: fetch the voice again"):
        XCodec2.load(tmp_path, CPU)
