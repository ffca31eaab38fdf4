"""A voice that is too large is refused before it is loaded, with what fits instead."""

import pytest
import torch

from core.errors import ForespeakError
from core.memory import check_memory, free_memory

GPU, CPU = torch.device("cuda"), torch.device("cpu")


def test_a_gpu_that_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (8_000_000_000, 12_000_000_000))
    check_memory("large", 8_000_000_000, GPU, "small")
    wanted = (
        r"^large needs about 17\.0 GB of memory, and cuda has 8\.0 free: choose the voice small, "
        r"or speak on the CPU \(--device cpu\), or close other programs\.$"
    )
    with pytest.raises(ForespeakError, match=wanted):
        check_memory("large", 17_000_000_000, GPU, "small")


def test_a_computer_that_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.memory.free_memory", lambda _: 10**9)
    with pytest.raises(ForespeakError, match=r"1\.0 free: .* small, or close other programs\.$"):
        check_memory("large", 2 * 10**9, CPU, "small")
    monkeypatch.setattr("core.memory.free_memory", lambda _: None)
    check_memory("large", 2 * 10**9, CPU, "small")


def test_this_computer_has_some_memory() -> None:
    free = free_memory(CPU)
    assert free is None or 10**6 < free < 10**15
