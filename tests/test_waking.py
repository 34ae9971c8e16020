"""Managers wake each other when work is due, without waiting for an answer."""

from __future__ import annotations

import threading

from blazar.manager.waking import ProcessWaker

SECONDS = 20


class Bus:
    """A bus whose messages leave when they are let."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.may_leave = threading.Semaphore(0)
        self.count = 0

    def send(self) -> None:
        self.count += 1
        self.begun.release()
        assert self.may_leave.acquire(timeout=SECONDS)


def test_the_own_reconciler_is_woken_up_while_the_bus_is_slow() -> None:
    bus = Bus()
    waker = ProcessWaker(bus.send)

    waker.wake()

    assert waker.event.is_set()
    assert bus.begun.acquire(timeout=SECONDS)
    bus.may_leave.release()


def test_what_is_committed_while_a_message_leaves_is_told_by_one_more() -> None:
    bus = Bus()
    waker = ProcessWaker(bus.send)
    waker.wake()
    assert bus.begun.acquire(timeout=SECONDS)

    for _ in range(100):
        waker.wake()
    bus.may_leave.release()

    assert bus.begun.acquire(timeout=SECONDS)
    bus.may_leave.release()
    assert not bus.begun.acquire(timeout=0.1)
    assert bus.count == 2


def test_others_are_told_of_the_next_work_after_a_message_that_could_not_leave() -> None:
    told = threading.Semaphore(0)

    def fail() -> None:
        told.release()
        raise OSError("no bus")

    waker = ProcessWaker(fail)

    for _ in range(2):
        waker.wake()
        assert told.acquire(timeout=SECONDS)
