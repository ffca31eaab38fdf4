"""What the training stages share: trainer, batches, Muon; restacking, distillation, the trade."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

pytest.importorskip("tqdm")  # requirements-train.txt

from core.lm.conditioner import Conditioner, ConditionerConfig
from core.lm.decoder import Decoder
from core.lm.runtime import DecoderRuntime
from core.outlook import LONGEST
from core.speedup import Costs
from core.train import __main__ as command
from core.train.dataset import Batch, Utterance, batches, by_length, collate, move
from core.train.draft import Lesson, digest, distillation_losses, overlap, respeak_all, weigh
from core.train.durations import DurationBatch, duration_losses
from core.train.loop import CPU, Trainer
from core.train.muon import Muon, orthogonalise
from core.train.target import restack
from core.train.trade import Trade
from tests.fakes import tiny_decoder


@dataclass(frozen=True)
class Points:
    """Inputs x [B, 2] and what a linear layer should make of them, y [B, 1]."""

    x: Tensor
    y: Tensor

    @property
    def valid(self) -> Tensor:
        return torch.ones(len(self.x), dtype=torch.bool)


def points(rng: random.Random) -> Points:
    x = torch.tensor([[rng.gauss(0, 1), rng.gauss(0, 1)] for _ in range(16)])
    return Points(x, x @ torch.tensor([[2.0], [-1.0]]))


class Toy:
    """A linear layer, its trainer, and the batches it was given."""

    def __init__(self, checkpoint: Path, minutes: float):
        torch.manual_seed(0)
        self.layer = nn.Linear(2, 1)
        self.trainer = Trainer(checkpoint, [self.layer], self.losses, minutes, lr=0.05)
        self.seen: list[float] = []

    def losses(self, batch: Points) -> dict[str, Tensor]:
        return {"loss": (self.layer(batch.x) - batch.y).pow(2).mean()}

    def epoch(self, rng: random.Random) -> Iterator[Points]:
        for _ in range(5):
            batch = points(rng)
            self.seen.append(batch.x[0, 0].item())
            yield batch

    def run(self) -> dict[str, float]:
        exam = [points(random.Random(-1))]
        self.trainer.run(self.epoch, exam)
        return self.trainer.evaluate(exam)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the trainer's clock is a second later: a step takes one or two."""
    now = iter(range(10**6))
    monkeypatch.setattr("core.train.loop.monotonic", lambda: float(next(now)))


def test_trains_until_the_budget_is_spent(tmp_path: Path):
    toy = Toy(tmp_path / "toy.pt", minutes=2)
    before = toy.trainer.evaluate([points(random.Random(-1))])["loss"]
    after = toy.run()["loss"]
    assert toy.trainer.spent == 120
    assert toy.trainer.steps == 120
    assert after < 0.01 * before


def test_resumes_where_it_stopped_with_other_batches(tmp_path: Path):
    path = tmp_path / "toy.pt"
    first = Toy(path, minutes=0.5)
    score = first.run()["loss"]
    second = Toy(path, minutes=1)
    assert (second.trainer.spent, second.trainer.steps) == (30, 30)
    assert torch.equal(first.layer.weight, second.layer.weight)
    assert second.run()["loss"] < score
    assert second.trainer.steps == 60
    assert not set(first.seen) & set(second.seen)
    state = torch.load(path)
    assert set(state) == {"modules", "optimizers", "spent", "steps"}


def test_a_finished_stage_does_nothing(tmp_path: Path):
    path = tmp_path / "toy.pt"
    Toy(path, minutes=0.5).run()
    written = path.read_bytes()
    again = Toy(path, minutes=0.5)
    again.run()
    assert not again.seen
    assert again.trainer.steps == 30
    assert path.read_bytes() == written


def test_failures_are_one_line_and_exit_code_2(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("sys.argv", ["train", "durations", "--work", str(tmp_path)])
    monkeypatch.setattr("torch.set_num_threads", lambda _: None)
    with pytest.raises(SystemExit) as exit_:
        command.main()
    assert exit_.value.code == 2
    message = capsys.readouterr().err
    assert "tokens.npz is missing: run the stage `codec` first." in message
    assert message.count("\n") == 1


def utterances(count: int = 30) -> list[Utterance]:
    """Of 2 to 40 frames, each known by its text."""
    rng = torch.Generator().manual_seed(0)
    result = []
    for name in range(count):
        frames = int(torch.randint(2, 41, (1,), generator=rng))
        codes = torch.randint(7, (3, frames), generator=rng)
        durations = torch.full((frames,), 4)
        result.append(Utterance(codes, torch.arange(1, frames + 1), durations, str(name)))
    return result


@pytest.mark.parametrize("rng", [None, random.Random(1)])
def test_no_utterance_is_lost_and_like_lengths_meet(rng: random.Random | None):
    groups = by_length(utterances(), lambda u: u.codes.shape[1], 100, rng)
    names = [int(u.text) for group in groups for u in group]
    assert sorted(names) == list(range(30))
    for group in groups:
        lengths = [u.codes.shape[1] for u in group]
        assert len(group) * max(lengths) <= 100
        assert max(lengths) - min(lengths) <= 12
    if rng is None:
        lengths = [u.codes.shape[1] for group in groups for u in group]
        assert lengths == sorted(lengths)


def test_long_items_stand_alone_and_nothing_makes_nothing():
    assert by_length([5, 50, 7], int, 20, None) == [[5, 7], [50]]
    assert by_length([], int, 20, None) == []


def test_batches_hold_every_frame():
    found = list(batches(utterances(), random.Random(0), max_frames=100))
    assert sum(int(b.valid.sum()) for b in found) == sum(u.codes.shape[1] for u in utterances())
    assert all(b.valid.numel() <= 100 for b in found)


def test_moving_keeps_a_batch_what_it_is():
    batch = collate(utterances(3))
    moved = move(batch, torch.device("meta"))
    assert isinstance(moved, Batch)
    assert moved.alignment.place.device.type == moved.codes.device.type == "meta"
    assert batch.codes.device.type == "cpu"


def test_muon_orthogonalises():
    torch.manual_seed(0)
    for shape in ((6, 20), (20, 6)):
        values = torch.linalg.svdvals(orthogonalise(torch.randn(shape)))
        assert ((values > 0.5) & (values < 1.3)).all()


def test_muon_descends():
    torch.manual_seed(0)
    aim, weight = torch.randn(8, 8), nn.Parameter(torch.zeros(8, 8))
    optimizer = Muon([weight], lr=0.05)
    for _ in range(200):
        optimizer.zero_grad()
        (weight - aim).pow(2).sum().backward()
        optimizer.step()
    assert (weight - aim).pow(2).sum() < 0.2 * aim.pow(2).sum()


def lesson_parts(frames: int = 6) -> tuple[Tensor, Tensor, Tensor]:
    """codes, cond and hint for the tiny decoder, two sentences."""
    rng = torch.Generator().manual_seed(5)
    codes = torch.randint(7, (2, 3, frames), generator=rng)
    cond = torch.randn(2, frames, 12, generator=rng)
    return codes, cond, torch.randn(2, frames, 5, generator=rng)


@torch.no_grad()
@pytest.mark.parametrize("depth", [1, 12])
def test_restacked_decoders_start_near_the_given_one(depth: int):
    """Layers are scaled so that their sum stays what it was. That holds for layers that are
    alike and add little, as those of a trained decoder nearly do."""
    given = tiny_decoder(0, layers=3)
    for block in given.blocks:
        block.load_state_dict(given.blocks[0].state_dict())
    scale_updates(given, 0.05)
    result = restack(given, depth, given.vectors)
    assert len(result.blocks) == depth
    wanted = given(*lesson_parts())
    assert distance(result, wanted) < 0.1
    scale_updates(result, depth / 3)
    assert distance(result, wanted) > 0.2


def scale_updates(decoder: Decoder, factor: float) -> None:
    for block in decoder.blocks:
        block.out.weight *= factor
        block.down.weight *= factor


def distance(decoder: Decoder, wanted: Tensor) -> float:
    """Of its logits to the wanted ones, in their standard deviations."""
    error = (decoder(*lesson_parts()) - wanted).pow(2).mean().sqrt()
    return float(error / wanted.std())


@torch.no_grad()
def test_restacking_to_the_same_depth_changes_nothing():
    given = tiny_decoder(0, layers=3)
    result = restack(given, 3, given.vectors)
    # The codebooks' scale is taken out by either decoder.
    assert torch.allclose(result(*lesson_parts()), given(*lesson_parts()), atol=1e-4)


def test_distillation_raises_alpha(tmp_path: Path):
    target, draft = tiny_decoder(0, layers=2), tiny_decoder(1, layers=1)
    codes, cond, hint = lesson_parts()
    batch = Batch(codes, torch.ones(2, 6, dtype=torch.bool), collate(utterances(2)).alignment)
    with torch.no_grad():
        lesson = Lesson(batch, cond, hint, target(codes, cond, hint)[batch.valid].half())
    trainer = Trainer(
        tmp_path / "draft.pt", [draft], partial(distillation_losses, draft), 1, lr=5e-3
    )
    before = trainer.evaluate([lesson])
    trainer.run(lambda _: iter([lesson]), [lesson])
    after = trainer.evaluate([lesson])
    assert all(0 <= value <= 1 for name, value in {**before, **after}.items() if "alpha" in name)
    assert after["alpha"] > before["alpha"] + 0.1
    assert after["kl"] < before["kl"]


def test_overlap_of_a_distribution_with_itself_is_one():
    logits = torch.randn(4, 7)
    assert torch.allclose(overlap(logits, logits, 0.8), torch.ones(4))
    apart = torch.tensor([[0.0, -100.0]])
    assert overlap(apart, apart.flip(1), 0.8).item() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("alpha", "c", "gamma"), [(0.9, 0.05, 8), (0.5, 0.15, 2)])
def test_the_trade_is_that_of_the_best_gamma(alpha: float, c: float, gamma: int):
    trade = Trade.of("draft", 1, alpha, Costs.steady(c, (1.0,) * 9))
    assert (trade.c, trade.gamma) == (c, gamma)
    tokens = sum(alpha**i for i in range(gamma + 1))
    assert trade.speedup == pytest.approx(tokens / (gamma * c + 1))


def test_drafts_are_weighed_by_their_own_alpha_and_size():
    config = ConditionerConfig(
        phoneme_width=16, phoneme_blocks=1, width=12, frame_blocks=1, code_dim=5
    )
    drafts = {"deep": tiny_decoder(1, layers=3), "shallow": tiny_decoder(2, layers=1)}
    trades, v = weigh(
        Conditioner(config).eval(),
        DecoderRuntime(tiny_decoder(0), CPU),
        drafts,
        {"deep": 0.7, "shallow": 0.5},
        utterances(2),
    )
    assert [(trade.name, trade.alpha) for trade in trades] == [("deep", 0.7), ("shallow", 0.5)]
    assert trades[0].parameters > trades[1].parameters
    assert min(trade.c for trade in trades) > 0
    assert (len(v), v[0]) == (LONGEST + 1, 1)


def test_respeaking_goes_on_where_it_stopped(monkeypatch, tmp_path: Path):
    asked = []

    def respeak(_conditioner, _target, u: Utterance) -> Utterance:
        asked.append(u.text)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return u

    monkeypatch.setattr("core.train.draft.respeak", respeak)
    monkeypatch.setattr("core.train.draft.SAVE_EVERY", 2)
    given, path = utterances(5), tmp_path / "respoken.pt"
    with pytest.raises(KeyboardInterrupt):
        respeak_all(None, None, given, path, "a")
    assert len(respeak_all(None, None, given, path, "a")) == 5
    assert asked == ["0", "1", "2", "3", "2", "3", "4"]
    respeak_all(None, None, given, path, "a")
    assert len(asked) == 7
    respeak_all(None, None, given, path, "another target")
    assert len(asked) == 12


def test_digest_follows_the_files(tmp_path: Path):
    path = tmp_path / "a"
    path.write_bytes(b"1")
    before = digest([path])
    path.write_bytes(b"2")
    assert digest([path]) != before


def test_phonemes_are_hidden_in_training_only():
    class Recorder(nn.Module):
        def forward(self, phonemes: Tensor) -> Tensor:
            self.seen = phonemes
            return torch.ones(phonemes.shape)

    model = Recorder()
    phonemes = torch.arange(1, 201).expand(20, -1).contiguous()
    batch = move(DurationBatch(phonemes, torch.ones_like(phonemes)), CPU)
    duration_losses(model.eval(), batch)
    assert torch.equal(model.seen, phonemes)
    duration_losses(model.train(), batch)
    assert 0 < (model.seen != phonemes).float().mean() < 0.1
