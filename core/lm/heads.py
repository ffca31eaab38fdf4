"""Draft heads: each guesses one token ahead from the target's last hidden state, all at once.

Medusa (arXiv 2401.10774), for codec tokens VADUSA (2410.21951). Two things differ. A head reads the
conditioning of the frame it guesses, which aligned phonemes give beforehand, and all read the
token that was just emitted, which the target's state does not know yet.
"""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.lm.decoder import Decoder
from core.lm.fed import Fed, FedConfig
from core.lm.inputs import Inputs
from core.lm.kernels import heads_step, packed, prepare_heads


class Heads(Fed):
    """The heads as they are trained."""

    def __init__(self, config: FedConfig, target: Decoder):
        super().__init__(config, target)
        width, gates = target.config.width, 2 * config.mlp
        self.begin = nn.Parameter(torch.zeros(width))
        self.state_norm = nn.RMSNorm(width, eps=1e-6)
        self.known = nn.Linear(width, gates, bias=False)
        self.ahead = nn.Linear(width, gates, bias=False)
        self.state = nn.Parameter(torch.empty(config.steps, width, gates).normal_(std=0.02))
        self.down = nn.Parameter(torch.empty(config.steps, config.mlp, width).normal_(std=0.01))
        nn.init.normal_(self.known.weight, std=0.05)
        nn.init.normal_(self.ahead.weight, std=0.05)

    def forward(self, inputs: Tensor, base: Tensor, features: Tensor) -> list[Tensor]:
        """What head j says of token n + j, knowing those before n: [B, S - j, V] for each j.

        inputs: the target's at each position; base: their part that is known before any token;
        features: the target's last hidden states; [B, S, width] each.
        """
        B, S, _ = inputs.shape
        states = torch.cat((self.begin.expand(B, 1, -1), features[:, :-1]), 1)
        known, ahead, normed = self.known(inputs), self.ahead(base), self.state_norm(states)
        logits = []
        for j in range(self.config.steps):
            gates = normed[:, : S - j] @ self.state[j] + known[:, : S - j] + ahead[:, j:]
            gate, up = gates.chunk(2, -1)
            guess = states[:, : S - j] + (F.silu(gate) * up) @ self.down[j]
            logits.append(self.logits(guess, j))
        return logits


class HeadsRuntime:
    """Prepared weights. Holds no state: any number of sentences may share it."""

    @torch.inference_mode()
    def __init__(self, heads: Heads, inputs: Inputs):
        """inputs: of the target, on the CPU."""
        self.inputs = inputs
        self.begin = heads.begin.detach()
        scale = heads.state_norm.weight * len(heads.begin) ** 0.5
        self.states = tuple(packed(weight.T * scale) for weight in heads.state)
        self.downs = tuple(packed(weight.T) for weight in heads.down)
        self.heads = tuple(prepare_heads(heads.head, heads.norm.weight, heads.head_bias))
        # What a token's rows do to the gates is known beforehand: a product less in each round.
        self.known, self.ahead = heads.known.weight.T, heads.ahead.weight.T
        self.table = packed(inputs.table @ self.known)

    @torch.inference_mode()
    def start(self, cond: Tensor, hint: Tensor) -> "HeadsState":
        """A sentence of T frames: cond [T, cond_width], hint [T, code_dim]."""
        base = self.inputs.of_frames(cond, hint)
        return HeadsState(self, base @ self.known, base @ self.ahead)


class HeadsState:
    """Implements `HeadsModel`."""

    def __init__(self, runtime: HeadsRuntime, base: Tensor, ahead: Tensor):
        """What the gates make of each position's input before any token is known, [S, gates]:
        base, at the position itself; ahead, at those before it."""
        self._runtime = runtime
        self._base = base.numpy()
        self._ahead = ahead.numpy()

    def guess(self, feature: Tensor | None, tokens: Sequence[int], count: int) -> Tensor:
        run, n = self._runtime, len(tokens)
        state = run.begin if feature is None else feature[-len(run.begin) :]
        (rows,) = run.inputs.rows(tokens, n, n + 1)
        logits = heads_step(
            run.states,
            run.downs,
            run.heads,
            state.numpy(),
            self._base[n],
            self._ahead,
            run.table,
            np.array(rows),
            n,
            min(count, len(run.downs)),
        )
        return torch.from_numpy(logits)
