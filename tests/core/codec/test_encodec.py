"""EnCodec as a codec of ours: what its own package decodes, whole or piece by piece."""

import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import Tensor, nn

from core.codec.encodec import EnCodec
from core.errors import ForespeakError
from tests.core.lm.published import randomise

transformers = pytest.importorskip("transformers", minversion="5.24")

CPU = torch.device("cpu")


def loud(model: nn.Module) -> nn.Module:
    """Random, and so that something is left to hear behind all layers."""
    randomise(model)
    with torch.no_grad():
        for name, gain in model.named_parameters():
            if name.endswith(("original0", "weight_g")):
                gain.abs_().add_(1)
    for name, embed in model.named_buffers():
        if name.endswith(".embed"):
            nn.init.normal_(embed, generator=torch.Generator().manual_seed(1))
    return model


@pytest.fixture(scope="module")
def model() -> nn.Module:
    """The published shape with fewer channels."""
    config = transformers.EncodecConfig(num_filters=4, codebook_dim=16, hidden_size=16)
    return loud(transformers.EncodecModel(config))


def random_codes(frames: int, books: int = 4) -> Tensor:
    return torch.randint(1024, (books, frames), generator=torch.Generator().manual_seed(frames))


@pytest.mark.parametrize("frames", [1, 6, 7, 8, 40])
@pytest.mark.parametrize("piece", [1, 3, 7, 40])
def test_streaming_is_offline(model: nn.Module, frames: int, piece: int) -> None:
    codec = EnCodec(model, 4)
    codes = random_codes(frames)
    whole = codec.decode(codes)
    assert len(whole) == frames * 320
    assert whole.std() > 0.01
    stream = codec.stream()
    pieces = [stream.push(part) for part in codes.split(piece, 1)]
    close = {"atol": 1e-5 * float(whole.abs().max()), "rtol": 1e-4}
    torch.testing.assert_close(torch.cat([*pieces, stream.finish()]), whole, **close)
    if piece == 1 and frames == 40:
        assert [len(samples) for samples in pieces] == [0] * 6 + [7 * 320] + [320] * 33
    with pytest.raises(RuntimeError, match="finished"):
        stream.push(codes)


def test_no_frames_are_no_samples(model: nn.Module) -> None:
    codec = EnCodec(model, 2)
    assert len(codec.stream().finish()) == len(codec.decode(random_codes(0, 2))) == 0


def test_a_published_checkpoint(model: nn.Module, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path)
    codec = EnCodec.load(tmp_path, CPU, 2)
    assert (codec.sample_rate, codec.frame_rate, codec.codebook_size) == (24000, 75, 1024)
    codes = random_codes(9, 2)
    assert torch.equal(codec.decode(codes), EnCodec(model, 2).decode(codes))
    assert codec.groups.shares(0.5).shape == (2, 1024, 1024)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(ForespeakError, match="damaged"):
        EnCodec.load(tmp_path, CPU, 2)


def test_the_model_at_48_khz_is_refused() -> None:
    config = transformers.EncodecConfig(num_filters=4, use_causal_conv=False, normalize=True)
    with pytest.raises(ForespeakError, match="only the causal model"):
        EnCodec(transformers.EncodecModel(config), 2)


def test_samples_are_those_of_the_encodec_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package's own model at its own size, with random weights that are given to ours."""
    for name in ("torchaudio", "torchaudio.transforms"):  # imported there, not needed to decode
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    import encodec

    theirs = loud(encodec.EncodecModel.encodec_model_24khz(pretrained=False))
    ours = transformers.EncodecModel(transformers.EncodecConfig()).eval()
    renamed = {rename(name): tensor for name, tensor in theirs.state_dict().items()}
    missing, _ = ours.load_state_dict(renamed, strict=False)
    assert not [name for name in missing if "decoder" in name or "embed" in name]
    codes = random_codes(12, 8)
    theirs.set_target_bandwidth(6)
    with torch.inference_mode():
        wanted = theirs.decode([(codes[None], None)])[0, 0]
    assert wanted.std() > 0.01
    close = {"atol": 1e-5 * float(wanted.abs().max()), "rtol": 1e-4}
    torch.testing.assert_close(EnCodec(ours, 8).decode(codes), wanted, **close)


def rename(name: str) -> str:
    """A tensor of the package as transformers calls it."""
    for theirs, ours in (
        (".model.", ".layers."),
        (".conv.conv.", ".conv."),
        (".convtr.convtr.", ".conv."),
        ("quantizer.vq.layers", "quantizer.layers"),
        ("._codebook.", ".codebook."),
        (".weight_g", ".parametrizations.weight.original0"),
        (".weight_v", ".parametrizations.weight.original1"),
    ):
        name = name.replace(theirs, ours)
    return name
