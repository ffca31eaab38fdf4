"""Engines that are ready to be heard, and the page's one, shared by all its visitors."""

import threading
from collections import deque
from collections.abc import Callable

from core.engine import Engine, Settings

WARM_UP = "Hi."


def load_engine(voice: str, device: str, settings: Settings | None = None) -> Engine:
    """The voice, warm. Raises ForespeakError where it cannot be loaded.

    The first sound is slow (caches, kernels, text tools that load late); nobody should hear or
    time it, so it is made here, with `settings` or the usual ones.
    """
    engine = Engine.load(voice, device)
    deque(engine.synthesize(WARM_UP, settings or Settings()), maxlen=0)
    return engine


class Studio:
    """Loads the engine when it is first needed, once; a load that failed is tried again."""

    def __init__(self, load: Callable[[], Engine]):
        self._load = load
        self._lock = threading.Lock()
        self._engine: Engine | None = None

    def engine(self) -> Engine:
        """The engine. Raises ForespeakError where it cannot be loaded."""
        with self._lock:
            if self._engine is None:
                self._engine = self._load()
            return self._engine

    @property
    def is_loaded(self) -> bool:
        """Whether `engine` answers at once."""
        return self._engine is not None
