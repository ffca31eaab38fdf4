"""The line in front of the model."""

import threading

import pytest

from app.turns import Turns
from tests.app.conftest import wait_until


class GaveUp(Exception):  # noqa: N818 - stands for somebody who leaves
    pass


class Waiter:
    """A thread in the line; it holds its turn until `release`."""

    def __init__(self, turns, order):
        self.places, self.holding, self.left = [], False, False
        self.release, self.give_up = threading.Event(), threading.Event()
        self._turns, self._order = turns, order
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def _check(self):
        if self.give_up.is_set():
            raise GaveUp

    def _wait(self):
        try:
            with self._turns.turn(self.places.append, self._check):
                self.holding = True
                self._order.append(self)
                self.release.wait(5)
                self.holding = False
        except GaveUp:
            self.left = True


@pytest.fixture
def line():
    """Four in the line, in order; the first has its turn."""
    turns, order, waiters = Turns(), [], []
    for ahead in range(4):
        waiters.append(Waiter(turns, order))
        wait_until(lambda n=ahead: waiters[n].places == [n] if n else waiters[0].holding)
    yield waiters
    for waiter in waiters:
        waiter.give_up.set()
        waiter.release.set()


def test_one_at_a_time_in_the_order_of_coming(line):
    for number, waiter in enumerate(line):
        wait_until(lambda w=waiter: w.holding)
        assert [w.holding for w in line].count(True) == 1
        assert waiter.places == list(range(number, 0, -1))
        waiter.release.set()


def test_who_gives_up_leaves_and_those_behind_move_up(line):
    line[1].give_up.set()
    wait_until(lambda: line[1].left)
    wait_until(lambda: line[2].places == [2, 1])
    wait_until(lambda: line[3].places == [3, 2])
    line[0].release.set()
    wait_until(lambda: line[2].holding)


def test_a_failure_inside_ends_the_turn():
    turns = Turns()
    with pytest.raises(ZeroDivisionError), turns.turn():
        _ = 1 // 0
    with turns.turn():
        pass


def test_nobody_is_told_a_place_who_need_not_wait():
    places = []
    with Turns().turn(places.append):
        assert places == []
