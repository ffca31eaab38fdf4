"""Muon in float32: orthogonalised momentum for the hidden matrices.

`torch.optim.Muon` iterates in bfloat16, which a CPU without bfloat16 units emulates
several times slower than the training step itself; the same iteration in float32 costs
about a tenth of a step. On a GPU it costs less still.
"""

import torch
from torch import Tensor
from torch.optim import Optimizer

COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # Keller Jordan's quintic, tuned for the slope at zero


def orthogonalise(matrix: Tensor, iterations: int = 5) -> Tensor:
    """Nearest semi-orthogonal matrix, roughly, by Newton-Schulz; [m, n] -> [m, n]."""
    a, b, c = COEFFICIENTS
    x = matrix / (matrix.norm() + 1e-7)
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    for _ in range(iterations):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if tall else x


class Muon(Optimizer):
    """Momentum, Nesterov, orthogonalised, scaled so that AdamW's learning rates apply.

    The scale 0.2 sqrt(max(m, n)) matches AdamW's update size (arXiv 2502.16982, eq. 4).
    """

    def __init__(self, params, lr: float, momentum: float = 0.95, weight_decay: float = 0.05):
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["momentum"] = torch.zeros_like(p)
                average = state["momentum"].lerp_(p.grad, 1 - group["momentum"])
                update = orthogonalise(p.grad.lerp(average, group["momentum"]))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_(update, alpha=-group["lr"] * 0.2 * max(p.shape) ** 0.5)
