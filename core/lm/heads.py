"""Draft heads: each guesses one token ahead from the target's last hidden state, all at once.

Medusa (arXiv 2401.10774), for codec tokens VADUSA (2410.21951). Two things differ. A head reads the
conditioning of the frame it guesses, which aligned phonemes give beforehand, and all read the
token that was just emitted, which the target's state does not know yet.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.lm.decoder import Decoder
from core.lm.fed import CPU, Fed, FedConfig, FedHead
from core.lm.inputs import Inputs
from core.lm.linear import prepare_linear
from core.lm.runtime import unit


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
        self.head = FedHead(heads)
        self.begin = heads.begin[None]
        # [steps, width, gates] one below the other: all heads read the same state in one product.
        scale = heads.state_norm.weight * len(heads.begin) ** 0.5
        self.state = prepare_linear((heads.state.mT * scale).flatten(0, 1), CPU)
        self.known = prepare_linear(heads.known.weight, CPU)
        self.ahead = heads.ahead.weight.T
        self.down = heads.down

    @torch.inference_mode()
    def start(self, cond: Tensor, hint: Tensor) -> "HeadsState":
        """A sentence of T frames: cond [T, cond_width], hint [T, code_dim]."""
        base = self.inputs.of_frames(cond, hint)
        return HeadsState(self, base, base @ self.ahead)


class HeadsState:
    """Implements `HeadsModel`."""

    def __init__(self, runtime: HeadsRuntime, base: Tensor, ahead: Tensor):
        """base: what each position's input holds before any token is known, [S, width]; ahead:
        what the heads make of it, [S, gates]."""
        self._runtime = runtime
        self._base = base
        self._ahead = ahead

    @torch.inference_mode()
    def guess(self, feature: Tensor | None, tokens: Sequence[int], count: int) -> Tensor:
        run, n = self._runtime, len(tokens)
        count = min(count, len(run.down))
        state = run.begin if feature is None else feature[None, -self._base.shape[1] :]
        rows = torch.tensor(run.inputs.rows(tokens, n, n + 1))
        known = run.known(self._base[n] + run.inputs.table[rows].sum(1))
        own = run.state(unit(state)).view(len(run.down), -1)[:count]
        gate, up = (own + known + self._ahead[n : n + count]).chunk(2, -1)
        guesses = state + torch.bmm((F.silu(gate) * up)[:, None], run.down[:count])[:, 0]
        return run.head(unit(guesses), n)
