"""Linear layers as the decoding loop wants them: weights laid out once, called thousands of times.

A decoding pass has 1 to 10 rows, so on a CPU it is the weights' way through memory that
costs. Half the bytes is half the time: FBGEMM keeps them as float16, multiplies in float32.
"""

import warnings
from collections.abc import Callable
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Linear = Callable[[Tensor], Tensor]
"""[m, in] -> [m, out]; a module, so that larger ones can be made of it."""

Module = TypeVar("Module", bound=nn.Module)


class PackedLinear(nn.Module):
    """FBGEMM's layout of float16 weights."""

    def __init__(self, weight: Tensor, bias: Tensor | None):
        super().__init__()
        self.packed = torch.ops.quantized.linear_prepack_fp16(weight.float().cpu(), bias)

    def forward(self, rows: Tensor) -> Tensor:
        return torch.ops.quantized.linear_dynamic_fp16(rows, self.packed)


class PlainLinear(nn.Module):
    """Weights of any dtype, on any device."""

    def __init__(self, weight: Tensor, bias: Tensor | None):
        super().__init__()
        self.weight = weight
        self.bias = bias

    def forward(self, rows: Tensor) -> Tensor:
        return F.linear(rows.to(self.weight.dtype), self.weight, self.bias)


def prepare_linear(weight: Tensor, device: torch.device, bias: Tensor | None = None) -> Linear:
    """A function that multiplies rows by `weight` [out, in] (and adds `bias` [out])."""
    if device.type == "cpu" and "fbgemm" in torch.backends.quantized.supported_engines:
        return scripted(PackedLinear(weight, bias))
    half = torch.bfloat16 if weight.dtype is torch.bfloat16 else torch.float16
    dtype = torch.float32 if device.type == "cpu" else half
    return PlainLinear(weight.to(device, dtype), None if bias is None else bias.to(device, dtype))


def scripted(module: Module) -> Module:
    """The same without Python between its operations, which costs as much as small ones do.

    TorchScript needs nothing that torch does not bring, and is ready at once. It is on its way
    out, though, and it wants source code to be there: without it, the module is only slower.
    """
    with warnings.catch_warnings():
        # Its farewell, which is another kind of warning in every version of torch.
        warnings.simplefilter("ignore")
        try:
            return torch.jit.script(module)
        except Exception:  # what it raises where it cannot is not told
            return module
