"""Linear layers as the decoding loop wants them: weights laid out once, called thousands of times.

A decoding pass has 1 to 10 rows, so on a CPU it is the weights' way through memory that
costs. Half the bytes is half the time: FBGEMM keeps them as float16, multiplies in float32.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

Linear = Callable[[Tensor], Tensor]
"""[m, in] -> [m, out]."""


def prepare_linear(weight: Tensor, device: torch.device, bias: Tensor | None = None) -> Linear:
    """A function that multiplies rows by `weight` [out, in] (and adds `bias` [out])."""
    if device.type == "cpu" and "fbgemm" in torch.backends.quantized.supported_engines:
        packed = torch.ops.quantized.linear_prepack_fp16(weight.float().cpu(), bias)
        return lambda rows: torch.ops.quantized.linear_dynamic_fp16(rows, packed)
    half = torch.bfloat16 if weight.dtype is torch.bfloat16 else torch.float16
    dtype = torch.float32 if device.type == "cpu" else half
    weight = weight.to(device, dtype)
    bias = None if bias is None else bias.to(device, dtype)
    return lambda rows: F.linear(rows.to(dtype), weight, bias)
