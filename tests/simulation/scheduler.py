"""Virtual time, and who goes on: threads of which one runs at a time, in an order that the program decides.

A thread keeps the turn until it pauses. Then the one goes on whose pause ends first, and the clock jumps to
that instant; so nothing but the lengths of pauses, which are drawn from a seed, decides what overlaps.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

from blazar.plugins.testing.clocks import ManualClock

AT_ONCE = datetime.min.replace(tzinfo=UTC)
"""Before everybody else: for who is to unwind."""
NEVER = datetime.max.replace(tzinfo=UTC)


_LONGEST_TURN_SECONDS = 120
"""Of real time, until the world has the turn again; only a lock that nobody releases takes as long."""


class Abandoned(BaseException):
    """The run is over, for everybody who is still under way."""


class Task:
    """A thread that takes turns."""

    def __init__(self, name: str, order: int) -> None:
        self.name = name
        self.order = order
        self.wake_at = AT_ONCE
        """When it goes on."""
        self.not_before = AT_ONCE
        """It is paused until then, whatever it waits for."""
        self.turn = threading.Lock()
        self.turn.acquire()

    @property
    def place_in_line(self) -> tuple[datetime, int]:
        """Return what tasks are ordered by."""
        return self.wake_at, self.order


class Scheduler:
    """Gives turns to tasks; the thread that makes it is the first of them, named ``world``."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self._orders = count()
        self.main = Task("world", next(self._orders))
        self.current = self.main
        self.tasks: list[Task] = [self.main]
        self._is_over = False
        self.failure: BaseException | None = None
        """What ended a task that nobody foresaw."""

    @property
    def is_outside(self) -> bool:
        """Return whether the world itself has the turn, and not one of its inhabitants."""
        return self.current is self.main

    def spawn(self, name: str, act: Callable[[], None], at: datetime) -> Task:
        """Have *act* done from an instant on by a thread of its own."""
        task = Task(name, next(self._orders))
        task.wake_at = at
        self.tasks.append(task)
        threading.Thread(target=self._live, args=(task, act), name=name, daemon=True).start()
        return task

    def pause_until(self, instant: datetime) -> None:
        """Let others go on until an instant; it may be later, if somebody delays the task meanwhile."""
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
        """Let others go on for so long."""
        self.pause_until(self.clock.now() + duration)

    def close(self) -> None:
        """End all tasks where they stand."""
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
    """The clock of the world: whoever waits on it lets others go on."""

    scheduler: Scheduler

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Wait so long, or not at all if *event* is set; return whether it is set."""
        if not event.is_set():
            self.scheduler.pause(timeout)
        return event.is_set()


class SkewedClock:
    """A manager's own clock, which may be wrong."""

    def __init__(self, true: TurnClock, offset: timedelta) -> None:
        self.true = true
        self.offset = offset

    def now(self) -> datetime:
        """Return the instant at which this clock stands."""
        return self.true.now() + self.offset

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Wait so long, or not at all if *event* is set; return whether it is set."""
        return self.true.wait(event, timeout)


class WriteLock:
    """The lock that one writing transaction has at a time; who waits for it lets others go on."""

    def __init__(self, scheduler: Scheduler, patience: timedelta) -> None:
        self._scheduler = scheduler
        self._patience = patience
        self._holder: Task | None = None
        self._waiting: list[Task] = []

    def acquire(self) -> bool:
        """Take the lock; return False if it did not become free in time."""
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
        """Let one of those who wait have it: whoever looks first."""
        self._holder = None
        now = self._scheduler.clock.now()
        for each in self._waiting:
            each.wake_at = max(each.not_before, min(each.wake_at, now))
        self._waiting.clear()

    def is_held_by(self, task: Task) -> bool:
        """Return whether the task is in the middle of a writing transaction."""
        return self._holder is task
