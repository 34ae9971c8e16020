"""A complete service on a manual clock: managers that can be killed, a cloud, a database.

Everything happens on request: requests are served at once, and due work is processed by
:meth:`ServiceEnv.run_until`. Times are in hours since the epoch.
"""

from __future__ import annotations

import functools
import random
import threading
import uuid
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import sqlalchemy as sa

from blazar.booking.clock_guard import ClockGuard
from blazar.booking.context import Context, Plugin
from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.cloud.simulated.faults import SimulatedCrash
from blazar.db import tables
from blazar.db.store import SqlStore
from blazar.domain.errors import (
    BlazarError,
    CloudDisagrees,
    CloudError,
    ConcurrentUpdate,
    Conflict,
    LeaseNotFound,
    Unavailable,
)
from blazar.domain.lease import Lease, LeaseId
from blazar.manager.build import make_indexes
from blazar.manager.collections import COLLECTIONS
from blazar.manager.service import ManagerService
from blazar.ports.manager import Caller
from blazar.ports.specs import SpecCodec
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender
from blazar.reconcile.periodic.tasks import SWEEP
from blazar.settings import Settings
from blazar_plugin_testing.clocks import EPOCH, ManualClock, SharedClock
from blazar_plugin_testing.faults import ScriptedStore, WatchedFaults

if TYPE_CHECKING:
    from blazar.ports.outbox import Notifier
    from blazar.ports.work import Waker

LESSEE = Caller(user_id="user", project_id="project")
"""The caller of all requests."""
_BUSY = 60
"""Maximum number of reconcile passes at one instant; more are an endless loop."""
_RETRIED = (Unavailable, Conflict, CloudError)
_CHANGES = ("update", "rename")


class NothingToStrike(Exception):
    """The trial of a story ended before the fault struck."""


class Sent:
    """A notifier that counts notifications; it can be made to fail."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.statuses: dict[tuple[str, str], list[object]] = defaultdict(list)
        self.is_broken = False

    def notify(self, event_type: str, payload: Mapping[str, object]) -> None:
        """Count a notification by lease and event type. Raises Unavailable if ``is_broken``."""
        if self.is_broken:
            raise Unavailable("the broker is gone")
        key = str(payload["lease_id"]), event_type
        self.counts[key] += 1
        self.statuses[key].append(payload["status"])


class Silent:
    """A waker without effect: the environment processes due work itself."""

    def wake(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagerProcess:
    """One manager process; a kill replaces it."""

    name: str
    context: Context
    service: ManagerService
    reconciler: Reconciler


class ServiceEnv(ABC):
    """The service with its environment; :meth:`begin` creates everything except the database."""

    engine: sa.Engine
    clock: ManualClock
    cloud: SimulatedCloud
    faults: WatchedFaults
    codecs: dict[str, SpecCodec]
    """The codecs of the store, which all managers of the environment share."""
    store: ScriptedStore
    sent: Sent
    manager: ManagerProcess
    managers_so_far: int
    arm: Callable[[], None] | None = None
    """Called where the trial of a story begins."""
    may_fail: bool = False
    """Whether faults are permanent, so that reservations may end in error."""

    def __init__(self, engine: sa.Engine) -> None:
        """Create an environment on a migrated database that has no other user; :meth:`begin` starts it."""
        self.engine = engine
        self.has_struck: Callable[[], bool] = lambda: True

    @property
    @abstractmethod
    def settings(self) -> Settings:
        """Return the settings of the managers."""

    @abstractmethod
    def make_plugins(self) -> Mapping[str, Plugin]:
        """Return new plugins by resource type, as a process that starts does."""

    def begin(self, faults: WatchedFaults, *, server_deletion_time: timedelta = timedelta(0)) -> None:
        """Start at the epoch, with an empty cloud; the database is unchanged."""
        self.clock = ManualClock(EPOCH)
        self.faults = faults
        self.cloud = SimulatedCloud(self.clock, server_deletion_time=server_deletion_time, faults=faults)
        self.codecs = {}
        self.store = ScriptedStore(SqlStore(self.engine, self.clock, self.codecs))
        self.sent = Sent()
        self.managers_so_far = 0
        self._ids = random.Random(2031)  # noqa: S311 - every run is the same
        self.arm, self.may_fail = None, False

    def new_manager(
        self, clock: ManualClock | None = None, clock_limit: timedelta = timedelta(0)
    ) -> ManagerProcess:
        """Return another manager process, with empty caches.

        Args:
            clock: Its own clock; None for the environment's, which is also the database's.
            clock_limit: The difference between both clocks above which it stops acting; zero for no limit.
        """
        clock = clock or self.clock
        self.managers_so_far += 1
        name = f"manager-{self.managers_so_far}"
        plugins = self.make_plugins()
        self.codecs.update(plugins)
        guard = ClockGuard(clock, SharedClock(self.clock), clock_limit)
        indexes = make_indexes(self.store, clock, plugins)
        for index in indexes.values():
            index.correct_clock(guard.difference)
        context = Context(
            store=self.store,
            clock=clock,
            cloud=self.cloud,
            plugins=plugins,
            indexes=indexes,
            collections=COLLECTIONS,
            settings=self.settings,
            waker=Silent(),
            random=random.Random(self.managers_so_far),  # noqa: S311 - every run is the same
            new_id=self._new_id,
            clock_guard=guard,
        )
        sender = OutboxSender(self.store, clock, self.sent, {})
        return ManagerProcess(
            name=name,
            context=context,
            service=ManagerService(context),
            reconciler=Reconciler(context, name, sender, threading.Event()),
        )

    def _new_id(self) -> str:
        return str(uuid.UUID(int=self._ids.getrandbits(128), version=4))

    def kill(self) -> None:
        """Discard the manager in its present state, and start another one."""
        self.manager = self.new_manager()

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Mark the part of a story in which a fault is to strike.

        Raises:
            NothingToStrike: It has fewer steps than the fault needs.
        """
        if self.arm is None:
            yield
            return
        arm, self.arm = self.arm, None
        arm()
        yield
        if not self.has_struck():
            raise NothingToStrike

    # Actions of a lessee. Requests whose answer was lost are repeated, as clients do.

    def request_lease(self, name: str, body: Mapping[str, object]) -> LeaseId:
        """Create a lease with a unique name, and return its id."""
        self._insist(
            lambda: self.manager.service.create_lease(LESSEE, body),
            lambda: any(each.name == name for each in self.leases()),
        )
        return next(each.id for each in self.leases() if each.name == name)

    def update(self, lease_id: str, **changes: object) -> None:
        """Change a lease; ``start`` and ``end`` are hours or ``now``, other keys as in the REST API."""
        body: dict[str, object] = {}
        for key, value in changes.items():
            if key in ("start", "end") and isinstance(value, str | float | int):
                body[f"{key}_date"] = self.date(value)
            else:
                body[key] = value
        updates = self._count_updates(lease_id)
        self._insist(
            lambda: self.manager.service.update_lease(LESSEE, lease_id, body),
            lambda: self._count_updates(lease_id) > updates,
        )

    def delete(self, lease_id: str) -> None:
        """Delete a lease."""
        try:
            self._insist(
                lambda: self.manager.service.delete_lease(LESSEE, lease_id),
                lambda: all(each.id != lease_id or each.is_deleting for each in self.leases()),
            )
        except LeaseNotFound:
            return

    def request(self, act: Callable[[ManagerService], object], already: type[BlazarError]) -> None:
        """Make any other request; *already* is the error if an earlier attempt succeeded unnoticed."""
        for _ in range(5):
            try:
                act(self.manager.service)
            except SimulatedCrash:
                self.kill()
            except already:
                return
            except _RETRIED:
                continue
            else:
                return
        raise AssertionError("the request fails again and again")

    # Time.

    def instant(self, hours: float) -> datetime:
        """Return the instant that is so many hours after the epoch."""
        return EPOCH + timedelta(hours=hours)

    def date(self, value: float | str) -> str:
        """Return a date in the form of requests, from hours or ``now``."""
        return value if isinstance(value, str) else f"{self.instant(value):%Y-%m-%d %H:%M}"

    def jump(self, hours: float) -> None:
        """Advance the time while no manager runs."""
        self.clock.set(self.instant(hours))

    def run_until(self, hours: float) -> None:
        """Advance the time, and process work when it is due."""
        end = self.instant(hours)
        self.run_due()
        while (due := self.next_due()) is not None and due <= end:
            self.clock.set(max(due, self.clock.now()))
            self.run_due()
        self.clock.set(end)

    def run_due(self) -> None:
        """Process the work that is due now; a killed manager is replaced."""
        for _ in range(20):
            try:
                passes = self.manager.reconciler.run_due(_BUSY)
            except SimulatedCrash:
                self.kill()
            except (Unavailable, ConcurrentUpdate):
                continue
            else:
                assert passes < _BUSY, f"endless loop at {self.clock.now()}"
                return
        raise AssertionError("the manager makes no progress")

    def next_due(self) -> datetime | None:
        """Return the next instant at which work, a takeover or a message is due; None if nothing is."""
        work, outbox = tables.work.c, tables.outbox.c
        first = sa.select(
            sa.select(sa.func.min(work.due_at)).where(work.claim_deadline.is_(None)).scalar_subquery(),
            sa.select(sa.func.min(work.claim_deadline)).scalar_subquery(),
            sa.select(sa.func.min(outbox.due_at)).where(outbox.failed_at.is_(None)).scalar_subquery(),
        )
        with self.engine.connect() as connection:
            instants = connection.execute(first).one()
        return min((each for each in instants if each is not None), default=None)

    def plan_periodic_task(self, key: str = SWEEP) -> None:
        """Schedule sweeps, or another periodic task, from now on, as a manager does when it starts."""
        with self.engine.begin() as connection:
            row = {"key": key, "due_at": self.clock.now(), "claim_number": 0, "attempts": 0}
            connection.execute(sa.insert(tables.work), [row])

    def plan_look(self, lease_id: str) -> None:
        """Schedule a reconcile pass over a lease for this instant."""
        with self.store.begin() as transaction:
            transaction.work.schedule([lease_id], self.clock.now())
            transaction.commit()

    # Present state.

    def leases(self) -> tuple[Lease, ...]:
        """Return all leases."""
        with self.store.read() as transaction:
            return transaction.leases.list()

    def lease(self, lease_id: str) -> Lease:
        """Return a lease, which must exist."""
        with self.store.read() as transaction:
            found = transaction.leases.find(lease_id)
        assert found is not None
        return found

    @property
    def counted(self) -> int:
        """Return the number of cloud calls that the managers have made."""
        return self.faults.seen

    def _count_updates(self, lease_id: str) -> int:
        with self.store.read() as transaction:
            return sum(1 for each in transaction.journal.list(lease_id) if each.event in _CHANGES)

    def _insist(self, act: Callable[[], object], is_done: Callable[[], bool]) -> None:
        for _ in range(25):
            try:
                act()
            except SimulatedCrash:
                self.kill()
            except (Unavailable, ConcurrentUpdate, CloudDisagrees, CloudError):
                pass
            else:
                return
            if is_done():
                return
        raise AssertionError("the request fails again and again")


def empty_tables(engine: sa.Engine) -> None:
    """Delete all rows of a database; much faster than a new database."""
    ordered, are_filled = _emptying()
    with engine.begin() as connection:
        for table, is_filled in zip(ordered, connection.exec_driver_sql(are_filled).one(), strict=True):
            if is_filled:
                connection.execute(sa.delete(table))


@functools.cache
def _emptying() -> tuple[Sequence[sa.Table], str]:
    """Return all tables, referring ones first, and a query for whether each of them has rows."""
    ordered = tuple(reversed(tables.metadata.sorted_tables))
    queries = [sa.exists().select_from(each) for each in ordered]
    return ordered, str(sa.select(*queries))


if TYPE_CHECKING:
    _: tuple[Notifier, Waker] = (Sent(), Silent())
