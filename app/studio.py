"""The page's one engine, shared by all its visitors."""

import threading
from collections import deque
from collections.abc import Callable

from core.engine import Engine, Settings

WARM_UP = "Ready."


class Studio:
    """Loads the engine when it is first needed, once; a load that failed is tried again."""

    def __init__(self, load: Callable[[], Engine]):
        self._load = load
        self._lock = threading.Lock()
        self._engine: Engine | None = None

    def engine(self) -> Engine:
        """The engine, warm. Raises ForespeakError where it cannot be loaded."""
        with self._lock:
            if self._engine is None:
                engine = self._load()
                # The first sound is slow (caches, lazily loaded text tools): nobody should hear it.
                deque(engine.synthesize(WARM_UP, Settings()), maxlen=0)
                self._engine = engine
            return self._engine
