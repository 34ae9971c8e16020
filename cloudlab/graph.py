"""Tasks that wait for each other and otherwise run at the same time."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from cloudlab.waiting import INTERRUPTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One thing to do."""

    name: str
    run: Callable[[], str | None]
    """Does it; returns what was done, in a few words, or None if there was nothing to do."""
    after: tuple[str, ...] = ()
    """Names of tasks that must have been done before; they stand before this one in the list."""


class NotReached(Exception):
    """A task was not begun, because one before it failed."""


def run_all(tasks: Sequence[Task], say: Callable[[str], None]) -> None:
    """Run all tasks, each as soon as it may; say a line, with its seconds, for each that did something.

    Raises:
        Exception: What the first task that failed raised; the others are interrupted then.
    """
    futures: dict[str, Future[None]] = {}

    def work(task: Task) -> None:
        if any(futures[name].exception() is not None for name in task.after) or INTERRUPTED.is_set():
            raise NotReached
        began = time.monotonic()
        done = task.run()
        if done is not None:
            say(f"{task.name}: {done} ({time.monotonic() - began:.1f} s)")

    with ThreadPoolExecutor(max_workers=len(tasks)) as pool:
        try:
            for task in tasks:
                futures[task.name] = pool.submit(work, task)
            _raise_first(wait(futures.values(), return_when=FIRST_EXCEPTION).done)
        except BaseException:
            INTERRUPTED.set()
            raise


def _raise_first(futures: Collection[Future[None]]) -> None:
    """Raise what a task raised, if any did; what was not reached only follows from another's failure."""
    for future in futures:
        if not isinstance(future.exception(), NotReached):
            future.result()
