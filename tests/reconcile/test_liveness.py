"""Liveness of reconciler threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from clocks import ManualClock

from blazar.domain.errors import ConcurrentUpdate, Unavailable
from blazar.reconcile.liveness import Liveness

SILENCE = timedelta(seconds=60)


class Thread:
    """A thread that runs the acts it is given, and waits in between."""

    def __init__(self, name: str = "dispatch") -> None:
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._asked, self._done, self._ends = threading.Event(), threading.Event(), False
        self._act: Callable[[], None] = lambda: None
        self.thread.start()

    def do(self, act: Callable[[], None]) -> None:
        self._act = act
        self._asked.set()
        assert self._done.wait(30)
        self._done.clear()

    def end(self) -> None:
        self._ends = True
        self._asked.set()
        self.thread.join(30)

    def _run(self) -> None:
        while self._asked.wait(60) and not self._ends:
            self._asked.clear()
            self._act()
            self._done.set()


def test_threads_that_come_round_are_well() -> None:
    clock, thread = ManualClock(), Thread()
    liveness = Liveness(clock, SILENCE)
    assert liveness.problems() == ("the reconciler has not started",)

    liveness.watch([thread.thread])
    clock.advance(SILENCE)
    thread.do(liveness.beat)
    clock.advance(SILENCE)

    assert liveness.problems() == ()
    thread.end()


def test_a_thread_that_falls_silent_is_named() -> None:
    clock, thread = ManualClock(), Thread("renew-claims")
    liveness = Liveness(clock, SILENCE)
    liveness.watch([thread.thread])

    clock.advance(SILENCE + timedelta(seconds=1))

    assert liveness.problems() == ("renew-claims: no progress for 61 s",)
    thread.end()


def test_a_thread_that_has_ended_is_named() -> None:
    thread = Thread()
    liveness = Liveness(ManualClock(), SILENCE)
    liveness.watch([thread.thread])

    thread.end()

    assert liveness.problems() == ("dispatch: the thread has ended",)


@pytest.mark.parametrize(
    ("error", "problems"),
    [
        (Unavailable("The database cannot be reached"), ("dispatch: The database cannot be reached",)),
        (RuntimeError("password=x"), ("dispatch: RuntimeError",)),
        (ConcurrentUpdate("a concurrent update"), ()),
    ],
)
def test_what_went_wrong_is_said_until_it_goes_well(error: Exception, problems: tuple[str, ...]) -> None:
    thread = Thread()
    liveness = Liveness(ManualClock(), SILENCE)
    liveness.watch([thread.thread])

    thread.do(lambda: liveness.beat(error))
    assert liveness.problems() == problems

    thread.do(liveness.beat)
    assert liveness.problems() == ()
    thread.end()


def test_nothing_is_well_any_more_when_it_stops() -> None:
    liveness = Liveness(ManualClock(), SILENCE)

    liveness.stop()

    assert liveness.problems() == ("the reconciler is stopping",)
