"""Tasks with dependencies, otherwise run in parallel."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

from cloudlab.waiting import INTERRUPTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task."""

    name: str
    run: Callable[[], str | None]
    """Performs the task; returns a short description of what was done, or None if nothing was necessary."""
    after: tuple[str, ...] = ()
    """Names of tasks that must complete first; they come before this one in the list."""


class NotReached(Exception):
    """A task was not started, because one of its dependencies failed."""


def of_lab(number: int, tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks of one of several labs, so named that those of all labs can run together.

    Tasks of the first lab keep their names. A dependency that is not among *tasks* is on a task that all labs
    share.
    """
    if number == 1:
        return list(tasks)
    names = {task.name: f"lab {number}: {task.name}" for task in tasks}
    return [
        replace(task, name=names[task.name], after=tuple(names.get(each, each) for each in task.after))
        for task in tasks
    ]


def run_all(tasks: Sequence[Task], say: Callable[[str], None]) -> None:
    """Run all tasks, each as soon as possible; print a line with the duration of each that did something.

    Raises:
        Exception: The exception of the first task that failed; the other tasks are then interrupted.
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
    """Raise the exception of a failed task, if any; skipped tasks are only consequences."""
    for future in futures:
        if not isinstance(future.exception(), NotReached):
            future.result()
