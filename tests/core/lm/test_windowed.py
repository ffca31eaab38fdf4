"""Windows that begin anew at every edge: whatever is taken in or rolled back, answers stay."""

from collections.abc import Sequence
from random import Random

import pytest
import torch

from core.lm.windowed import WindowedState
from tests.fakes import ToyModel, language

SPAN, LENGTH, V = 4, 18, 5


def open_window(tokens: Sequence[int]) -> ToyModel:
    """A language of its own for each window, and for what stands before it."""
    return ToyModel(language(hash(tuple(tokens)) % 1000, V, 1), SPAN)


@pytest.mark.parametrize("seed", range(30))
def test_any_steps_give_each_position_its_window_s_answer(seed: int) -> None:
    rng = Random(seed)
    state, verified = WindowedState(SPAN, open_window), []
    while state.length < LENGTH:
        if state.length and rng.random() < 0.4:
            state.rollback(rng.randint(0, state.length))
            del verified[max(0, state.length - 1) :]
        start = state.length
        count = rng.randint(int(start > 0), 6)
        tokens = [rng.randrange(V) for _ in range(min(count, LENGTH - start))]
        if start and not tokens:
            continue
        verified += tokens
        rows = state.forward(tokens)
        assert state.tokens == verified
        assert state.length == start + len(tokens) + (start == 0) == start + len(rows)
        for n, row in enumerate(rows, start):
            first = n - n % SPAN
            said = tuple(verified[first:n])
            assert torch.equal(row, open_window(verified[:first]).follow(said))


def test_it_refuses_what_makes_no_sense() -> None:
    state = WindowedState(SPAN, open_window)
    state.forward([1, 2])
    with pytest.raises(ValueError, match="no position"):
        state.forward([])
    for length in (-1, 4):
        with pytest.raises(ValueError, match="cannot roll back"):
            state.rollback(length)
