"""What all sentences under way have in common, whatever model says them."""

from collections.abc import Sequence


class SentenceState:
    """Positions and tokens taken in so far; a cache beside them is the subclass's.

    Position n takes in token n - 1 (position 0 the beginning) and answers with the logits of token
    n. Rolling back only lowers `length`: stale entries of a cache are overwritten before anything
    can attend to them.
    """

    def __init__(self) -> None:
        self.length = 0
        self.tokens: list[int] = []

    def rollback(self, length: int) -> None:
        """Forget everything from position `length` on."""
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot roll back from {self.length} to {length}")
        self.length = length
        del self.tokens[max(0, length - 1) :]

    def stop(self, tokens: Sequence[int]) -> int:
        """The position behind those that take these tokens in; at position 0, the beginning is
        one more."""
        return self.length + len(tokens) + (self.length == 0)


class BoundedState(SentenceState):
    """With a cache for `capacity` positions."""

    def __init__(self, capacity: int):
        super().__init__()
        self.capacity = capacity

    def stop(self, tokens: Sequence[int]) -> int:
        stop = super().stop(tokens)
        if not self.length < stop <= self.capacity:
            raise ValueError(
                f"positions {self.length} to {stop} do not fit a cache of {self.capacity}"
            )
        return stop
