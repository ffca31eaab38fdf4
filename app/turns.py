"""Who may use the model: one at a time, first come, first served."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LOOK = 0.1  # seconds between looks at whether a waiter still wants its turn


class Turns:
    """A line in front of the one model and the one processor. Shared by all threads."""

    def __init__(self) -> None:
        self._line: list[object] = []
        self._moved = threading.Condition()

    @contextmanager
    def turn(
        self,
        on_place: Callable[[int], None] = lambda _: None,
        check: Callable[[], None] = lambda: None,
    ) -> Iterator[None]:
        """Wait for the turn, and hold it inside.

        on_place: told how many are ahead, whenever that changes while there are some.
        check: called again and again while waiting; what it raises leaves the line.
        """
        me = object()
        with self._moved:
            self._line.append(me)
        try:
            self._wait(me, on_place, check)
            yield
        finally:
            with self._moved:
                self._line.remove(me)
                self._moved.notify_all()

    def _wait(self, me: object, on_place: Callable[[int], None], check: Callable[[], None]) -> None:
        told = 0
        while True:
            check()
            with self._moved:
                ahead = self._line.index(me)
                if ahead == told:
                    if not ahead:
                        return
                    self._moved.wait(LOOK)
                    continue
            if not ahead:
                return
            on_place(told := ahead)
