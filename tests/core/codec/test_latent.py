"""The codec as the engine uses it: streams, bad codes, damaged files."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.codec.latent import LatentCodec
from core.errors import ForespeakError
from tests.core.codec.tiny import CONFIG, SAMPLES_PER_FRAME, random_codes, tiny_codec

CPU = torch.device("cpu")


def streamed(codec: LatentCodec, codes: torch.Tensor, sizes: list[int]) -> torch.Tensor:
    stream = codec.stream()
    samples = [stream.push(piece) for piece in codes.split(sizes, dim=1)]
    return torch.cat([*samples, stream.finish()])


@given(st.lists(st.integers(0, 12), min_size=1, max_size=8), st.integers(0, 9))
def test_a_stream_equals_the_whole(sizes, seed):
    codec, codes = tiny_codec(), random_codes(sum(sizes), seed)
    whole = codec.decode(codes)
    assert len(whole) == SAMPLES_PER_FRAME * sum(sizes)
    torch.testing.assert_close(streamed(codec, codes, sizes), whole, atol=1e-5, rtol=0)


@pytest.mark.parametrize("frames", [0, 1, 2, 3, 25])
def test_frame_by_frame(frames):
    codec, codes = tiny_codec(), random_codes(frames)
    samples = streamed(codec, codes, [1] * frames)
    assert samples.dtype == torch.float32
    torch.testing.assert_close(samples, codec.decode(codes), atol=1e-5, rtol=0)


def test_frames_that_are_far_off_change_nothing():
    codec, codes = tiny_codec(), random_codes(60)
    other = codes.clone()
    other[:, 40:] = (other[:, 40:] + 1) % CONFIG.codebook_size
    same = codec.decode(codes) == codec.decode(other)
    assert same[: 30 * SAMPLES_PER_FRAME].all()
    assert not same[40 * SAMPLES_PER_FRAME :].all()


def test_two_streams_do_not_disturb_each_other():
    codec = tiny_codec()
    inputs = random_codes(12, seed=1), random_codes(12, seed=2)
    streams = codec.stream(), codec.stream()
    samples: tuple[list[torch.Tensor], ...] = ([], [])
    for frame in range(12):
        for codes, stream, done in zip(inputs, streams, samples, strict=True):
            done.append(stream.push(codes[:, frame : frame + 1]))
    for codes, stream, done in zip(inputs, streams, samples, strict=True):
        whole = torch.cat([*done, stream.finish()])
        torch.testing.assert_close(whole, codec.decode(codes), atol=1e-5, rtol=0)


def test_a_finished_stream_refuses():
    stream = tiny_codec().stream()
    stream.push(random_codes(2))
    stream.finish()
    with pytest.raises(RuntimeError, match="finished"):
        stream.finish()
    with pytest.raises(RuntimeError, match="finished"):
        stream.push(random_codes(1))


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        (random_codes(4)[:2], "not"),
        (random_codes(4)[0], "not"),
        (random_codes(4)[None], "not"),
        (random_codes(4).float(), "integers"),
        (random_codes(4) - CONFIG.codebook_size, "run from 0"),
        (random_codes(4) + CONFIG.codebook_size, "run from 0"),
    ],
)
def test_bad_codes(codes, message):
    codec = tiny_codec()
    with pytest.raises(ValueError, match=message):
        codec.stream().push(codes)
    with pytest.raises(ValueError, match=message):
        codec.decode(codes)


def test_refused_codes_leave_the_stream_as_it_was():
    codec, codes = tiny_codec(), random_codes(6)
    stream = codec.stream()
    samples = [stream.push(codes[:, :3])]
    with pytest.raises(ValueError, match="run from 0"):
        stream.push(codes + 100)
    samples += [stream.push(codes[:, 3:]), stream.finish()]
    torch.testing.assert_close(torch.cat(samples), codec.decode(codes), atol=1e-5, rtol=0)


def test_narrow_integers_are_codes_too():
    codec, codes = tiny_codec(), random_codes(5)
    assert torch.equal(codec.decode(codes.to(torch.uint8)), codec.decode(codes))


def test_the_file_keeps_everything(tmp_path):
    codec = tiny_codec()
    for parameter in codec.parameters():
        parameter.copy_(parameter.half())  # what the file holds
    codec.save(tmp_path / "codec.safetensors")
    loaded = LatentCodec.load(tmp_path / "codec.safetensors", CPU)
    assert loaded.config == CONFIG
    assert (loaded.num_codebooks, loaded.codebook_size) == (3, 7)
    assert (loaded.sample_rate, loaded.frame_rate) == (1200, 75)
    assert loaded.codebooks.shape == (3, 7, 5)
    assert torch.equal(loaded.decode(random_codes(9)), codec.decode(random_codes(9)))


def damage_nothing_there(path: Path) -> None:
    path.unlink()


def damage_cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def damage_garbage(path: Path) -> None:
    path.write_bytes(b"not a checkpoint")


def damage_another_config(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'dim\\": 5', b'dim\\": 6'))


def damage_unknown_key(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"sample_rate", b"simple_rate"))


@pytest.mark.parametrize(
    "damage",
    [damage_nothing_there, damage_cut, damage_garbage, damage_another_config, damage_unknown_key],
)
def test_a_damaged_file_is_one_line(tmp_path, damage):
    path = tmp_path / "codec.safetensors"
    tiny_codec().save(path)
    intact = path.read_bytes()
    damage(path)
    assert not path.exists() or path.read_bytes() != intact
    with pytest.raises(ForespeakError, match=r"^[^\n]*codec\.safetensors[^\n]*$"):
        LatentCodec.load(path, CPU)
