"""Tests of ``SharedRead``: which threads share a read, and how old a result may be."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from programs import wait_until

from blazar.cloud.openstack.shared_read import SharedRead
from blazar.domain.errors import CloudUnavailable

PATIENCE_SECONDS = 60
AT_ONCE = 2


class SlowReads:
    """A read that returns its number when the test lets it end."""

    def __init__(self) -> None:
        self.begun = 0
        self._lock = threading.Lock()
        self._ends: list[threading.Event] = []

    def read(self) -> int:
        with self._lock:
            self.begun += 1
            number, end = self.begun, threading.Event()
            self._ends.append(end)
        assert end.wait(PATIENCE_SECONDS)
        return number

    def wait_for(self, number: int) -> None:
        assert wait_until(lambda: self.begun == number, PATIENCE_SECONDS)

    def end_all(self) -> None:
        for each in self._ends:
            each.set()

    def end_with(self, asked: Sequence[Future[int]]) -> None:
        """End all reads, also those that begin later, until these calls have returned."""

        def are_done() -> bool:
            self.end_all()
            return all(each.done() for each in asked)

        assert wait_until(are_done, PATIENCE_SECONDS)

    def end(self, number: int) -> None:
        self._ends[number - 1].set()


@contextmanager
def asking(shared: SharedRead[int]) -> Iterator[Callable[[], Future[int]]]:
    """Yield a function that calls ``get`` in a thread of its own, and returns after the call has begun."""
    with ThreadPoolExecutor(20) as pool:

        def ask() -> Future[int]:
            has_begun = threading.Event()

            def get() -> int:
                has_begun.set()
                return shared.get()

            asked = pool.submit(get)
            assert has_begun.wait(PATIENCE_SECONDS)
            return asked

        yield ask


def take_all_turns(ask: Callable[[], Future[int]], reads: SlowReads) -> list[Future[int]]:
    """Return the calls whose reads are in progress, as many as are allowed."""
    asked = []
    for number in range(1, AT_ONCE + 1):
        asked.append(ask())
        reads.wait_for(number)
    return asked


def test_threads_that_wait_share_the_next_read_and_get_no_older_one() -> None:
    reads = SlowReads()
    with asking(SharedRead(reads.read)) as ask:
        early = take_all_turns(ask, reads)
        late = [ask() for _ in range(10)]
        reads.end_with(late)

    assert [each.result() for each in early] == [1, 2]
    results = [each.result() for each in late]
    assert min(results) == AT_ONCE + 1
    # A thread that asked after the shared read had begun needs another one.
    assert max(results) < AT_ONCE + len(late)


def test_reads_without_an_end_do_not_stop_later_ones() -> None:
    reads = SlowReads()
    with asking(SharedRead(reads.read)) as ask:
        hanging = take_all_turns(ask, reads)

        for number in (AT_ONCE + 1, AT_ONCE + 2):
            later = ask()
            reads.wait_for(number)
            reads.end(number)
            assert later.result(PATIENCE_SECONDS) == number

        assert not any(each.done() for each in hanging)
        reads.end_all()


def test_a_failure_is_that_of_one_thread_and_the_others_read_by_themselves() -> None:
    reads = SlowReads()
    failures = [CloudUnavailable("away")]

    def read() -> int:
        number = reads.read()
        if number == AT_ONCE + 1:
            raise failures.pop()
        return number

    with asking(SharedRead(read)) as ask:
        take_all_turns(ask, reads)
        late = [ask() for _ in range(10)]
        reads.end_with(late)

    assert [str(each.exception()) for each in late if each.exception()] == ["away"]
    assert min(each.result() for each in late if not each.exception()) > AT_ONCE + 1
