"""A whole service on a clock that stands still: managers that can be killed, a cloud, a database."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

import sqlalchemy as sa
from clocks import EPOCH, ManualClock
from databases import empty_tables
from engine import floatingips, invariants
from engine.faults import ScriptedStore, WatchedFaults
from engine.parts import (
    PREEMPTIBLE,
    TRAITS,
    Asked,
    Conditions,
    LabManager,
    Sent,
    Silent,
    forget_leases,
    lease_body,
    make_indexes,
    make_plugins,
)

from blazar.app.context import Context
from blazar.cloud.simulated import SimulatedCloud
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
from blazar.manager.service import ManagerService
from blazar.plugins.slots.names import provider_name
from blazar.ports.compute import Server
from blazar.ports.manager import Caller
from blazar.reconcile.chores import SWEEP
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender

FREEPOOL = "freepool"
LESSEE = Caller(user_id="user", project_id="project")
_BUSY = 60
"""More passes than this at one instant are a loop without end."""
_RETRIED = (Unavailable, Conflict, CloudError)

ResultT = TypeVar("ResultT")


class NothingToStrike(Exception):
    """The interesting part of a scenario was over before anything went wrong."""


@dataclass(slots=True)
class Lab:
    """A service with its surroundings; :meth:`reset` begins another one on the same database."""

    engine: sa.Engine
    conditions: Conditions = field(default_factory=Conditions)
    clock: ManualClock = field(init=False)
    cloud: SimulatedCloud = field(init=False)
    faults: WatchedFaults = field(init=False)
    store: ScriptedStore = field(init=False)
    sent: Sent = field(init=False)
    manager: LabManager = field(init=False)
    host_names: list[str] = field(init=False)
    managers_so_far: int = field(init=False, default=0)
    violations: list[str] = field(init=False)
    """What must never be, but was; found out while a pass was under way."""
    arm: Callable[[], None] | None = field(init=False, default=None)
    """Called where the interesting part of a scenario begins."""
    may_fail: bool = field(init=False, default=False)
    """What goes wrong is for good, so that reservations may end up in error."""
    has_struck: Callable[[], bool] = field(init=False, default=lambda: True)

    def __post_init__(self) -> None:
        self.reset(self.conditions)

    def reset(self, conditions: Conditions) -> None:
        """Begin anew: a new cloud, registered hosts, no leases."""
        self.conditions = conditions
        self.clock = ManualClock(EPOCH)
        self.faults = WatchedFaults(lambda: invariants.check_hosts_are_somewhere(self))
        self.cloud = SimulatedCloud(
            self.clock, server_deletion_time=conditions.server_deletion_time, faults=self.faults
        )
        self.store = ScriptedStore(SqlStore(self.engine, self.clock))
        self.sent = Sent()
        self.managers_so_far = 0
        self.host_names = []
        self.violations = []
        self.arm, self.may_fail = None, False
        self.manager = self.new_manager()
        self.cloud.add_aggregate(FREEPOOL)
        for number in range(1, conditions.hosts + 1):
            zone = conditions.zone or None
            self.cloud.add_hypervisor(f"host-{number}", availability_zone=zone, traits=TRAITS)
            self.host_names.append(f"host-{number}")
        if not self._restore_hosts():
            empty_tables(self.engine)
            for name in self.host_names:
                self.manager.service.create_host(LESSEE, {"name": name})
        floatingips.register(self)
        self.violations.clear()

    def _restore_hosts(self) -> bool:
        """Return whether the database knows these hosts already; then only the rest is emptied."""
        with self.engine.begin() as connection:
            known = sorted(connection.scalars(sa.select(tables.hosts.c.service_name)))
            if known != sorted(self.host_names):
                return False
            forget_leases(connection)
        with self.faults.exempt():
            compute, placement = self.cloud.compute, self.cloud.placement
            freepool = compute.list_aggregates()[0]
            for name in self.host_names:
                root = placement.find_provider(name)
                assert root is not None
                placement.create_provider(provider_name(name), root.uuid)
                compute.add_host(freepool.id, name)
        return True

    def new_manager(self, clock: ManualClock | None = None) -> LabManager:
        """Return another manager process, which knows nothing, and may have a clock of its own."""
        clock = clock or self.clock
        self.managers_so_far += 1
        name = f"manager-{self.managers_so_far}"
        settings = self.conditions.settings
        context = Context(
            store=self.store,
            clock=clock,
            cloud=self.cloud,
            plugins=make_plugins(self.conditions),
            indexes=make_indexes(self.store, clock),
            settings=settings,
            waker=Silent(),
            random=random.Random(self.managers_so_far),
        )
        sender = OutboxSender(self.store, clock, self.sent, {})
        return LabManager(
            name=name,
            context=context,
            service=ManagerService(context),
            reconciler=Reconciler(context, name, sender, threading.Event()),
        )

    def kill(self) -> None:
        """End the manager as it stands, and start another one."""
        self.manager = self.new_manager()

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Mark the part of a scenario in which something is to go wrong.

        Raises:
            NothingToStrike: It did not have so many steps.
        """
        if self.arm is None:
            yield
            return
        arm, self.arm = self.arm, None
        arm()
        yield
        if not self.has_struck():
            raise NothingToStrike

    # What a lessee does. Requests whose answer got lost are made again, as clients do.

    def create(self, name: str, start: float | str, end: float, *asked: Asked, **keys: object) -> LeaseId:
        """Create a lease, by default for one host, and return its id.

        Args:
            name: To be used once.
            start: In hours since the beginning, or ``now``.
            end: In hours since the beginning.
            *asked: (min, max) of each reservation, or all its keys; None for no reservation at all.
            **keys: Further keys of every reservation.
        """
        body = lease_body(name, self.date(start), self.date(end), *asked, **keys)
        self._insist(
            lambda: self.manager.service.create_lease(LESSEE, body),
            lambda: any(each.name == name for each in self.leases()),
        )
        return next(each.id for each in self.leases() if each.name == name)

    def update(self, lease_id: str, **changes: Any) -> None:
        """Change a lease; ``start`` and ``end`` are hours or ``now``, other keys as in the REST API."""
        body: dict[str, Any] = {}
        for key, value in changes.items():
            body |= {f"{key}_date": self.date(value)} if key in ("start", "end") else {key: value}
        updates = self._count_updates(lease_id)
        self._insist(
            lambda: self.manager.service.update_lease(LESSEE, lease_id, body),
            lambda: self._count_updates(lease_id) > updates,
        )

    def resize(self, lease_id: str, minimum: int, maximum: int) -> None:
        """Ask for another number of hosts for a lease's only reservation."""
        reservation = self.lease(lease_id).reservations[0]
        self.update(lease_id, reservations=[{"id": reservation.id, "min": minimum, "max": maximum}])

    def delete(self, lease_id: str) -> None:
        """Have a lease deleted."""
        try:
            self._insist(
                lambda: self.manager.service.delete_lease(LESSEE, lease_id),
                lambda: all(each.id != lease_id or each.is_deleting for each in self.leases()),
            )
        except LeaseNotFound:
            return

    def request(self, act: Callable[[ManagerService], object], already: type[BlazarError]) -> None:
        """Make any other request; *already* says that an earlier one, which seemed to fail, did not."""
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

    def boot_preemptible(self, host_name: str) -> Server:
        """Boot somebody's preemptible server on a host."""
        with self.faults.exempt():
            if self.cloud.compute.find_flavor(PREEMPTIBLE.id) is None:
                self.cloud.compute.create_flavor(PREEMPTIBLE)
        return self.cloud.boot_server("spot", "stranger", flavor_id=PREEMPTIBLE.id, service_host=host_name)

    def boot(
        self, host_name: str, *, project_id: str = "project", reservation_id: str | None = None
    ) -> Server:
        """Boot a server: on a host by force, or with a reservation's hint."""
        forced = None if reservation_id else host_name
        return self.cloud.boot_server(
            f"server-on-{host_name}", project_id, service_host=forced, reservation_id=reservation_id
        )

    def servers(self) -> Mapping[str, Server]:
        """Return all servers by their ids."""
        with self.faults.exempt():
            return {each.id: each for each in self.cloud.compute.list_servers()}

    def remove_server(self, server: Server) -> None:
        """Delete a server as its owner does."""
        with self.faults.exempt():
            self.cloud.compute.delete_server(server.id)

    # Time.

    def instant(self, hours: float) -> datetime:
        """Return the instant so many hours after the beginning."""
        return EPOCH + timedelta(hours=hours)

    def date(self, value: float | str) -> str:
        return value if isinstance(value, str) else f"{self.instant(value):%Y-%m-%d %H:%M}"

    def jump(self, hours: float) -> None:
        """Let time pass while no manager runs."""
        self.clock.set(self.instant(hours))

    def run_until(self, hours: float) -> None:
        """Let time pass, and work as it falls due."""
        end = self.instant(hours)
        self.run_due()
        while (due := self.next_due()) is not None and due <= end:
            self.clock.set(max(due, self.clock.now()))
            self.run_due()
        self.clock.set(end)

    def at(self, hours: float) -> None:
        """Let time pass; then everything must be as the leases' windows have it."""
        self.run_until(hours)
        if self.arm is None:
            invariants.check_settled(self, may_fail=self.may_fail)

    def run_due(self) -> None:
        """Work on what is due now; whoever is killed meanwhile is replaced."""
        self._run_due()
        if self.conditions.is_restless:
            with self.engine.begin() as connection:
                now = self.clock.now()
                unclaimed = tables.work.c.claim_deadline.is_(None)
                connection.execute(sa.update(tables.work).where(unclaimed).values(due_at=now))
            self._run_due()

    def _run_due(self) -> None:
        for _ in range(20):
            try:
                passes = self.manager.reconciler.run_due(_BUSY)
            except SimulatedCrash:
                self.kill()
            except (Unavailable, ConcurrentUpdate):
                continue
            else:
                assert passes < _BUSY, f"busy without end at {self.clock.now()}: {self.world().work}"
                return
        raise AssertionError("the manager does not get anywhere")

    def next_due(self) -> datetime | None:
        """Return when something is to be done next: work, a claim to take over, or a message."""
        work, outbox = tables.work.c, tables.outbox.c
        first = sa.select(
            sa.select(sa.func.min(work.due_at)).where(work.claim_deadline.is_(None)).scalar_subquery(),
            sa.select(sa.func.min(work.claim_deadline)).scalar_subquery(),
            sa.select(sa.func.min(outbox.due_at)).scalar_subquery(),
        )
        with self.engine.connect() as connection:
            instants = connection.execute(first).one()
        return min((each for each in instants if each is not None), default=None)

    def plan_chore(self, key: str = SWEEP) -> None:
        """Have sweeps, or another chore, made from now on, as a manager does when it starts."""
        with self.engine.begin() as connection:
            row = {"key": key, "due_at": self.clock.now(), "claim_number": 0, "attempts": 0}
            connection.execute(sa.insert(tables.work), [row])

    # What is.

    def leases(self) -> tuple[Lease, ...]:
        with self.store.read() as transaction:
            return transaction.leases.list()

    def lease(self, lease_id: str) -> Lease:
        with self.store.read() as transaction:
            found = transaction.leases.find(lease_id)
        assert found is not None
        return found

    def world(self) -> invariants.World:
        """Return everything that the database holds."""
        return invariants.read_world(self.engine)

    @property
    def counted(self) -> int:
        """Return how many calls of the cloud the managers have made."""
        return self.faults.seen

    def host_name(self, resource_id: str) -> str:
        """Return the name of a registered host."""
        return next(str(row.service_name) for row in self.world().hosts if row.id == resource_id)

    def aggregates(self) -> Mapping[str, frozenset[str]]:
        """Return the hosts of every aggregate by its name."""
        with self.faults.exempt():
            return {each.name: each.hosts for each in self.cloud.compute.list_aggregates()}

    def hosts_of(self, lease_id: str) -> frozenset[str]:
        """Return the hosts that a lease has in the cloud."""
        aggregates = self.aggregates()
        reservations = self.lease(lease_id).reservations
        return frozenset().union(*(aggregates.get(each.id, frozenset()) for each in reservations))

    def provider_names(self) -> frozenset[str]:
        """Return which hosts have a reservation provider."""
        find = self.cloud.placement.find_provider
        with self.faults.exempt():
            return frozenset(each for each in self.host_names if find(provider_name(each)) is not None)

    def _count_updates(self, lease_id: str) -> int:
        return sum(1 for each in self.world().journal if each.lease_id == lease_id and each.event in _CHANGES)

    def _insist(self, act: Callable[[], ResultT], is_done: Callable[[], bool]) -> None:
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


_CHANGES = ("update", "rename")

LabOn = Callable[[str], Lab]
"""Makes a lab on a kind of database."""
