"""A stream for codecs that look at a whole utterance before they make its first sample."""

import torch
from torch import Tensor

from core.codec.base import Codec


class WholeStream:
    """Implements `CodecStream`: keeps everything back until the end, for nothing is final before.

    So sound comes a sentence at a time, and is exactly what `decode` gives.
    """

    def __init__(self, codec: Codec):
        self._codec = codec
        self._pieces: list[Tensor] | None = []

    def push(self, codes: Tensor) -> Tensor:
        self._held().append(codes)
        return torch.empty(0)

    def finish(self) -> Tensor:
        pieces, self._pieces = self._held(), None
        return self._codec.decode(torch.cat(pieces, 1)) if pieces else torch.empty(0)

    def _held(self) -> list[Tensor]:
        if self._pieces is None:
            raise RuntimeError("this stream is finished: ask the codec for a new one")
        return self._pieces
