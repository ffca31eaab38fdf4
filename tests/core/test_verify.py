"""Accept rules one by one: extreme numbers, greedy verdicts, the numbers they read."""

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from core.errors import ForespeakError
from core.rules.exact import accept_probability, residual, verify_ratio
from core.sampling import Lane, Noise
from core.verify import RULES, Rule, find_rule

LOSSLESS = [rule for rule in RULES.values() if rule.lossless]


@dataclass(frozen=True)
class Fixed(Noise):
    """Every uniform number is u, every Gumbel number is flat."""

    u: float

    def uniform(self, lane: Lane, position: int, row: int) -> float:  # noqa: ARG002
        return self.u

    def gumbel(self, position: int, size: int) -> Tensor:  # noqa: ARG002
        return torch.zeros(size)


BELOW_ONE = 1 - 2**-53
ONE_HOT = torch.eye(3)
SHARP = torch.tensor([0.0, 1.0, 0.0])
FLAT = torch.tensor([0.25, 0.5, 0.25])


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
@pytest.mark.parametrize("token", [0, 1, 2])
def test_verify_leaves_its_inputs_alone(rule: Rule, token: int) -> None:
    """The rows are recorded in the trace after the verdict (vllm-ascend#2881 zeroed them)."""
    draft_probs = torch.tensor([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    target_probs = torch.tensor([[0.5, 0.1, 0.4], [0.3, 0.3, 0.4], [0.6, 0.2, 0.2]])
    tokens = [token, token]
    for seed in range(8):
        rule.verify(tokens, draft_probs, target_probs, Noise(seed).at(0))
    assert tokens == [token, token]
    assert draft_probs.tolist() == torch.tensor([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]).tolist()
    assert torch.equal(
        target_probs, torch.tensor([[0.5, 0.1, 0.4], [0.3, 0.3, 0.4], [0.6, 0.2, 0.2]])
    )


@pytest.mark.parametrize("rule", LOSSLESS, ids=lambda rule: rule.name)
@pytest.mark.parametrize("u", [0.0, BELOW_ONE])
@pytest.mark.parametrize("p", [*ONE_HOT, FLAT, torch.tensor([0.0, 0.5, 0.5])])
@pytest.mark.parametrize("q", [*ONE_HOT, FLAT, torch.tensor([0.5, 0.5, 0.0])])
def test_extreme_numbers_never_emit_the_impossible(
    rule: Rule, u: float, p: Tensor, q: Tensor
) -> None:
    """u = 0 and u just below 1 slip through a comparison that is off by its equality."""
    target_probs = torch.stack((p, p))
    rng = Fixed(u).at(0)
    for token in q.nonzero().flatten().tolist():
        accepted, following = rule.verify([token], q[None], target_probs, rng)
        emitted = [*[token][:accepted], following]
        assert all(p[t] > 0 for t in emitted)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_nothing_drafted_is_one_plain_draw(rule: Rule) -> None:
    """An empty window: indexing an empty draft fails, or row -1 is read."""
    target_probs = torch.tensor([[0.0, 0.0, 1.0]])
    assert rule.verify([], torch.empty(0, 0), target_probs, Noise(0).at(0)) == (0, 2)


@pytest.mark.parametrize("rule", LOSSLESS, ids=lambda rule: rule.name)
def test_greedy_verdict_at_every_row(rule: Rule) -> None:
    """One-hot p and q: the verdict is decided, whatever the noise; token 0 counts as a token."""
    said = [0, 1, 0, 2]
    target_probs = ONE_HOT[said]
    for wrong in range(4):
        tokens = [(t + (row == wrong)) % 3 for row, t in enumerate(said[:3])]
        for seed in range(5):
            verdict = rule.verify(tokens, ONE_HOT[tokens], target_probs, Noise(seed).at(0))
            assert verdict == (wrong, said[wrong])


def test_numbers_are_read_at_the_rows_own_places() -> None:
    """Rows that share a number, or a bonus that reads the last row's, are biased."""
    asked: list[tuple[str, int]] = []

    class Spy:
        def accept(self, row: int, probability: float) -> bool:
            asked.append(("accept", row))
            return probability > 0

        def resample(self, row: int, probabilities: Tensor) -> int:
            asked.append(("resample", row))
            return int(probabilities.argmax())

    verify_ratio([1, 1], torch.stack((FLAT, FLAT)), torch.stack((SHARP,) * 3), Spy())
    assert asked == [("accept", 0), ("accept", 1), ("resample", 2)]
    asked.clear()
    verify_ratio([1, 0, 1], torch.stack((FLAT,) * 3), torch.stack((SHARP,) * 4), Spy())
    assert asked == [("accept", 0), ("accept", 1), ("resample", 1)]


@pytest.mark.parametrize(
    ("p", "q", "wanted"),
    [
        (0.2, 0.4, 0.5),
        (0.4, 0.2, 1.0),
        (0.3, 0.3, 1.0),
        (0.0, 0.5, 0.0),
        (0.0, 0.0, 0.0),
        (1e-40, 1.0, 1e-40),
        (1.0, 1e-300, 1.0),
        (0.1, 0.0, 1.0),
    ],
)
def test_accept_probability(p: float, q: float, wanted: float) -> None:
    """A division by zero, or acceptance of what the target cannot say."""
    assert accept_probability(p, q) == wanted


def test_residual() -> None:
    """Hand-computed; and p itself where nothing is left, not 0 / 0."""
    p, q = torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.2, 0.2, 0.6])
    assert residual(p, q).tolist() == pytest.approx([0.75, 0.25, 0.0])
    assert torch.equal(residual(p, p), p)
    assert torch.equal(residual(SHARP, ONE_HOT[0]), SHARP)
    nearly = p * (1 - 1e-7)
    assert residual(nearly, p).sum() == pytest.approx(1)


def test_find_rule() -> None:
    """An unknown name must reach the person as a line they can act on, with the choices."""
    assert all(find_rule(name).name == name for name in RULES)
    with pytest.raises(ForespeakError, match=r"'fast'.*lossless"):
        find_rule("fast")
