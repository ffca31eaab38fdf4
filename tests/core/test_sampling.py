"""From logits to tokens: which tokens may be said, how often, and with which random numbers."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from torch import Tensor

from core.errors import ForespeakError
from core.sampling import KeyedDraws, Lane, Noise, Sampling, gumbel_argmax, inverse_cdf, probs

UNLIKELY = 1e-4  # of a right program failing a chi-square test, were its seeds not fixed
BELOW_ONE = 1 - 2**-53
LOGITS = torch.tensor([1.0, 3.0, 2.0, 0.0])


def support(result: Tensor) -> list[int]:
    return result.nonzero().flatten().tolist()


@pytest.mark.parametrize(
    "values",
    [
        {"temperature": -0.1},
        {"temperature": 5.1},
        {"temperature": float("nan")},
        {"temperature": float("inf")},
        {"top_k": -1},
        {"top_k": float("nan")},
        {"top_p": 0.0},
        {"top_p": -0.5},
        {"top_p": 1.01},
        {"top_p": float("nan")},
    ],
)
def test_bad_settings_are_refused_with_a_line(values: dict) -> None:
    """NaN passes every naive comparison, then turns the whole sentence into NaN."""
    with pytest.raises(ForespeakError, match="out of range") as error:
        Sampling(**values)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("values", [(0, 0, 1.0), (5, 0, 1e-9), (1e-300, 10**6, 1.0)])
def test_settings_at_the_edge_are_accepted(values: tuple) -> None:
    """A check that is too strict refuses greedy, or the largest value the page offers."""
    Sampling(*values)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_temperature(temperature: float) -> None:
    """Multiplied where it should divide, or applied after the softmax."""
    wanted = np.exp(LOGITS.double().numpy() / temperature)
    wanted /= wanted.sum()
    assert probs(LOGITS, Sampling(temperature)).tolist() == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 1000])
def test_top_k_keeps_the_k_likeliest(k: int) -> None:
    """Off by one, k beyond V crashing, or the rest left un-normalised."""
    result = probs(LOGITS, Sampling(1.0, top_k=k))
    assert support(result) == sorted([1, 2, 0, 3][:k])
    full = LOGITS.softmax(-1)
    kept = torch.where(result > 0, full, 0)
    assert result.tolist() == pytest.approx((kept / kept.sum()).tolist(), rel=1e-5)


@pytest.mark.parametrize(
    ("p", "wanted"), [(1e-9, 1), (0.49, 1), (0.51, 2), (0.79, 2), (0.81, 3), (0.96, 4), (1.0, 4)]
)
def test_top_p_keeps_the_smallest_sufficient_set(p: float, wanted: int) -> None:
    """The token that crosses p belongs to the set; a tiny p must leave one token, not none."""
    mass = torch.tensor([0.3, 0.05, 0.5, 0.15])
    result = probs(mass.log(), Sampling(1.0, top_p=p))
    assert support(result) == sorted([2, 0, 3, 1][:wanted])
    kept = torch.where(result > 0, mass, 0)
    assert result.tolist() == pytest.approx((kept / kept.sum()).tolist(), rel=1e-5)


def test_top_p_sees_what_top_k_and_temperature_left() -> None:
    """The order: top-p over the un-normalised rest masks everything (mlx-lm#388)."""
    mass = torch.tensor([0.4, 0.3, 0.2, 0.1])
    # After top-k 2 the masses are 4/7 and 3/7: p = 0.5 is met by the first alone.
    assert support(probs(mass.log(), Sampling(1.0, top_k=2, top_p=0.5))) == [0]
    assert support(probs(mass.log(), Sampling(1.0, top_p=0.5))) == [0, 1]
    # Temperature 0.5 squares them: 16/30 meets p = 0.5.
    assert support(probs(mass.log(), Sampling(0.5, top_p=0.5))) == [0]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_ties_at_the_top_k_edge_keep_exactly_k(k: int) -> None:
    """A threshold comparison keeps every tied token, so k is not k."""
    result = probs(torch.zeros(4), Sampling(1.0, top_k=k))
    assert result[result > 0].tolist() == pytest.approx([1 / k] * k)


@pytest.mark.parametrize(("p", "count"), [(0.2, 1), (0.3, 2), (0.5, 2), (0.6, 3), (0.9, 4)])
def test_ties_at_the_top_p_edge(p: float, count: int) -> None:
    """Tied tokens kept or dropped together would exceed or miss p."""
    assert len(support(probs(torch.zeros(4), Sampling(1.0, top_p=p)))) == count


def test_greedy_is_one_hot_and_takes_the_first_of_ties() -> None:
    """Temperature 0 divides by zero (vllm#27077), or has no probabilities (llama.cpp#5657)."""
    greedy = Sampling(0.0, top_k=1, top_p=0.1)
    assert probs(LOGITS, greedy).tolist() == [0, 1, 0, 0]
    assert probs(torch.zeros(3), greedy).tolist() == [1, 0, 0]
    assert probs(torch.tensor([-torch.inf, -5.0]), greedy).tolist() == [0, 1]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("temperature", [1e-320, 1e-46, 1e-6, 5.0])
@pytest.mark.parametrize("top_p", [1e-320, 1e-46, 1e-6, 1.0])
def test_extreme_settings_never_give_nan(
    dtype: torch.dtype, temperature: float, top_p: float
) -> None:
    """A value that float32 rounds to zero makes 0 / 0; large logits overflow."""
    logits = torch.tensor([-6e4, 6e4, 5.9e4], dtype=dtype)
    result = probs(logits, Sampling(temperature, top_p=top_p))
    assert result.tolist() == pytest.approx([0, 1, 0])
    huge = torch.tensor([-1e9, 1e9, 0.9e9])
    assert probs(huge, Sampling(temperature, top_p=top_p)).tolist() == [0, 1, 0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_logits_give_float32_probabilities(dtype: torch.dtype) -> None:
    """Drawn in half precision but tested in float32, q is not q (DeepSpec#31)."""
    logits = torch.linspace(-3, 3, 512).to(dtype)
    for sampling in (Sampling(0.8), Sampling(0.8, 50, 0.9), Sampling(0.0)):
        result = probs(logits, sampling)
        assert result.dtype == torch.float32
        assert torch.equal(result, probs(logits.float(), sampling))
        assert float(result.sum()) == pytest.approx(1, abs=1e-6)
    assert probs(logits.double(), Sampling(0.8, 50, 0.9)).dtype == torch.float64


@given(
    seed=st.integers(0, 10**6),
    temperature=st.sampled_from([0.0, 1e-6, 0.3, 0.8, 1.0, 5.0]),
    top_k=st.sampled_from([0, 1, 3, 12, 13, 500]),
    top_p=st.sampled_from([1e-6, 0.3, 0.9, 1.0]),
    ties=st.booleans(),
)
def test_any_row_is_a_distribution_and_does_not_depend_on_its_company(
    seed: int, temperature: float, top_k: int, top_p: float, ties: bool
) -> None:
    """q recomputed is the stored q, bit for bit, alone or in a pass of many rows."""
    logits = torch.randn(2, 4, 13, generator=torch.Generator().manual_seed(seed)) * 3
    if ties:
        logits = logits.round()
    before = logits.clone()
    sampling = Sampling(temperature, top_k, top_p)
    result = probs(logits, sampling)
    assert result.shape == logits.shape
    assert torch.equal(logits, before)
    assert bool((result >= 0).all())
    assert result.sum(-1).flatten().tolist() == pytest.approx([1] * 8, abs=1e-6)
    for batch, row in product(range(2), range(4)):
        assert torch.equal(probs(logits[batch, row], sampling), result[batch, row])
        likeliest = logits[batch, row] == logits[batch, row].max()
        assert result[batch, row, likeliest].sum() > 0
        if top_k:
            assert len(support(result[batch, row])) <= top_k


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("u", [0.0, 2**-53, 0.25, 0.5, 0.75, 1 - 2**-24, BELOW_ONE])
@pytest.mark.parametrize(
    "weights",
    [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0.5, 0, 0.5, 0], [0.1] * 10 + [0], [0, 1e-30, 1, 1e-30]],
)
def test_inverse_cdf_never_says_the_impossible(
    weights: list[float], u: float, dtype: torch.dtype
) -> None:
    """u = 0 hits a leading zero; u just below 1 rounds to 1 and runs past the end."""
    p = torch.tensor(weights, dtype=dtype)
    assert p[inverse_cdf(p, u)] > 0


def test_inverse_cdf_cuts_where_the_masses_meet() -> None:
    """A boundary on the wrong side shifts every token by one at some u."""
    p = torch.tensor([0.25, 0.0, 0.5, 0.25])
    drawn = [inverse_cdf(p, u) for u in (0.0, 0.2499, 0.25, 0.5, 0.7499, 0.75, 0.9999)]
    assert drawn == [0, 0, 2, 2, 2, 3, 3]


def chi_square_p(drawn: list[int], p: Tensor) -> float:
    counts = Counter(drawn)
    assert all(p[token] > 0 for token in counts)
    kept = support(p)
    expected = p[kept].double() / p[kept].double().sum() * len(drawn)
    return chisquare([counts[token] for token in kept], expected.numpy()).pvalue


SKEWED = torch.tensor([0.4, 0.0, 0.1, 0.3, 0.05, 0.15])


def test_every_draw_follows_its_distribution() -> None:
    """A lane that is not uniform, or Gumbel noise that is not Gumbel."""
    noise = Noise(7)
    positions = range(6000)
    for name in ("draft", "resample", "gumbel"):
        drawn = [getattr(noise.at(n), name)(0, SKEWED) for n in positions]
        assert chi_square_p(drawn, SKEWED) > UNLIKELY, name
        # Teeth: the same draws are not those of a distribution a little off.
        off = torch.tensor([0.36, 0.0, 0.1, 0.34, 0.05, 0.15])
        assert chi_square_p(drawn, off) < UNLIKELY, name
    accepted = [int(noise.at(n).accept(0, 0.3)) for n in positions]
    assert chi_square_p(accepted, torch.tensor([0.7, 0.3])) > UNLIKELY


def test_gumbel_argmax_never_says_the_impossible() -> None:
    """log 0 plus the largest noise must still lose, and one possible token must win."""
    assert gumbel_argmax(torch.tensor([0.0, 1.0, 0.0]), torch.tensor([40.0, -40.0, 40.0])) == 1
    assert gumbel_argmax(torch.tensor([0.0, 1e-30, 0.0]), torch.tensor([40.0, -40.0, 40.0])) == 1


def test_same_noise_draws_alike_from_alike_distributions() -> None:
    """What Gumbel match lives on: draft and target share the noise, so they mostly agree."""
    q = torch.tensor([0.42, 0.0, 0.08, 0.28, 0.07, 0.15])
    draws = [Noise(3).at(n) for n in range(500)]
    agree = sum(d.gumbel(0, q) == d.gumbel(0, SKEWED) for d in draws)
    assert agree > 450
    assert sum(d.draft(0, q) == d.resample(0, SKEWED) for d in draws) < 300


def everything(noise: Noise, positions: list[int]) -> dict:
    numbers = {
        (lane, n, row): noise.uniform(lane, n, row)
        for n in positions
        for lane in Lane
        for row in (0, 1, 7)
    }
    return numbers | {n: tuple(noise.gumbel(n, 5).tolist()) for n in positions}


def test_noise_does_not_depend_on_what_was_asked_before() -> None:
    """A generator with a state shifts every later token when γ or the rule changes."""
    positions = [0, 1, 63, 64, 65, 200, 5000]
    wanted = everything(Noise(5, 2), positions)
    assert everything(Noise(5, 2), positions[::-1]) == wanted
    noise = Noise(5, 2)
    assert noise.uniform(Lane.ACCEPT, 64, 1) == wanted[Lane.ACCEPT, 64, 1]
    everything(noise, [64, 3, 9999])
    assert everything(noise, positions) == wanted
    assert everything(noise, positions) == wanted


def test_global_seeds_neither_matter_nor_move() -> None:
    """A global generator ties the demo's sound to whatever else draws numbers."""
    torch.manual_seed(0)
    np.random.seed(0)
    first = everything(Noise(1), [0, 1])
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].tolist()
    torch.manual_seed(1)
    np.random.seed(1)
    assert everything(Noise(1), [0, 1]) == first
    torch.manual_seed(0)
    np.random.seed(0)
    everything(Noise(1), [0, 1])
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert np.random.get_state()[1].tolist() == numpy_state


def test_no_number_is_used_twice() -> None:
    """Seeds, sentences, lanes or positions that overlap make tokens depend on each other."""
    numbers = [
        Noise(seed, stream).uniform(lane, position, row)
        for seed, stream, position in product((0, 1, -1, -2, 2**63), (0, 1, 2), range(0, 400, 7))
        for row in (0, 1, 2, 16)
        for lane in (Lane.DRAFT, Lane.ACCEPT, Lane.RESAMPLE)
    ]
    numbers += [
        float(number)
        for seed, stream, position in product((0, 1, -1, -2), (0, 1), range(130))
        for number in Noise(seed, stream)._row(Lane.GUMBEL, position, 5)
    ]
    assert len(set(numbers)) == len(numbers)
    assert 0.49 < float(np.mean(numbers)) < 0.51


def test_neighbouring_numbers_are_independent() -> None:
    """Lanes or positions that are not equal but move together."""
    noise = Noise(11)
    lanes = [(lane, row) for lane in (Lane.DRAFT, Lane.ACCEPT) for row in (0, 1)]
    table = np.array([[noise.uniform(lane, n, row) for lane, row in lanes] for n in range(4000)])
    columns = np.concatenate((table[:-1], table[1:], [[*row] for row in table[1:] ** 2]), 1)
    correlation = np.corrcoef(columns[:, :8], rowvar=False) - np.eye(8)
    assert np.abs(correlation).max() < 5 / np.sqrt(4000)


@pytest.mark.parametrize("seed", [-1, -(2**63), 0, 2**32, 2**63, 2**64 - 1, 10**30])
def test_any_whole_number_is_a_seed(seed: int) -> None:
    """The page's seed box takes any number; numpy's keys do not."""
    assert 0 <= Noise(seed).uniform(Lane.DRAFT, 0, 0) < 1
    assert Noise(seed).uniform(Lane.DRAFT, 0, 0) == Noise(seed).uniform(Lane.DRAFT, 0, 0)


def test_gumbel_noise_belongs_to_the_token_and_the_other_numbers_to_the_round() -> None:
    """Gumbel match must say the same wherever a round begins; what else a round reads must not
    come back in the next one, as block verification's verdict depends on all of it."""
    noise = Noise(9)
    p = torch.full((50,), 0.02)
    there = [noise.at(10).gumbel(row, p) for row in range(17)]
    assert there == [noise.at(10 + row).gumbel(0, p) for row in range(17)]
    for lane in (Lane.DRAFT, Lane.ACCEPT, Lane.RESAMPLE):
        numbers = [noise.uniform(lane, n, row) for n in range(10, 30) for row in range(17)]
        assert len(set(numbers)) == len(numbers)
    rng = KeyedDraws(noise, 10)
    for row in range(10):
        u = noise.uniform(Lane.ACCEPT, 10, row)
        assert rng.accept(row, u + 1e-12)
        assert not rng.accept(row, u)


def test_draws_remember_the_numbers_of_their_accept_tests() -> None:
    """What the trace shows beside p and q must be the very number that decided."""
    noise = Noise(9)
    rng = noise.at(10)
    assert list(rng.accept_draws) == []
    rng.draft(0, torch.ones(5))
    verdicts = [rng.accept(row, 0.5) for row in range(20)]
    rng.resample(20, torch.ones(5))
    assert list(rng.accept_draws) == [noise.uniform(Lane.ACCEPT, 10, row) for row in range(20)]
    assert verdicts == [u < 0.5 for u in rng.accept_draws]
    assert len(set(verdicts)) == 2
    assert list(noise.at(10).accept_draws) == []


def test_acceptance_at_the_ends() -> None:
    """Probability 1 must always accept and 0 never, whatever the number."""
    noise = Noise(0)
    assert all(noise.at(n).accept(0, 1.0) for n in range(300))
    assert not any(noise.at(n).accept(0, 0.0) for n in range(300))


def test_gumbel_noise_is_finite_where_uniform_numbers_end() -> None:
    """u = 0 makes minus infinity, and minus infinity plus log 0 is no order."""

    class Ends(Noise):
        def _row(self, lane: Lane, position: int, width: int) -> np.ndarray:  # noqa: ARG002
            return np.array([0.0, 2**-53, 0.5, BELOW_ONE])

    assert bool(Ends(0).gumbel(0, 4).isfinite().all())
