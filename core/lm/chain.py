"""A draft that is fed by the target, and reads each of its guesses before it makes the next.

The idea of EAGLE (arXiv 2401.15077) with a gated cell in the place of a transformer layer: a step
is two small products, and there is no cache to keep or to roll back.
"""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.lm.decoder import Decoder
from core.lm.fed import Fed, FedConfig
from core.lm.inputs import Inputs
from core.lm.kernels import chain_begin, chain_step, packed, prepare_heads


class Chain(Fed):
    """The draft as it is trained."""

    def __init__(self, config: FedConfig, target: Decoder):
        super().__init__(config, target)
        width, features = target.config.width, len(config.taps) * target.config.width
        self.feature_norm = nn.RMSNorm(features, eps=1e-6)
        self.feature = nn.Linear(features, width, bias=False)
        self.begin = nn.Parameter(torch.zeros(width))
        self.state_norm = nn.RMSNorm(width, eps=1e-6)
        self.state = nn.Linear(width, 2 * config.mlp, bias=False)
        self.input = nn.Linear(width, 2 * config.mlp, bias=False)
        self.down = nn.Linear(config.mlp, width, bias=False)
        nn.init.zeros_(self.feature.weight)  # untrained, it begins with the target's own state
        nn.init.normal_(self.state.weight, std=0.02)
        nn.init.normal_(self.input.weight, std=0.05)
        nn.init.normal_(self.down.weight, std=0.01)

    def forward(self, inputs: Tensor, features: Tensor) -> list[Tensor]:
        """What it says of token n + j, having read the tokens before it: [B, S - j, V] for each j.

        inputs: the target's at each position, [B, S, width]; features: of each position, [B, S,
        taps * width]. Token n is guessed from the features of position n - 1.
        """
        B, S, width = inputs.shape
        states = features[..., -width:] + self.feature(self.feature_norm(features))
        states = torch.cat((self.begin.expand(B, 1, -1), states[:, :-1]), 1)
        inputs = self.input(inputs)
        logits = []
        for j in range(self.config.steps):
            states = states[:, : S - j]
            gate, up = (self.state(self.state_norm(states)) + inputs[:, j:]).chunk(2, -1)
            states = states + self.down(F.silu(gate) * up)
            logits.append(self.logits(states, j))
        return logits


class ChainRuntime:
    """Prepared weights. Holds no state: any number of sentences may share it."""

    @torch.inference_mode()
    def __init__(self, chain: Chain, inputs: Inputs):
        """inputs: of the target, on the CPU."""
        width, features = len(chain.begin), chain.feature.in_features
        self.inputs = inputs
        self.begin = chain.begin.detach()
        self.feature = packed(chain.feature.weight * (chain.feature_norm.weight * features**0.5))
        self.state = packed(chain.state.weight * (chain.state_norm.weight * width**0.5))
        self.down = packed(chain.down.weight)
        self.heads = prepare_heads(chain.head, chain.norm.weight, chain.head_bias)
        # What a token's rows do to the gates is known beforehand: a product less in each step.
        self.input = chain.input.weight.T
        self.table = packed(inputs.table @ self.input)

    @torch.inference_mode()
    def start(self, cond: Tensor, hint: Tensor) -> "ChainState":
        """A sentence of T frames: cond [T, cond_width], hint [T, code_dim]."""
        return ChainState(self, self.inputs.of_frames(cond, hint) @ self.input)


class ChainState:
    """Implements `ChainModel`."""

    def __init__(self, runtime: ChainRuntime, base: Tensor):
        """base: what each position's input does to the gates before any token, [S, 2 mlp]."""
        self._runtime = runtime
        self._base = base.numpy()

    def begin(self, feature: Tensor | None) -> Tensor:
        run = self._runtime
        if feature is None:
            return run.begin
        return torch.from_numpy(chain_begin(run.feature, feature.numpy(), len(run.begin)))

    def step(self, state: Tensor, tokens: Sequence[int]) -> tuple[Tensor, Tensor]:
        run, n = self._runtime, len(tokens)
        (rows,) = run.inputs.rows(tokens, n, n + 1)
        head = run.heads[n % len(run.heads)]
        step = chain_step(
            run.state, run.down, head, state.numpy(), self._base[n], run.table, np.array(rows)
        )
        return torch.from_numpy(step[0]), torch.from_numpy(step[1])
