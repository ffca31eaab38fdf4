"""The runtime against the training model: same logits, whatever the passes and rollbacks."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from core.adaptive import Fixed
from core.decode import autoregressive, speculative
from core.drafters import DraftModel
from core.lm.compiled import CompiledDecoder, CompiledState
from core.lm.decoder import Decoder
from core.lm.linear import PlainLinear, prepare_linear
from core.lm.runtime import DecoderRuntime, DecoderState
from core.sampling import Noise, Sampling
from core.verify import RULES
from tests.fakes import exact_weight, tiny_decoder

CPU = torch.device("cpu")
FRAMES = 9
Q, V, WINDOW = 3, 7, 8
SENTENCE = FRAMES * Q


def plain_linear(weight: Tensor, _device: torch.device, bias: Tensor | None = None) -> PlainLinear:
    return PlainLinear(weight, bias)


@dataclass
class Case:
    """A decoder with random weights, its runtime, and one sentence with its right logits."""

    decoder: Decoder
    runtime: DecoderRuntime | CompiledDecoder
    cond: Tensor
    guess: Tensor
    tokens: list[int]
    logits: Tensor
    tolerance: float

    def start(self) -> DecoderState | CompiledState:
        return self.runtime.start(self.cond, self.guess)


@torch.no_grad()
def make_case(tolerance: float, layers: int = 2, compiled: bool = False) -> Case:
    decoder = tiny_decoder(0, layers, WINDOW)
    rng = torch.Generator().manual_seed(1)
    cond = torch.randn(FRAMES, decoder.config.cond_width, generator=rng)
    guess = torch.randn(FRAMES, decoder.config.code_dim, generator=rng)
    codes = torch.randint(V, (1, Q, FRAMES), generator=rng)
    logits = decoder(codes, cond[None], guess[None])[0].flatten(0, 1)
    tokens = codes[0].T.flatten().tolist()
    runtime = CompiledDecoder(decoder) if compiled else DecoderRuntime(decoder, CPU)
    return Case(decoder, runtime, cond, guess, tokens, logits, tolerance)


@pytest.fixture(params=["plain", "packed", "compiled"])
def case(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Case:
    """What runs a target: plain float32 layers show its arithmetic exactly, packed ones are what
    a CPU runs. And what runs a draft, its weights unrounded."""
    if request.param == "plain":
        monkeypatch.setattr("core.lm.runtime.prepare_linear", plain_linear)
    elif request.param == "compiled":
        monkeypatch.setattr("core.lm.kernels.packed", exact_weight)
        monkeypatch.setattr("core.lm.compiled.packed", exact_weight)
    tolerance = 5e-3 if request.param == "packed" else 1e-5
    return make_case(tolerance, compiled=request.param == "compiled")


def assert_close(logits: Tensor, wanted: Tensor, tolerance: float) -> None:
    """Largest difference relative to the spread of the wanted logits."""
    assert logits.shape == wanted.shape
    assert float((logits - wanted).abs().max() / wanted.std()) < tolerance


def feed(state: DecoderState, tokens: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """Logits of all positions, taken in passes of the given sizes (of positions)."""
    rows = []
    for size in sizes:
        start = state.length
        rows.append(state.forward(tokens[max(0, start - 1) : start + size - 1]))
    return torch.cat(rows)


@pytest.mark.parametrize(
    "sizes", [[1] * SENTENCE, [SENTENCE], [5] * 5 + [2], [9, 1, 7, 1, 1, 8], [2, 25], [26, 1]]
)
def test_logits_are_the_training_model_s(case: Case, sizes: list[int]) -> None:
    """Folded norms, table rows, rotary positions, heads or masks that do not quite match."""
    assert_close(feed(case.start(), case.tokens, sizes), case.logits, case.tolerance)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_any_passes_and_rollbacks(case: Case, seed: int) -> None:
    """Stale keys, a mask off by one after a rollback, or tokens that outlive theirs."""
    rng = np.random.default_rng(seed)
    state = case.start()
    for _ in range(25):
        if state.length:
            state.rollback(int(rng.integers(max(0, state.length - 9), state.length + 1)))
        start = state.length
        # Sometimes guesses that are wrong, to be rolled back; the logits up to them are right.
        right = int(rng.integers(0, 6))
        wrong = int(rng.integers(0, 4))
        tokens = case.tokens[max(0, start - 1) : start + right - 1] if start + right else []
        room = SENTENCE - start - len(tokens) - (start == 0)
        if room < 0 or (start > 0 and not tokens):
            continue
        guesses = rng.integers(0, V, min(wrong, room)).tolist()
        logits = state.forward([*tokens, *guesses])
        sound = len(logits) - len(guesses)
        assert_close(logits[:sound], case.logits[start : start + sound], case.tolerance)
        state.rollback(start + sound)
        assert state.length == start + sound
        assert state.tokens == case.tokens[: state.length - 1]


def test_rollback_is_a_fresh_prefill(case: Case) -> None:
    """A cache that remembers what was taken back: to every length, then on to the end."""
    whole = feed(case.start(), case.tokens, [SENTENCE])
    wrong = [(token + 3) % V for token in case.tokens]
    for length in range(1, SENTENCE):
        state = case.start()
        state.forward([*case.tokens[: length - 1], *wrong[length - 1 : SENTENCE - 1]])
        state.rollback(length)
        rest = state.forward(case.tokens[length - 1 : SENTENCE - 1])
        assert_close(rest, whole[length:], case.tolerance)
    state.rollback(0)
    assert state.tokens == []
    assert_close(feed(state, case.tokens, [4, 23]), case.logits, case.tolerance)


def slots(state: DecoderState | CompiledState) -> tuple[Tensor, Tensor]:
    """Views of its keys and values, positions first."""
    if isinstance(state, CompiledState):
        keys, values = torch.from_numpy(state._keys), torch.from_numpy(state._values)
        return keys.transpose(0, 1), values.transpose(0, 1)
    memory = state._run_pass
    return memory._keys.movedim(-1, 0), memory._values.movedim(-2, 0)


def poison(state: DecoderState | CompiledState, value: float) -> None:
    """Overwrite all keys and values that the next position must not see."""
    with torch.inference_mode():
        for cache in slots(state):
            cache[state.length :] = value
            cache[: max(0, state.length - WINDOW + 1)] = value


@pytest.mark.parametrize("value", [1e4, -1e4])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_stale_and_departed_slots_do_not_matter(case: Case, value: float, size: int) -> None:
    """Attention to slots after a rollback, or behind the window, hidden by plausible values."""
    state = case.start()
    state.forward(case.tokens[:1])
    while state.length + size + 2 <= SENTENCE:
        start = state.length
        state.forward([1] * (size + 2))
        state.rollback(start)
        poison(state, value)
        logits = state.forward(case.tokens[start - 1 : start + size - 1])
        assert_close(logits, case.logits[start : start + size], case.tolerance)


def test_the_poison_is_felt_where_it_should_be(case: Case) -> None:
    """Teeth: the same poison one slot into the window changes the logits."""
    state = case.start()
    state.forward(case.tokens[:14])
    with torch.inference_mode():
        slots(state)[1][state.length - WINDOW + 1] = 1e4
    logits = state.forward(case.tokens[14:15])
    assert float((logits - case.logits[15:16]).abs().max()) > 0.1


def test_a_full_cache_is_full(case: Case) -> None:
    """One slot short fails at the sentence's last token; one too many hides a wrong length."""
    state = case.start()
    state.forward(case.tokens[:-2])
    assert state.length == SENTENCE - 1
    for too_many in ([1, 2], [1, 2, 3, 4]):
        with pytest.raises(ValueError, match="do not fit"):
            state.forward(too_many)
        assert state.length == SENTENCE - 1
        assert state.tokens == case.tokens[:-2]
    assert_close(state.forward(case.tokens[-2:-1]), case.logits[-1:], case.tolerance)
    assert state.length == SENTENCE
    with pytest.raises(ValueError, match="do not fit"):
        state.forward([0])
    with pytest.raises(ValueError, match="do not fit"):
        case.start().forward(case.tokens)


def test_an_empty_pass_is_refused_except_at_the_beginning(case: Case) -> None:
    """No tokens at all is a mistake of the caller's, save for the first position."""
    state = case.start()
    assert_close(state.forward([]), case.logits[:1], case.tolerance)
    with pytest.raises(ValueError, match="do not fit"):
        state.forward([])


def test_rollback_bounds(case: Case) -> None:
    """Rolling forward would make garbage out of stale slots valid."""
    state = case.start()
    state.forward(case.tokens[:4])
    assert (state.length, state.tokens) == (5, case.tokens[:4])
    for length in (-1, 6):
        with pytest.raises(ValueError, match="roll back"):
            state.rollback(length)
    state.rollback(5)
    assert (state.length, state.tokens) == (5, case.tokens[:4])
    state.rollback(1)
    assert (state.length, state.tokens) == (1, [])
    state.rollback(0)
    assert (state.length, state.tokens) == (0, [])


def test_two_sentences_of_one_runtime_do_not_disturb_each_other(case: Case) -> None:
    """Shared buffers: two people, or target passes of two sentences, at once."""
    shape = case.cond.shape
    other_cond = torch.randn(shape, generator=torch.Generator().manual_seed(9))
    alone = feed(case.runtime.start(other_cond, case.guess), case.tokens[::-1], [SENTENCE])
    first, second = case.start(), case.runtime.start(other_cond, case.guess)
    rows: tuple[list[Tensor], list[Tensor]] = ([], [])
    for _ in range(SENTENCE // 3):
        rows[0].append(feed(first, case.tokens, [3]))
        rows[1].append(feed(second, case.tokens[::-1], [3]))
    assert_close(torch.cat(rows[0]), case.logits, case.tolerance)
    assert_close(torch.cat(rows[1]), alone, case.tolerance)
    assert float((alone - case.logits).abs().max()) > 0.1


def test_one_token_and_wide_passes_agree(case: Case) -> None:
    """Greedy and same-seed tokens live on this (pytorch#136338): differences must stay tiny."""
    single = feed(case.start(), case.tokens, [1] * SENTENCE)
    for size in range(2, 10):
        sizes = [size] * (SENTENCE // size)
        wide = feed(case.start(), case.tokens, sizes)
        # Both round the same packed weights, so this is far below the packing's own error.
        assert_close(wide, single[: len(wide)], 1e-5)


def test_returned_logits_are_not_overwritten_by_the_next_pass(case: Case) -> None:
    """A reused output buffer changes p while it is being verified."""
    state = case.start()
    first = state.forward(case.tokens[:3])
    copy = first.clone()
    state.forward(case.tokens[3:7])
    assert torch.equal(first, copy)


@torch.no_grad()
def test_the_window_limits_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one layer, a token behind the window must not matter, and the one at its edge must."""
    monkeypatch.setattr("core.lm.runtime.prepare_linear", plain_linear)
    case = make_case(1e-5, layers=1)
    last = SENTENCE - 1  # codebook 2 of the last frame
    oldest = last - WINDOW + 1  # codebook 0 of its frame: it sees back to the frame before
    reach = oldest - oldest % Q - Q
    wanted = case.logits[last]
    for place in range(last):
        tokens = list(case.tokens)
        tokens[place] = (tokens[place] + 1) % V
        logits = feed(case.start(), tokens, [7, 20])[last]
        changed = float((logits - wanted).abs().max())
        assert (changed > 1e-3) if place >= reach else (changed < 1e-5), place


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES.values() if rule.lossless], ids=lambda rule: rule.name
)
@pytest.mark.parametrize("gamma", [1, 3, 5])
def test_real_decoders_speak_as_the_baseline_does(case: Case, rule, gamma: int) -> None:
    """The whole loop over real caches: greedy, and sampled with the same seed."""
    draft = DecoderRuntime(tiny_decoder(0, 1, WINDOW), CPU)
    for sampling in (Sampling(0.0), Sampling(0.8)):
        if sampling.temperature and rule.name != "same-seed":
            continue
        for seed in range(3):
            alone = autoregressive(case.start(), SENTENCE, sampling, rule, Noise(seed))
            baseline = [token for r in alone for token in r.tokens]
            drafter = DraftModel(draft.start(case.cond, case.guess), sampling)
            rounds = speculative(
                case.start(), drafter, SENTENCE, Fixed(gamma), sampling, rule, Noise(seed)
            )
            assert [token for r in rounds for token in r.tokens] == baseline


@pytest.mark.parametrize("rows", [1, 2, 4, 7])
@pytest.mark.parametrize("biased", [True, False])
def test_prepared_linear_multiplies(rows: int, biased: bool) -> None:
    """Transposed weights, a lost bias, or weights that need their caller to stay alive."""
    rng = torch.Generator().manual_seed(0)
    weight, x = torch.randn(24, 16, generator=rng), torch.randn(rows, 16, generator=rng)
    bias = torch.randn(24, generator=rng) if biased else None
    wanted = F.linear(x, weight, bias)
    prepared = prepare_linear(weight, CPU, bias)
    weight.zero_()
    assert_close(prepared(x), wanted, 2e-3)


@pytest.mark.parametrize("kind", [DeprecationWarning, FutureWarning, UserWarning])
def test_the_farewell_of_torchscript_does_not_fill_the_terminal(
    monkeypatch: pytest.MonkeyPatch, kind: type[Warning]
) -> None:
    """torch 2.13 says goodbye by a DeprecationWarning, which is hidden; 2.14 by a FutureWarning."""
    script = torch.jit.script

    def deprecated(module: nn.Module) -> nn.Module:
        warnings.warn("it is deprecated", kind, stacklevel=2)
        return script(module)

    monkeypatch.setattr(torch.jit, "script", deprecated)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(make_case(0).runtime.layers, torch.jit.ScriptModule)


def test_without_torchscript_a_pass_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torch that has dropped it, or a program packed without its source, would not start."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nor should the terminal fill with its farewell
        quick = make_case(0)
    assert isinstance(quick.runtime.layers, torch.jit.ScriptModule)

    def refuse(_module: nn.Module) -> None:
        raise OSError("could not get source code")

    monkeypatch.setattr(torch.jit, "script", refuse)
    slow = make_case(0)
    assert not isinstance(slow.runtime.layers, torch.jit.ScriptModule)
    sizes = [5, 1, 21]
    logits = [feed(case.start(), case.tokens, sizes) for case in (quick, slow)]
    assert torch.equal(*logits)
