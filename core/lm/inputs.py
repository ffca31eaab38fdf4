"""What the decoder reads at a position, taken apart: rows of one table, and the frame's share.

Everything in the input is linear in one-hot tokens and in the conditioning, so an input is a sum of
precomputed rows.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from core.lm.decoder import Decoder


class Inputs:
    """Prepared input weights of one decoder, on a device.

    table: [previous token | this frame | last frame | zero], rows of any width once mapped. The
    previous token's embedding has Q V + 1 rows (the last one begins a sentence); the other two
    hold each entry's codebook vector through the geometry map, Q V rows each.
    """

    @torch.inference_mode()
    def __init__(self, decoder: Decoder, device: torch.device):
        c = self.config = decoder.config
        vectors = decoder.vectors.flatten(0, 1)
        this_frame, last_frame, hint = decoder.geometry.weight.split(c.code_dim, 1)
        zero = torch.zeros(1, c.width)
        parts = (decoder.embed.weight, vectors @ this_frame.T, vectors @ last_frame.T, zero)
        self.table = torch.cat(parts).to(device)
        self._cond = decoder.cond.weight.detach().to(device)
        self._hint = hint.detach().to(device)
        self._phase = decoder.phase.weight.detach().to(device)

    @torch.inference_mode()
    def of_frames(self, cond: Tensor, hint: Tensor) -> Tensor:
        """The part that is known before any token: cond [T, cond_width], hint [T, code_dim] to
        [S, width]."""
        frames = F.linear(cond, self._cond) + F.linear(hint, self._hint)
        return (frames[:, None] + self._phase).flatten(0, 1)

    def rows(self, tokens: Sequence[int], start: int, stop: int) -> list[list[int]]:
        """Rows of the table that positions start..stop-1 add up; lists of 2 Q.

        tokens: of the sentence, as many as position stop - 1 can know, or more.
        """
        Q, V = self.config.num_codebooks, self.config.codebook_size
        entries = Q * V
        this_frame, last_frame, zero = entries + 1, 2 * entries + 1, 3 * entries + 1
        rows = []
        for n in range(start, stop):
            frame = n - n % Q
            before = max(0, frame - Q)
            near = [tokens[i] + (i % Q) * V for i in range(before, n)]
            row = [near[-1] if near else entries]
            row += [this_frame + token for token in near[frame - before :]]
            row += [last_frame + token for token in near[: frame - before]]
            rows.append(row + [zero] * (2 * Q - len(row)))
        return rows
