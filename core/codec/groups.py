"""Entries of a codebook that sound alike, judged by the codec's own vectors."""

from functools import lru_cache

import torch
from torch import Tensor


class AcousticGroups:
    """One group per entry: the entries of its codebook that lie within a radius of it.

    Groups overlap. Distances are in units of the codebook's own size, the root mean square
    length of its vectors: each codebook refines what the ones before it left over, so they
    differ in scale. (The paper that introduced such groups, arXiv 2511.13732, had one
    codebook, and took cosines in the target's embedding space.)
    """

    def __init__(self, codebooks: Tensor):
        """codebooks: [Q, V, D]."""
        codebooks = codebooks.detach().cpu()
        size = codebooks.pow(2).sum(-1).mean(-1).sqrt()
        # The faster way through a matrix product does not give 0 from an entry to itself.
        distances = torch.cdist(codebooks, codebooks, compute_mode="donot_use_mm_for_euclid_dist")
        self._distances = distances / size[:, None, None]
        self.shares = lru_cache(maxsize=8)(self._shares)

    def _shares(self, radius: float, size: int | None = None) -> Tensor:
        """[Q, V groups, V entries]: how much of an entry belongs to a group; columns sum to 1.

        size: of the distributions, if they have more: a sentence's end sounds like nothing else.
        """
        inside = (self._distances <= radius).to(self._distances.dtype)
        shares = inside / inside.sum(1, keepdim=True)
        more = (size or shares.shape[-1]) - shares.shape[-1]
        if not more:
            return shares
        return torch.stack([torch.block_diag(each, torch.eye(more)) for each in shares])
