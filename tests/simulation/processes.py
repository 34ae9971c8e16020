"""Manager processes: each with its own clock, its own connection to the database, and several workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from simulation.scheduler import AT_ONCE, SkewedClock, Task, WriteLock

from blazar.booking.context import Context
from blazar.db.store import SqlStore
from blazar.domain.errors import ConcurrentUpdate, Unavailable
from blazar.manager.service import ManagerService
from blazar.ports.store import Transaction
from blazar.reconcile.loop import Reconciler
from blazar_plugin_testing.faults import CommitFault, ScriptedStore
from blazar_plugin_testing.service_env import Sent


class Surroundings(Protocol):
    """The simulation's answers to a process at each step outside its own memory."""

    lock: WriteLock

    def step(self, what: str) -> None:
        """Let other tasks run; a process may be killed or paused here."""

    def has_connection(self) -> bool:
        """Return whether the database accepts a new transaction."""

    def commit_fault(self) -> CommitFault | None:
        """Return the fault of a commit, None if there is none."""

    def committed(self) -> None:
        """React to a commit."""

    def broker_refuses(self) -> bool:
        """Return whether a notification is refused."""


class TurnStore(ScriptedStore):
    """The store of one process; other tasks run before each transaction and each commit."""

    def __init__(self, store: SqlStore, env: Surroundings) -> None:
        super().__init__(store)
        self._env = env

    @contextmanager
    def begin(self) -> Iterator[Transaction]:
        """Begin a writing transaction once no other one is open.

        Raises:
            ConcurrentUpdate: The other transaction took too long.
            Unavailable: The database cannot be reached.
        """
        self._connect("begin")
        if not self._env.lock.acquire():
            raise ConcurrentUpdate("The database is busy")
        try:
            with super().begin() as transaction:
                yield transaction
        finally:
            self._env.lock.release()

    @contextmanager
    def read(self, *, of_one_instant: bool = True) -> Iterator[Transaction]:
        """Begin a read-only transaction. Raises Unavailable."""
        self._connect("read")
        with super().read(of_one_instant=of_one_instant) as transaction:
            yield transaction

    def commit(self, transaction: Transaction) -> None:
        """Commit, unless a fault prevents it."""
        self._env.step("commit")
        fault = self._env.commit_fault()
        if fault is None or not fault.is_lost:
            super().commit(transaction)
            self._env.committed()
        if fault is not None:
            self.has_struck = True
            raise fault.raises()

    def _connect(self, purpose: str) -> None:
        self._env.step(purpose)
        if not self._env.has_connection():
            self.has_struck = True
            raise Unavailable("The database cannot be reached")


class Broker:
    """Notifier that may refuse a notification, or deliver it and report a failure."""

    def __init__(self, sent: Sent, env: Surroundings) -> None:
        self._sent = sent
        self._env = env

    def notify(self, event_type: str, payload: Mapping[str, object]) -> None:
        """Deliver a notification. Raises Unavailable."""
        self._env.step(f"notify {event_type}")
        if self._env.broker_refuses():
            raise Unavailable("the broker is gone")
        self._sent.notify(event_type, payload)
        if self._env.broker_refuses():
            raise Unavailable("the broker did not confirm")


@dataclass(eq=False, slots=True, kw_only=True)
class Process:
    """A manager process: the state that is lost if it is killed."""

    name: str
    clock: SkewedClock
    context: Context
    service: ManagerService
    reconciler: Reconciler
    is_dead: bool = False
    paused_until: datetime = AT_ONCE
    tasks: list[Task] = field(default_factory=list)
    """The running tasks of the process."""
    busy: int = 0
    """The number of busy workers."""
    is_renewing: bool = False
