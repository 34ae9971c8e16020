"""Virtual time and a cooperative scheduler: one thread runs at a time, in an order set by the program.

A thread keeps its turn until it pauses. Then the thread whose pause ends first continues, and the clock
jumps to that time. The overlap of threads depends only on the lengths of their pauses, which are drawn
from a seed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

from blazar_plugin_testing.clocks import ManualClock

AT_ONCE = datetime.min.replace(tzinfo=UTC)
"""Before all other times; for tasks that are to unwind."""
NEVER = datetime.max.replace(tzinfo=UTC)


_LONGEST_TURN_SECONDS = 120
"""The maximum real time until the first task has its turn again; only a deadlock takes as long."""


class Abandoned(BaseException):
    """The end of the run, raised in every task that is still running."""


class Task:
    """A thread that takes turns."""

    def __init__(self, name: str, order: int) -> None:
        self.name = name
        self.order = order
        self.wake_at = AT_ONCE
        """The time at which the task continues."""
        self.not_before = AT_ONCE
        """The task stays paused until this time, whatever it waits for."""
        self.turn = threading.Lock()
        self.turn.acquire()

    @property
    def place_in_line(self) -> tuple[datetime, int]:
        """Return the sort key of tasks."""
        return self.wake_at, self.order


class Scheduler:
    """Gives turns to tasks; the thread that creates the scheduler is the first task, named ``main``."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self._orders = count()
        self.main = Task("main", next(self._orders))
        self.current = self.main
        self.tasks: list[Task] = [self.main]
        self._is_over = False
        self.failure: BaseException | None = None
        """The first unexpected error that ended a task."""

    @property
    def is_outside(self) -> bool:
        """Return whether the first task itself has the turn."""
        return self.current is self.main

    def spawn(self, name: str, act: Callable[[], None], at: datetime) -> Task:
        """Run *act* in a new thread, from the time *at* on, and return its task."""
        task = Task(name, next(self._orders))
        task.wake_at = at
        self.tasks.append(task)
        threading.Thread(target=self._live, args=(task, act), name=name, daemon=True).start()
        return task

    def pause_until(self, instant: datetime) -> None:
        """Let other tasks run until *instant*, or longer if the task is delayed in the meantime."""
        me = self.current
        me.wake_at = max(instant, me.not_before)
        after = self._choose()
        if after is me:
            return
        after.turn.release()
        if me is not self.main:
            me.turn.acquire()
        elif not me.turn.acquire(timeout=_LONGEST_TURN_SECONDS):
            raise AssertionError(f"{self.current.name} keeps the turn: it waits for a thread that has none")
        if self._is_over and me is not self.main:
            raise Abandoned

    def pause(self, duration: timedelta) -> None:
        """Let other tasks run for this duration."""
        self.pause_until(self.clock.now() + duration)

    def close(self) -> None:
        """End all tasks at their current pause."""
        self._is_over = True
        while len(self.tasks) > 1:
            for each in self.tasks[1:]:
                each.wake_at = each.not_before = AT_ONCE
            self.pause_until(NEVER)

    def _choose(self) -> Task:
        after = min(self.tasks, key=lambda each: each.place_in_line)
        if after.wake_at > self.clock.now():
            self.clock.set(after.wake_at)
        self.current = after
        return after

    def _live(self, task: Task, act: Callable[[], None]) -> None:
        task.turn.acquire()
        try:
            if not self._is_over:
                act()
        except Abandoned:
            pass
        except BaseException as error:
            self.failure = self.failure or error
        self.tasks.remove(task)
        if self.failure is not None or self._is_over:
            self.main.wake_at = AT_ONCE
        self._choose().turn.release()


class TurnClock(ManualClock):
    """The simulation's clock; waiting on it lets other tasks run."""

    scheduler: Scheduler

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Wait for *timeout*, or not at all if *event* is set; return whether *event* is set."""
        if not event.is_set():
            self.scheduler.pause(timeout)
        return event.is_set()


class SkewedClock:
    """A manager's own clock, which may be wrong."""

    def __init__(self, true: TurnClock, offset: timedelta) -> None:
        self.true = true
        self.offset = offset

    def now(self) -> datetime:
        """Return the current time of this clock."""
        return self.true.now() + self.offset

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Wait for *timeout*, or not at all if *event* is set; return whether *event* is set."""
        return self.true.wait(event, timeout)


class WriteLock:
    """The lock of the single writing transaction; waiting for it lets other tasks run."""

    def __init__(self, scheduler: Scheduler, patience: timedelta) -> None:
        self._scheduler = scheduler
        self._patience = patience
        self._holder: Task | None = None
        self._waiting: list[Task] = []

    def acquire(self) -> bool:
        """Take the lock and return True; return False if it is not released before the timeout."""
        me = self._scheduler.current
        assert self._holder is not me, "a transaction was begun inside of another one"
        deadline = self._scheduler.clock.now() + self._patience
        while self._holder is not None:
            if self._scheduler.clock.now() >= deadline:
                return False
            self._waiting.append(me)
            try:
                self._scheduler.pause_until(deadline)
            finally:
                if me in self._waiting:
                    self._waiting.remove(me)
        self._holder = me
        return True

    def release(self) -> None:
        """Release the lock and wake all waiting tasks; the first to run takes it."""
        self._holder = None
        now = self._scheduler.clock.now()
        for each in self._waiting:
            each.wake_at = max(each.not_before, min(each.wake_at, now))
        self._waiting.clear()

    def is_held_by(self, task: Task) -> bool:
        """Return whether the task is inside a writing transaction."""
        return self._holder is task
