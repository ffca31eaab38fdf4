"""A draft that is fed by the target, and reads each of its guesses before it makes the next.

The idea of EAGLE (arXiv 2401.15077) with a gated cell in the place of a transformer layer: a step
is two small products, and there is no cache to keep or to roll back.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.lm.decoder import Decoder
from core.lm.fed import Fed, FedConfig, FedHead
from core.lm.inputs import Inputs
from core.lm.runtime import unit


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

    def __init__(self, chain: Chain, inputs: Inputs):
        """inputs: of the target, on the CPU."""
        width, features = len(chain.begin), chain.feature.in_features
        self.inputs = inputs
        self.head = FedHead(chain)
        self.begin = chain.begin[None]
        self.feature = (chain.feature.weight * (chain.feature_norm.weight * features**0.5)).T
        cell = (chain.state.weight * (chain.state_norm.weight * width**0.5), chain.input.weight)
        self.cell = torch.cat(cell, 1).T.contiguous()
        self.down = chain.down.weight.T.contiguous()

    def start(self, cond: Tensor, hint: Tensor) -> "ChainState":
        """A sentence of T frames: cond [T, cond_width], hint [T, code_dim]."""
        return ChainState(self, self.inputs.of_frames(cond, hint))


class ChainState:
    """Implements `ChainModel`."""

    def __init__(self, runtime: ChainRuntime, base: Tensor):
        """base: what each position's input holds before any token is known, [S, width]."""
        self._runtime = runtime
        self._base = base

    @torch.inference_mode()
    def begin(self, feature: Tensor | None) -> Tensor:
        if feature is None:
            return self._runtime.begin
        features = feature[None]
        return features[:, -self._base.shape[1] :] + unit(features) @ self._runtime.feature

    @torch.inference_mode()
    def step(self, state: Tensor, tokens: Sequence[int]) -> tuple[Tensor, Tensor]:
        run, n = self._runtime, len(tokens)
        rows = torch.tensor(run.inputs.rows(tokens, n, n + 1))
        inputs = self._base[n] + run.inputs.table[rows].sum(1)
        gate, up = (torch.cat((unit(state), inputs), 1) @ run.cell).chunk(2, -1)
        state = state + (F.silu(gate) * up) @ run.down
        return state, run.head(unit(state), n)[0]
