"""The duration predictor: totals, rounding, rates, files."""

from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from core.checkpoint import save_checkpoint
from core.errors import ForespeakError
from core.lm.conditioner import with_blanks
from core.lm.durations import DurationConfig, DurationPredictor, load_durations, round_durations

ASSET = Path(__file__).parents[3] / "assets" / "joe" / "durations.safetensors"
SENTENCE = torch.arange(1, 61)
RATES = (0.5, 0.75, 1.0, 1.3, 2.0)

# "Her voice carries very well in this big opera house.": the teacher took 276 steps in the voice
# kit and 274 in the training data; it draws its durations.
HER_VOICE = (
    "1 20 62 122 3 34 120 54 74 31 3 23 120 39 88 21 38 3 34 120 61 88 21 3 35 120 61 24 3 74 26 3 "
    "41 74 31 3 15 120 74 66 3 120 51 122 28 60 88 59 3 20 120 14 100 31 10 2"
)


@pytest.fixture
def predictor() -> DurationPredictor:
    """Tiny, untrained; durations differ, but stay above 1 step at the fastest rate."""
    torch.manual_seed(0)
    predictor = DurationPredictor(DurationConfig(width=8, blocks=1, kernel=3)).eval()
    torch.nn.init.normal_(predictor.head.weight, std=0.05)
    return predictor


@pytest.fixture
def expected(predictor: DurationPredictor) -> torch.Tensor:
    with torch.inference_mode():
        return predictor(SENTENCE[None])[0].double()


@pytest.mark.parametrize("rate", RATES)
def test_total_follows_the_rate(predictor, expected, rate):
    durations = predictor.predict(SENTENCE, rate)
    assert durations.dtype == torch.int64
    assert durations.shape == SENTENCE.shape
    assert abs(int(durations.sum()) - expected.sum().item() / rate) <= 0.5


@pytest.mark.parametrize("rate", RATES)
def test_no_phoneme_drifts(predictor, expected, rate):
    ends = predictor.predict(SENTENCE, rate).cumsum(0)
    assert (ends - expected.cumsum(0) / rate).abs().max() <= 0.5


def test_rounding_error_is_carried():
    assert round_durations(torch.full((5,), 2.4)).tolist() == [2, 3, 2, 3, 2]


def test_short_phonemes_get_one_step_and_the_rest_catch_up():
    expected = torch.tensor([0.1, 0.1, 0.1, 3.0, 3.0])
    assert round_durations(expected).tolist() == [1, 1, 1, 1, 2]


def test_every_phoneme_gets_a_step():
    assert round_durations(torch.full((7,), 0.01)).tolist() == [1] * 7


def test_rate_defaults_to_one(predictor):
    assert torch.equal(predictor.predict(SENTENCE), predictor.predict(SENTENCE, 1.0))


def test_same_input_same_durations(predictor):
    assert torch.equal(predictor.predict(SENTENCE, 1.3), predictor.predict(SENTENCE, 1.3))


def test_padding_is_silent_and_changes_nothing(predictor, expected):
    padded = torch.nn.functional.pad(SENTENCE, (0, 9))
    with torch.inference_mode():
        durations = predictor(torch.stack((padded, padded)))
    assert torch.allclose(durations[0, :60].double(), expected)
    assert durations[:, 60:].eq(0).all()


@pytest.mark.parametrize("rate", [0.49, 2.01, 0.0, -1.0, float("nan"), float("inf")])
def test_rate_out_of_range(predictor, rate):
    with pytest.raises(ForespeakError, match=r"rate .* out of range: choose 0\.5 to 2\.0") as error:
        predictor.predict(SENTENCE, rate)
    assert "\n" not in str(error.value)


def test_file_round_trip(predictor, expected, tmp_path):
    path = tmp_path / "durations.safetensors"
    save_checkpoint(path, predictor, asdict(predictor.config))
    loaded = load_durations(path)
    assert loaded.config == predictor.config
    assert not loaded.training
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    with torch.inference_mode():
        durations = loaded(SENTENCE[None])[0].double()
    assert torch.allclose(durations, expected, rtol=1e-2)  # fp16


def test_missing_file(tmp_path):
    with pytest.raises(ForespeakError, match=r"nowhere.*is missing: restore"):
        load_durations(tmp_path / "nowhere.safetensors")


def cut_short(path: Path, predictor: DurationPredictor) -> None:
    save_checkpoint(path, predictor, asdict(predictor.config))
    path.write_bytes(path.read_bytes()[:-10])


def no_metadata(path: Path, predictor: DurationPredictor) -> None:
    save_file(predictor.state_dict(), path)


def other_sizes(path: Path, predictor: DurationPredictor) -> None:
    predictor.config = DurationConfig(width=16, blocks=1, kernel=3)
    save_checkpoint(path, predictor, asdict(predictor.config))


def not_weights(path: Path, _: DurationPredictor) -> None:
    path.write_text("version https://git-lfs.github.com/spec/v1")


@pytest.mark.parametrize("damage", [cut_short, no_metadata, other_sizes, not_weights, None])
def test_damaged_file(predictor, tmp_path, damage):
    path = tmp_path
    if damage:
        path = tmp_path / "durations.safetensors"
        damage(path, predictor)
    with pytest.raises(ForespeakError, match=r"is damaged: restore it") as error:
        load_durations(path)
    assert "\n" not in str(error.value)


def test_the_voice_takes_the_time_the_teacher_takes():
    phonemes = with_blanks(torch.tensor([int(i) for i in HER_VOICE.split()]))
    durations = load_durations(ASSET).predict(phonemes)
    assert durations.sum().item() == pytest.approx(276, rel=0.1)
    assert durations.max() <= 20
    assert ASSET.stat().st_size <= 2_000_000
