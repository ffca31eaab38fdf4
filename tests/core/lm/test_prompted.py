"""Passes in fixed shapes against passes through views, and graphs against no graphs."""

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random

import pytest
import torch

pytest.importorskip("transformers", minversion="5.24")

from core.adaptive import Fixed, Within
from core.decode import speculative
from core.drafters import DraftModel, LanguageModel
from core.lm.bark import Bark, Speaker
from core.lm.capture import MAX_GAMMA, WIDEST, Pool
from core.lm.llama import LlamaRuntime
from core.lm.prompted import Entries, PromptedModel, PromptedState, StaticPass, ViewPass
from core.lm.weights import Weights
from core.sampling import Noise, Sampling
from core.verify import RULES
from tests.core.lm.published import save
from tests.core.lm.test_bark import save_bark, tiny_bark
from tests.core.lm.test_llama import tiny

CPU = torch.device("cpu")
ROOM = 40
Load = Callable[[torch.device], PromptedModel]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("models")
    return save(tiny("llama3"), root / "llama"), save_bark(tiny_bark(), root / "bark")


@pytest.fixture(scope="module", params=["llama", "semantic", "coarse"])
def load(request: pytest.FixtureRequest, folders: tuple[Path, Path]) -> Load:
    """Of each kind: Llama in two codebooks with an end, and Bark's two stages."""
    llama, bark = folders
    entries = Entries(torch.arange(40).view(2, 20), stop=50)
    return {
        "llama": lambda device: LlamaRuntime(Weights(llama), entries, device),
        "semantic": lambda device: Bark(bark, device)._semantic,
        "coarse": lambda device: Bark(bark, device)._coarse,
    }[request.param]


def static(model: PromptedModel) -> PromptedModel:
    """The same model in fixed shapes, where it would not be by itself."""
    model.pool = Pool(partial(StaticPass, model))
    return model


def prompt(model: PromptedModel, length: int, seed: int = 0) -> torch.Tensor:
    ids = torch.randint(40, (length,), generator=torch.Generator().manual_seed(seed))
    return model.embed(ids)


@torch.inference_mode()
def test_fixed_shapes_compute_what_views_compute(load: Load) -> None:
    """Every width at every place up to the last; first over what others left there."""
    model = load(CPU)
    views, fixed = ViewPass(model, ROOM), StaticPass(model, ROOM)
    rng = torch.Generator().manual_seed(1)
    for buffer in (fixed._cache._keys, fixed._cache._values):
        buffer.copy_(1e3 * torch.randn(buffer.shape, generator=rng))
    beginning = prompt(model, 5)
    assert torch.equal(fixed.begin(beginning, 2), views.begin(beginning, 2))
    ids = torch.randint(40, (ROOM,), generator=rng)
    for start in range(5, ROOM):
        for m in range(min(MAX_GAMMA + 1, ROOM - start), 0, -1):  # the last one stays
            wanted = views(start, ids[start : start + m], start)
            got = fixed(start, ids[start : start + m], start)
            torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-5)


def test_sentences_answer_alike_through_any_steps(load: Load) -> None:
    """Random passes and rollbacks, up to a cache that is full, in buffers used before."""
    through_views, through_static = load(CPU), static(load(CPU))
    for seed in range(4):
        rng = Random(seed)
        opening = prompt(through_views, rng.randint(1, 9), seed)
        states = [PromptedState(it, opening, ROOM) for it in (through_views, through_static)]
        while states[0].length < ROOM:
            if states[0].length and rng.random() < 0.4:
                length = rng.randint(0, states[0].length)
                for state in states:
                    state.rollback(length)
            start = states[0].length
            most = min(WIDEST + 2, ROOM - max(start, 1))
            tokens = [rng.randrange(19) for _ in range(rng.randint(min(start, 1), max(most, 1)))]
            wanted, got = (state.forward(tokens[: ROOM - start]) for state in states)
            torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-5)
        with pytest.raises(ValueError, match="do not fit"):
            states[1].forward([0])


def test_a_sentence_that_the_model_cannot_see_is_refused(load: Load) -> None:
    """Fixed buffers have room for more than was asked."""
    model = static(load(CPU))
    with pytest.raises(ValueError, match="more than the"):
        PromptedState(model, prompt(model, 2), model.positions)
    PromptedState(model, prompt(model, 2), model.positions - 1)


def test_buffers_are_lent_until_the_sentence_is_gone(load: Load) -> None:
    model = static(load(CPU))
    first, second = (PromptedState(model, prompt(model, 3), 9) for _ in range(2))
    used = {id(first._pass), id(second._pass)}
    assert len(used) == 2
    del first
    gc.collect()
    third = PromptedState(model, prompt(model, 3), 9)
    assert id(third._pass) in used
    assert third._pass is not second._pass


def test_bark_s_windows_take_turns_with_one_set_of_buffers(folders: tuple[Path, Path]) -> None:
    bark = Bark(folders[1], CPU)
    static(bark._coarse)
    state = bark.coarse([1] * 20, Speaker.nobody(bark.rules))
    state.forward([])
    lent = state._window._pass
    for _ in range(30):
        state.forward([0])
        assert state._window._pass is lent


def speak(target: PromptedModel, draft: PromptedModel, seed: int, gamma: int) -> list[int]:
    """Tokens of a sentence that another model of the kind drafts."""

    def start(model: PromptedModel, opening: int) -> LanguageModel:
        return PromptedState(model, prompt(model, 5, opening), ROOM)

    stop = None if target.entries.stop is None else target.entries.width - 1
    drafter = DraftModel(start(draft, seed + 1), Sampling(), stop)
    rounds = speculative(
        start(target, seed), drafter, ROOM, Within(Fixed(gamma), 24), Sampling(),
        RULES["same-seed"], Noise(seed), stop,
    )  # fmt: skip
    return [token for round_ in rounds for token in round_.tokens]


CASES = [(seed, gamma) for seed in range(2) for gamma in (1, 4, WIDEST + 3)]


def test_whole_sentences_are_the_same_through_either_pass(load: Load) -> None:
    views, fixed = load(CPU), static(load(CPU))
    for case in CASES:
        assert speak(fixed, fixed, *case) == speak(views, views, *case)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="graphs need CUDA")
def test_graphs_speak_as_passes_without_them_do(load: Load) -> None:
    """Captured once, replayed elsewhere, also from two threads; against the same shapes uncaptured,
    since other shapes round differently in 16 bits."""
    device = torch.device("cuda")
    plain, graphs = static(load(device)), load(device)
    assert graphs.pool is not None

    class Uncaptured(StaticPass):
        def __init__(self, model: PromptedModel, capacity: int):
            super().__init__(model, capacity)
            self._graphs = lambda ids, phase: self.compute(ids.to(device), phase)

    plain.pool = Pool(partial(Uncaptured, plain))
    wanted = [speak(plain, plain, *case) for case in CASES]
    assert [speak(graphs, graphs, *case) for case in CASES] == wanted
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda case: speak(graphs, graphs, *case), CASES)) == wanted
