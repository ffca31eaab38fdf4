"""Compiled functions: their parts. That they do as the trained models do is tested elsewhere."""

import numpy as np
import pytest
import torch
from numba.core.caching import CacheImpl

from core.lm.kernels import kernel, packed, softmax


def test_weights_of_a_draft_are_rounded_row_by_row() -> None:
    """One scale for all rows, or of the columns; a row of zeros; a half lost at either end."""
    weight = torch.randn(24, 16, generator=torch.Generator().manual_seed(0))
    weight *= torch.logspace(-6, 3, 24)[:, None]
    weight[5] = 0
    weight[7, :2] = torch.tensor([5.0, -5.0])
    rounded = packed(weight)
    assert rounded.entries.dtype == np.int8
    error = np.abs(rounded.entries * rounded.scale[:, None] - weight.numpy())
    assert (error <= np.abs(weight.numpy()).max(1, keepdims=True) * 0.505 / 127).all()


def test_where_nothing_can_be_written_functions_are_compiled_anyway(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A read-only installation without a home: numba finds no place for what it keeps."""
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])

    def twice(x):
        return 2 * x

    assert kernel(twice)(21) == 42


def test_the_softmax_of_great_logits_is_finite() -> None:
    """The largest goes first, or its exponential overflows."""
    x = np.array([-3e4, 2e4, 2e4 - 1, -np.inf], np.float32)
    wanted = torch.from_numpy(x.copy()).softmax(-1).numpy()
    softmax(x)
    np.testing.assert_allclose(x, wanted, rtol=1e-5, atol=1e-7)
