"""The lock of an index: one thread at a time, in the order in which they asked."""

from __future__ import annotations

import threading

from blazar.booking.contention import FairLock

SECONDS = 30


def test_a_thread_that_asks_again_waits_behind_those_that_wait_already() -> None:
    lock, order = FairLock(), list[str]()
    waits = threading.Event()

    def other() -> None:
        waits.set()
        with lock:
            order.append("other")

    thread = threading.Thread(target=other)
    with lock:
        thread.start()
        assert waits.wait(SECONDS)
        while not lock.has_waiters:
            threading.Event().wait(0.001)
    with lock:
        order.append("again")
    thread.join(SECONDS)

    assert order == ["other", "again"]


def test_no_two_threads_have_it_at_the_same_time() -> None:
    lock, total = FairLock(), [0]

    def work() -> None:
        for _ in range(500):
            with lock:
                before = total[0]
                threading.Event().wait(0)
                total[0] = before + 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(SECONDS)

    assert total == [2000]


def test_an_error_releases_it() -> None:
    lock = FairLock()

    for _ in range(2):
        try:
            with lock:
                raise ValueError
        except ValueError:
            continue

    with lock:
        assert not lock.has_waiters
