"""The pass of fixed shapes against the pass through views, and graphs against no graphs."""

import gc
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch
from torch import Tensor

from core.adaptive import Fixed
from core.decode import speculative
from core.drafters import DraftModel
from core.lm.capture import WIDEST, Pool
from core.lm.graph import GraphRuntime, StaticPass
from core.lm.runtime import DecoderRuntime, ViewPass
from core.sampling import Noise, Sampling
from core.verify import RULES
from tests.fakes import tiny_decoder

CPU = torch.device("cpu")
Q, V, WINDOW = 3, 7, 8
FRAMES = 14
SENTENCE = FRAMES * Q


def sentence(runtime: DecoderRuntime, seed: int) -> tuple[Tensor, Tensor]:
    """cond and hint of a random sentence."""
    rng = torch.Generator().manual_seed(seed)
    widths = runtime.config.cond_width, runtime.config.code_dim
    cond, hint = (torch.randn(FRAMES, width, generator=rng) for width in widths)
    return cond.to(runtime.device), hint.to(runtime.device)


@torch.inference_mode()
def test_the_pass_of_fixed_shapes_computes_what_views_compute():
    """Every width and phase, before, around and after the window's first turn; the buffers are
    reused, and dirty: masks off by one, or slots of the sentence before that are still seen."""
    decoder = tiny_decoder(0, window=WINDOW)
    runtime = DecoderRuntime(decoder, CPU, taps=(0, 1))
    static = StaticPass(runtime, SENTENCE + 5)
    rng = torch.Generator().manual_seed(1)
    for _ in range(2):
        base = torch.randn(SENTENCE, decoder.config.width, generator=rng)
        tokens = torch.randint(V, (SENTENCE,), generator=rng).tolist()
        static.base[:SENTENCE] = base
        for buffer in (static.keys, static.values):
            buffer.copy_(1e3 * torch.randn(buffer.shape, generator=rng))
        view = ViewPass(runtime, base)
        for start in range(SENTENCE - 6):
            for m in (6, 5, 4, 3, 2, 1):  # the last one is right, and stays
                rows = runtime.inputs.rows(tokens, start, start + m)
                static._start.fill_(start)
                computed = static.compute(torch.tensor(rows), start % Q)
                torch.testing.assert_close(computed, view(start, rows), rtol=1e-4, atol=1e-4)
                for again, part in zip(static(start, rows), computed, strict=True):
                    assert torch.equal(again, part)


def test_sentences_take_turns_with_a_pass():
    """Buffers given back while in use, or never, so that each sentence captures anew."""
    runtime = GraphRuntime(tiny_decoder(0, window=WINDOW), CPU)
    first = runtime.start(*sentence(runtime, 1))
    second = runtime.start(*sentence(runtime, 2))
    used = {id(first._run_pass), id(second._run_pass)}
    assert len(used) == 2
    del first
    gc.collect()
    third = runtime.start(*sentence(runtime, 3))
    assert id(third._run_pass) in used
    assert third._run_pass is not second._run_pass


def test_borrowing_at_once_gives_everyone_their_own():
    """Two threads that both see the last idle pass."""
    pool = Pool(partial(StaticPass, DecoderRuntime(tiny_decoder(0), CPU)))
    with ThreadPoolExecutor(8) as threads:
        for _ in range(20):
            lent = list(threads.map(pool.borrow, [SENTENCE] * 8))
            assert len({id(static) for static in lent}) == 8
            for static in lent[::2]:
                pool.give_back(static)


def speak(runtime: DecoderRuntime, seed: int, gamma: int) -> list[int]:
    """Tokens of a sentence that drafts for itself with a smaller decoder's help."""
    draft = type(runtime)(tiny_decoder(0, 1, WINDOW), runtime.device)
    cond, hint = sentence(runtime, seed)
    drafter = DraftModel(draft.start(cond, hint), Sampling())
    rule, target = RULES["same-seed"], runtime.start(cond, hint)
    rounds = speculative(target, drafter, SENTENCE, Fixed(gamma), Sampling(), rule, Noise(seed))
    return [token for round_ in rounds for token in round_.tokens]


def test_whole_sentences_are_the_same_through_either_pass():
    """The borrowed buffers and the state, together, through the whole loop."""
    decoder = tiny_decoder(0, window=WINDOW)
    views, static = DecoderRuntime(decoder, CPU), GraphRuntime(decoder, CPU)
    for seed in range(3):
        for gamma in (1, 4, WIDEST + 3):
            assert speak(static, seed, gamma) == speak(views, seed, gamma)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="graphs need CUDA")
def test_graphs_speak_as_eager_passes_do():
    """Captured once, replayed for other positions and sentences; also from two threads at once."""
    decoder, device = tiny_decoder(0, window=WINDOW), torch.device("cuda")
    eager, graphs = DecoderRuntime(decoder, device), GraphRuntime(decoder, device)
    cases = [(seed, gamma) for seed in range(3) for gamma in (1, 4, WIDEST + 3)]
    wanted = [speak(eager, *case) for case in cases]
    assert [speak(graphs, *case) for case in cases] == wanted
    fresh = GraphRuntime(decoder, device)
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda case: speak(fresh, *case), cases)) == wanted
    assert not graphs.start(*sentence(graphs, 0)).forward([]).is_cuda
