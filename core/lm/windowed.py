"""A sentence whose prompt is written anew at every edge of a window.

Bark's coarse stage takes in 60 tokens, then forgets its cache and begins again behind a prompt of
what is due then. Each window is a `PromptedState` of its own; to the decoding loop they are one.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from core.lm.prompted import PromptedState
from core.lm.state import SentenceState

Open = Callable[[Sequence[int]], PromptedState]
"""All tokens so far -> the state of the window that begins behind them."""


class WindowedState(SentenceState):
    """Implements `LanguageModel`.

    Token n belongs to window n // span, and is said by that window's state. A draft must not
    cross an edge: what stands behind it depends on the tokens before it, once they are verified.
    """

    def __init__(self, span: int, open_window: Open):
        super().__init__()
        self._span = span
        self._open = open_window
        self._window: PromptedState | None = None
        self._first = 0  # token of the window that is open

    def forward(self, tokens: Sequence[int]) -> Tensor:
        """Take in the next positions; logits [m, V] of the tokens that follow each."""
        stop = self.stop(tokens)
        if stop <= self.length:
            raise ValueError("no position to take in")
        self.tokens.extend(tokens)
        rows = []
        while self.length < stop:
            edge = min(stop, self._edge(self.length))
            rows.append(self._within(self.length, edge))
            self.length = edge
        return torch.cat(rows)

    def rollback(self, length: int) -> None:
        super().rollback(length)
        if self._window is None or length <= self._first:
            self._window = None
        else:
            self._window.rollback(length - self._first)

    def _edge(self, position: int) -> int:
        """Where the window that says token `position` ends."""
        return (position // self._span + 1) * self._span

    def _within(self, start: int, stop: int) -> Tensor:
        """Positions of one window; its first is the prompt, which holds all tokens before it."""
        if start % self._span == 0:
            self._first, self._window = start, None  # what it has borrowed serves the next one
            self._window = self._open(self.tokens[:start])
            return self._window.forward(self.tokens[start : stop - 1])
        if self._window is None:  # rolled back to before it was opened
            self._first = start - start % self._span
            self._window = self._open(self.tokens[: self._first])
            said = self.tokens[self._first : stop - 1]
            return self._window.forward(said)[start - self._first :]
        return self._window.forward(self.tokens[start - 1 : stop - 1])
