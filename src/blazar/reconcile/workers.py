"""The worker threads of a reconciler; those that hang are replaced."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from blazar.ports import metrics
from blazar.ports.meter import Meter
from blazar.ports.work import Claim

_LONGEST_STOP_SECONDS = 60.0
"""Maximum wait for running steps when a manager stops; their claims expire otherwise."""


@dataclass(slots=True)
class _Worker:
    thread: threading.Thread | None = None
    claim: Claim | None = None
    hangs: bool = False
    is_replaced: bool = False


class Workers:
    """A fixed number of daemon threads, with one slot each; thread-safe.

    A worker whose step is past its deadline hangs and is replaced by another thread. Once as many workers
    hang as there are slots, they are no longer replaced, because each may hold a connection or a lock.
    """

    def __init__(
        self, count: int, work: Callable[[Claim], None], freed: Callable[[], None], meter: Meter
    ) -> None:
        """Create a pool without threads.

        Args:
            count: Number of claims processed at the same time.
            work: Processes one claim; raises no exceptions.
            freed: Called when a slot became free.
            meter: The metrics sink for hanging workers.
        """
        self._count = count
        self._work = work
        self._freed = freed
        self._meter = meter
        self._queue: queue.SimpleQueue[Claim | None] = queue.SimpleQueue()
        self._slots = threading.Semaphore(count)
        self._lock = threading.Lock()
        self._alive: list[_Worker] = []

    def start(self) -> None:
        """Start the threads."""
        for _ in range(self._count):
            self._add()

    def take_slots(self) -> int:
        """Take all free slots; return their number."""
        free = 0
        while free < self._count and self._slots.acquire(blocking=False):
            free += 1
        return free

    def free_slots(self, number: int) -> None:
        """Free slots that were taken but are not needed."""
        if number:
            self._slots.release(number)

    def submit(self, claim: Claim) -> None:
        """Queue a claim for processing; its slot must have been taken before."""
        self._queue.put(claim)

    def note_hanging(self, claim: Claim) -> None:
        """Replace the worker whose step on *claim* takes too long, if it still runs."""
        with self._lock:
            worker = next((each for each in self._alive if each.claim == claim and not each.hangs), None)
            if worker is None:
                return
            worker.hangs = True
            worker.is_replaced = self._count_hanging() <= self._count
            self._show()
        if worker.is_replaced:
            self._add()
            self._slots.release()
            self._freed()

    def hanging(self) -> int:
        """Return the number of hanging workers."""
        with self._lock:
            return self._count_hanging()

    def are_lost(self) -> bool:
        """Return whether all workers hang, including the replacements."""
        with self._lock:
            return bool(self._alive) and all(each.hangs for each in self._alive)

    def problems(self) -> tuple[str, ...]:
        """Return why no work can be processed, as text for operators; empty if some can."""
        hanging = self.hanging()
        if hanging < self._count:
            return ()
        return (f"workers: {hanging} steps are past their deadline, at least as many as there are workers",)

    def stop(self) -> None:
        """Wait for running steps, except for those that hang."""
        with self._lock:
            waited_for = [each for each in self._alive if not each.hangs]
        for _ in waited_for:
            self._queue.put(None)
        deadline = time.monotonic() + _LONGEST_STOP_SECONDS
        for each in waited_for:
            if each.thread is not None:
                each.thread.join(max(0.0, deadline - time.monotonic()))

    def _add(self) -> None:
        worker = _Worker()
        worker.thread = threading.Thread(target=self._run, args=(worker,), name="reconcile", daemon=True)
        with self._lock:
            self._alive.append(worker)
        worker.thread.start()

    def _run(self, worker: _Worker) -> None:
        while not worker.is_replaced:
            claim = self._queue.get()
            if claim is None:
                break
            worker.claim = claim
            try:
                self._work(claim)
            finally:
                self._finish(worker)
        with self._lock:
            self._alive.remove(worker)

    def _finish(self, worker: _Worker) -> None:
        with self._lock:
            worker.claim, was_hanging, worker.hangs = None, worker.hangs, False
            if was_hanging:
                self._show()
        if not worker.is_replaced:
            self._slots.release()
            self._freed()

    def _count_hanging(self) -> int:
        return sum(each.hangs for each in self._alive)

    def _show(self) -> None:
        self._meter.set(metrics.WORKERS_HANGING, self._count_hanging())
