"""What the engine and the voices ask of a codec. Q codebooks, T frames, V entries a codebook."""

from typing import Protocol

from torch import Tensor

from core.codec.groups import AcousticGroups


class CodecStream(Protocol):
    """One utterance on its way to sound. Holds all of its state; streams share nothing."""

    def push(self, codes: Tensor) -> Tensor:
        """Codes [Q, n] of the next frames; the samples that are final now, [samples], maybe none.

        A codec that looks ahead holds samples back until the frames they depend on have come.
        """

    def finish(self) -> Tensor:
        """The samples still held back, [samples]. After it, push and finish raise RuntimeError."""


class Codec(Protocol):
    """Codes to sound. Without state of its own: one codec serves any number of streams."""

    sample_rate: int
    frame_rate: float
    num_codebooks: int
    codebook_size: int
    groups: AcousticGroups | None
    """Which entries sound alike; None where the codec cannot tell."""

    def decode(self, codes: Tensor) -> Tensor:
        """Codes [Q, T] to a whole utterance: [samples], float32 from -1 to 1."""

    def stream(self) -> CodecStream:
        """A fresh stream; what it gives end to end is what `decode` gives."""


def check_codes(codes: Tensor, num_codebooks: int, codebook_size: int) -> None:
    """Raise ValueError unless `codes` is an integer tensor [Q, T] of entries that exist."""
    if codes.dim() != 2 or len(codes) != num_codebooks:
        raise ValueError(f"codes are [{num_codebooks}, T], not {list(codes.shape)}")
    if codes.is_floating_point() or codes.is_complex():
        raise ValueError(f"codes are integers, not {codes.dtype}")
    if codes.numel():
        low, high = (int(bound) for bound in codes.aminmax())
        if low < 0 or high >= codebook_size:
            raise ValueError(f"codes run from 0 to {codebook_size - 1}, these {low} to {high}")
