"""Test environment of one plugin: a complete service with this plugin only, and a database."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import sqlalchemy as sa

from blazar.booking.context import Plugin
from blazar.booking.health import record_health
from blazar.db import tables
from blazar.domain.availability import Availability, Resource
from blazar.domain.bookings import Booking
from blazar.domain.health import Diagnosis
from blazar.domain.interval import Interval
from blazar.domain.lease import Holdings, Lease, LeaseId, LeaseStatus, ReservationId, ReservationStatus
from blazar.plugins.capabilities import CreatesAsLessee, ReadsAsLessee
from blazar.plugins.contract import AllocatedResource, Assignment, JsonObject, Wish
from blazar.ports.compute import Lessee, LesseeCompute
from blazar.reconcile.periodic.discovery import discover_resources
from blazar.settings import LeaseSettings, Settings
from blazar_plugin_testing.clocks import EPOCH
from blazar_plugin_testing.faults import Repeating, WatchedFaults
from blazar_plugin_testing.harness import CloudEnv, Harness
from blazar_plugin_testing.service_env import LESSEE, ServiceEnv, empty_tables

RESERVATION = ReservationId("5b0c8f4e-61d7-4f0a-9c55-2d3a7be01f10")
"""The reservation of tests without a lease."""
_LEASE_TABLES = (
    tables.offer_allocations,
    tables.offers,
    tables.allocations,
    tables.events,
    tables.reservations,
    tables.leases,
    tables.work,
)


class PluginEnv(ServiceEnv):
    """A service with one plugin; :meth:`reset` starts another one on the same database."""

    harness: Harness
    cloud_env: CloudEnv
    empty: object
    """The snapshot while nothing is reserved."""

    def __init__(self, engine: sa.Engine, harness_type: type[Harness]) -> None:
        super().__init__(engine)
        self._harness_type = harness_type
        self._takes_steps_twice = False
        self._cleaning_time = timedelta(0)
        self.reset()

    def reset(self, *, takes_steps_twice: bool = False, cleaning_time: timedelta = timedelta(0)) -> None:
        """Start again: a new cloud with resources, no leases."""
        self._takes_steps_twice, self._cleaning_time = takes_steps_twice, cleaning_time
        empty_tables(self.engine)
        self.begin(WatchedFaults(lambda: None))
        self.harness = self._harness_type()
        self.cloud_env = CloudEnv(clock=self.clock, cloud=self.cloud, faults=self.faults)
        with self.faults.exempt():
            self.harness.set_up(self.cloud_env)
            self.manager = self.new_manager()
            self.harness.register(self.manager.service)
            discover_resources(self.manager.context, "operator")
        self.empty = self.snapshot()

    @property
    def settings(self) -> Settings:
        """Return settings with a before-end event half an hour before the end."""
        leases = LeaseSettings(
            cleaning_time=self._cleaning_time,
            before_end_lead=timedelta(minutes=30),
            delete_wait=timedelta(0),
            update_wait=timedelta(0),
        )
        return Settings(leases=leases)

    def make_plugins(self) -> Mapping[str, Plugin]:
        """Return the one plugin."""
        plugin = self.harness.make_plugin(self.cloud_env)
        if self._takes_steps_twice:
            return {plugin.resource_type: cast("Plugin", Repeating(plugin))}
        return {plugin.resource_type: plugin}

    @property
    def plugin(self) -> Plugin:
        """Return the plugin of the present manager."""
        (plugin,) = self.manager.context.plugins.values()
        return plugin

    def snapshot(self) -> object:
        """Return everything that exists in the cloud."""
        with self.faults.exempt():
            return self.harness.snapshot(self.cloud_env)

    # Leases.

    def body(self, name: str, start: float | str, end: float, keys: JsonObject | None = None) -> JsonObject:
        """Return a request for a lease of one reservation.

        Args:
            name: The lease's name; to be used once.
            start: In hours since the epoch, or ``now``.
            end: In hours since the epoch.
            keys: Keys that replace those of the harness's body.
        """
        asked = {"resource_type": self.plugin.resource_type, **self.harness.body, **(keys or {})}
        return {
            "name": name,
            "start_date": self.date(start),
            "end_date": self.date(end),
            "reservations": [asked],
        }

    def create(self, name: str, start: float | str, end: float, keys: JsonObject | None = None) -> LeaseId:
        """Create a lease and return its id; see :meth:`body`."""
        return self.request_lease(name, self.body(name, start, end, keys))

    def change(self, lease_id: LeaseId, keys: JsonObject) -> None:
        """Change a lease's reservation."""
        (reservation,) = self.lease(lease_id).reservations
        self.update(lease_id, reservations=[{"id": reservation.id, **keys}])

    def shown(self, lease_id: LeaseId) -> JsonObject:
        """Return a lease's reservation as clients see it."""
        lease = self.manager.service.get_lease(LESSEE, lease_id)
        (reservation,) = cast("list[JsonObject]", lease["reservations"])
        return reservation

    def held(self, lease_id: LeaseId) -> Holdings:
        """Return the holdings of a lease."""
        (reservation,) = self.lease(lease_id).reservations
        with self.store.read() as transaction:
            found = transaction.allocations.of_reservations([reservation.id])
        return {each.resource_id: each.share for each in found}

    def forget_leases(self) -> None:
        """Delete all leases from the database, as after a restored backup."""
        with self.engine.begin() as connection:
            for table in _LEASE_TABLES:
                connection.execute(sa.delete(table))

    def diagnose(self, resource_id: str, diagnosis: Diagnosis) -> None:
        """Record a diagnosis of a resource."""
        (resource,) = (each for each in self.resources() if each.id == resource_id)
        record_health(self.manager.context, "tester", resource.id, resource.id, diagnosis)

    def everything(self) -> object:
        """Return everything that is stored or exists in the cloud, for comparison; not refused requests."""
        with self.engine.connect() as connection:
            stored = {
                table.name: [tuple(row) for row in connection.execute(sa.select(table))]
                for table in tables.metadata.sorted_tables
                if table is not tables.refused_requests
            }
        return stored, self.snapshot()

    # Arguments for a plugin, without a lease.

    def resources(self) -> tuple[Resource, ...]:
        """Return all resources of the plugin's collection."""
        with self.store.read() as transaction:
            return transaction.availability.read(self.plugin.collection, None)

    def bookings(self) -> tuple[Booking, ...]:
        """Return all bookings of these resources."""
        with self.store.read() as transaction:
            return tuple(transaction.availability.bookings([each.id for each in self.resources()]))

    def lessee(self) -> LesseeCompute:
        """Return Nova with the rights of the lessee."""
        return self.cloud.compute_for(Lessee(project_id="project"))

    def spec(self) -> Any:
        """Return the spec of a reservation as it is after a request."""
        return complete_spec(self.plugin, self.plugin.parse(self.harness.body), self.lessee())

    def choose(self, spec: Any, **wishes: Any) -> Holdings:
        """Return the plugin's choice for the first hour, from all resources, none of them booked."""
        window = Interval(EPOCH, self.instant(1))
        return self.plugin.choose(Wish(spec=spec, window=window, now=EPOCH, **wishes), self.availability())

    def availability(self) -> Availability:
        """Return all resources without bookings."""
        availability = Availability()
        for each in self.resources():
            availability.put(each, ())
        return availability

    def assignment(self, spec: Any) -> Assignment[Any]:
        """Return a reservation of the resources that the plugin chooses."""
        holdings = self.choose(spec)
        with self.store.read() as transaction:
            states = transaction.resources.get_states(holdings.keys())
        return Assignment(
            lease_id=LeaseId("lease"),
            reservation_id=RESERVATION,
            project_id="project",
            window=Interval(EPOCH, self.instant(1)),
            now=self.clock.now(),
            has_begun=True,
            spec=spec,
            resources=tuple(
                AllocatedResource(id=key, share=share, facts=states[key].facts)
                for key, share in holdings.items()
            ),
        )

    # Checks.

    def at(self, hours: float) -> None:
        """Advance the time, and check that all leases are in the state that their windows require."""
        self.run_until(hours)
        self.check_nothing_twice()
        for lease in self.leases():
            _check_status(self, lease)
        _check_work(self)

    def check_nothing_twice(self) -> None:
        """Check that no resource is ever allocated beyond its capacity."""
        known = {each.id: each for each in self.resources()}
        by_resource: dict[str, list[Booking]] = defaultdict(list)
        for each in self.bookings():
            clean = each.window.end + self._cleaning_time
            window = Interval(each.window.start, clean)
            by_resource[each.resource_id].append(replace(each, window=window))
        for key, bookings in by_resource.items():
            for one in bookings:
                together = [each for each in bookings if _is_there(each, one)]
                if any(each.share is None for each in together):
                    assert together == [one], f"resource {key} is allocated twice: {together}"
                else:
                    _check_amounts(known[one.resource_id], together)


def complete_spec(plugin: Plugin, spec: Any, lessee: LesseeCompute) -> Any:
    """Return a parsed spec as it is after a request for the reservation ``RESERVATION``."""
    if isinstance(plugin, ReadsAsLessee):
        spec = plugin.look_up(spec, lessee)
    if isinstance(plugin, CreatesAsLessee):
        spec = plugin.provide(spec, RESERVATION, lessee, afresh=False)
    return spec


def _is_there(booking: Booking, other: Booking) -> bool:
    """Return whether a booking exists when another begins."""
    return booking.window.start <= other.window.start < booking.window.end


def _check_amounts(resource: Resource, bookings: list[Booking]) -> None:
    used: Counter[str] = Counter()
    for each in bookings:
        assert each.share is not None
        used.update({name: amount * each.share.slots for name, amount in each.share.demand.amounts})
    for name, amount in used.items():
        total = sum(
            each.inventories[name].capacity for each in resource.providers if name in each.inventories
        )
        assert amount <= total, f"{amount} {name} of {total} of resource {resource.id} are allocated"


def _check_status(env: PluginEnv, lease: Lease) -> None:
    now = env.clock.now()
    if now >= lease.end:
        wanted = LeaseStatus.TERMINATED, ReservationStatus.DELETED
    elif now >= lease.start:
        wanted = LeaseStatus.ACTIVE, ReservationStatus.ACTIVE
    else:
        wanted = LeaseStatus.PENDING, ReservationStatus.PENDING
    (reservation,) = lease.reservations
    assert (lease.status, reservation.status, reservation.problem) == (*wanted, None)
    if wanted[0] is LeaseStatus.TERMINATED:
        assert not reservation.is_deployed
        assert not env.held(lease.id), "a lease that is over still holds resources"
    else:
        assert env.held(lease.id), "a lease holds no resources"


def _check_work(env: PluginEnv) -> None:
    with env.engine.connect() as connection:
        work = list(connection.execute(sa.select(tables.work)))
    assert [row.key for row in work if row.owner is not None] == [], "a claim is held"
    assert [row.key for row in work if row.due_at <= env.clock.now()] == [], "work is overdue"
