"""Invariants that always hold, and those that hold once everything has settled."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from reconcile.floatingips import check_books as check_floatingip_books
from reconcile.floatingips import check_in_cloud as check_floatingips
from reconcile.floatingips import is_of_floatingips
from reconcile.healing import check_healing, failed_resources
from reconcile.slot_invariants import check_slots_in_cloud, is_of_slots
from reconcile.storage_and_networks import check_books as check_books_of_storage_and_networks
from reconcile.storage_and_networks import check_in_cloud as check_storage_and_networks
from reconcile.storage_and_networks import is_of_storage_or_networks
from samples import stored_spec

from blazar.booking.event_types import DEGRADED, HEALED
from blazar.db import tables
from blazar.db.connection import Connection
from blazar.db.leases import SqlLeases
from blazar.db.specs import SpecColumn
from blazar.domain.lease import (
    BEFORE_END_PROBLEM,
    EventStatus,
    EventType,
    Lease,
    LeaseStatus,
    Reservation,
    ReservationStatus,
)
from blazar.manager.collections import COLLECTIONS
from blazar.plugins.hosts.preemption import closings
from blazar.ports.compute import Aggregate
from blazar.reconcile.periodic.tasks import periodic_tasks

if TYPE_CHECKING:
    from reconcile.simulated_env import SimulatedEnv

FREEPOOL = "freepool"
Rows = list[sa.Row[Any]]
_FINISHED = (EventStatus.DONE, EventStatus.ERROR)


def check_hosts_are_somewhere(env: SimulatedEnv) -> None:
    """Record a violation if a registered host is in no pool, where any server could be scheduled on it."""
    placed: set[str] = set()
    for each in env.cloud.aggregates.list_aggregates():
        if each.name == FREEPOOL or (each.availability_zone or "").startswith("blazar_"):
            placed |= each.hosts
    lost = [name for name in env.host_names if name not in placed]
    if lost:
        env.violations.append(f"{env.clock.now()}: {', '.join(lost)} in no pool")


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseRows:
    """All rows of the database at one time, in the order in which they were written."""

    leases: tuple[Lease, ...]
    allocations: Rows
    hosts: Rows
    floatingips: Rows
    resources: Rows
    work: Rows
    journal: Rows
    outbox: Rows


def read_rows(engine: sa.Engine) -> DatabaseRows:
    """Return all rows of a database."""
    with engine.connect() as connection:

        def all_of(table: sa.Table[Any]) -> Rows:
            return list(connection.execute(sa.select(table).order_by(*table.primary_key.columns)))

        return DatabaseRows(
            leases=SqlLeases(Connection(connection), SpecColumn({})).list(),
            allocations=read_allocations(connection),
            hosts=all_of(tables.hosts),
            floatingips=all_of(tables.floatingips),
            resources=all_of(tables.resources),
            work=all_of(tables.work),
            journal=all_of(tables.journal),
            outbox=all_of(tables.outbox),
        )


def read_allocations(connection: sa.Connection) -> Rows:
    """Return all allocations, each with the time at which its reservation was created (``reserved_at``)."""
    query = sa.select(tables.allocations, tables.reservations.c.created_at.label("reserved_at"))
    query = query.outerjoin(
        tables.reservations, tables.reservations.c.id == tables.allocations.c.reservation_id
    )
    return list(connection.execute(query.order_by(tables.allocations.c.id)))


def check_always(env: SimulatedEnv, rows: DatabaseRows | None = None) -> None:
    """Check the invariants that hold at all times, whatever has failed."""
    assert not env.violations, env.violations
    rows = rows or env.rows()
    check_nothing_twice(rows.allocations, rows.hosts, env.conditions.cleaning_time)
    with env.faults.exempt():
        check_one_lessee(env.cloud.aggregates.list_aggregates())


def check_one_lessee(aggregates: Iterable[Aggregate]) -> None:
    """Check that no host is in the aggregates of two reservations of whole hosts."""
    whole = [each for each in aggregates if (each.availability_zone or "").startswith("blazar_")]
    homes = Counter(host for each in whole for host in each.hosts)
    twice = [host for host, count in homes.items() if count > 1]
    assert not twice, twice


def check_settled(env: SimulatedEnv, *, may_fail: bool = False) -> None:
    """Check the invariants that hold when nothing has failed recently: every lease is as its window requires.

    Args:
        env: The environment.
        may_fail: Allow reservations in error, because the cloud has permanently refused an operation.
    """
    rows = env.rows()
    check_always(env, rows)
    held: dict[str, Rows] = defaultdict(list)
    for row in rows.allocations:
        if row.released_at is None:
            held[row.reservation_id].append(row)
    for lease in rows.leases:
        _check_status(env, rows, lease, may_fail)
        _check_books(held, lease)
    check_healing(env, rows)
    _check_cloud(env, rows)
    _check_work(env, rows)
    _check_journal(rows)
    _check_messages(env, rows)


def check_said_once(env: SimulatedEnv) -> None:
    """Check that no notification was sent twice in a run without faults."""
    rows = env.rows()
    changed = {row.lease_id for row in rows.journal if row.event == "update"}
    # An event that was moved into the future happens again.
    turns = Counter(row.lease_id for row in rows.journal if row.event == "reservation.flags")
    twice = {
        key
        for key, count in env.sent.counts.items()
        if key[0] not in changed and count > (turns[key[0]] if key[1] in (DEGRADED, HEALED) else 1)
    }
    assert not twice, twice


def check_nothing_twice(allocations: Rows, hosts: Rows, cleaning_time: timedelta) -> None:
    """Check that no resource is allocated twice, and that no host is overbooked."""
    by_resource: dict[str, Rows] = defaultdict(list)
    for row in allocations:
        by_resource[row.resource_id].append(row)
    for rows in by_resource.values():
        rows.sort(key=lambda row: row.start_at)
        for one, other in itertools.combinations(rows, 2):
            is_held_twice = one.reservation_id is not None and one.reservation_id == other.reservation_id
            assert not is_held_twice or one.released_at or other.released_at, "what is held is held twice"
            if one.slots is None or other.slots is None:
                assert not _meet(one, other, cleaning_time), "a resource is promised twice"
    for host in hosts:
        _check_room(by_resource.get(host.id, []), host, cleaning_time)


def _meet(one: sa.Row[Any], other: sa.Row[Any], cleaning_time: timedelta) -> bool:
    """Return whether one allocation, or the cleaning of its host afterwards, overlaps the start of the other.

    A reservation that starts now has the current minute as its start, but occupies its resources only from
    the time at which it was created. That time is lost when the reservation is deleted; such allocations
    were checked before. No cleaning is needed if the reservation itself has released the resource.
    """
    if other.reserved_at is None:
        return bool(one.id == other.id)
    begins = max(other.start_at, other.reserved_at)
    is_its_own = one.reservation_id is not None and one.reservation_id == other.reservation_id
    owed = timedelta(0) if is_its_own else cleaning_time
    return bool(one.start_at <= begins < one.end_at + owed)


def _check_room(rows: Rows, host: sa.Row[Any], cleaning_time: timedelta) -> None:
    """Check that a host is not overbooked at any time."""
    shares = [row for row in rows if row.slots is not None]
    room = {"VCPU": host.vcpus, "MEMORY_MB": host.memory_mb, "DISK_GB": host.local_gb}
    for row in shares:
        used: Counter[str] = Counter()
        for each in shares:
            if _meet(each, row, cleaning_time):
                amounts = json.loads(each.demand)["amounts"]
                used.update({name: amount * each.slots for name, amount in amounts.items()})
        assert all(used[name] <= room[name] for name in used), f"{host.service_name}: {used}"


def _check_status(env: SimulatedEnv, rows: DatabaseRows, lease: Lease, may_fail: bool) -> None:
    now = env.clock.now()
    assert not lease.is_deleting, "a lease is stuck in DELETING"
    if now >= lease.end:
        wanted = LeaseStatus.TERMINATED, ReservationStatus.DELETED
    elif now >= lease.start:
        wanted = LeaseStatus.ACTIVE, ReservationStatus.ACTIVE
    else:
        wanted = LeaseStatus.PENDING, ReservationStatus.PENDING
    reservations = {each.status for each in lease.reservations}
    if may_fail and lease.status is LeaseStatus.ERROR and wanted[0] is LeaseStatus.ACTIVE:
        assert ReservationStatus.ERROR in reservations
        assert all(each.problem for each in lease.reservations if each.status is ReservationStatus.ERROR)
        return
    assert (lease.status, reservations - {wanted[1]}) == (wanted[0], set()), _story(env, rows, lease)
    problems = [each.problem for each in lease.reservations if each.problem]
    if lease.get_event_status(EventType.BEFORE_END) is EventStatus.ERROR:
        problems = [each for each in problems if not each.startswith(BEFORE_END_PROBLEM)]
    assert problems == [], _story(env, rows, lease)
    assert [each.event_type for each in lease.events if each.status is EventStatus.IN_PROGRESS] == []


def _check_books(held: Mapping[str, Rows], lease: Lease) -> None:
    for reservation in lease.reservations:
        own = held.get(reservation.id, [])
        if lease.status is LeaseStatus.TERMINATED:
            assert own == [], "a lease that is over still holds hosts"
            continue
        if is_of_floatingips(reservation):
            check_floatingip_books(reservation, own)
        elif is_of_storage_or_networks(reservation):
            check_books_of_storage_and_networks(reservation, own)
        elif is_of_slots(reservation):
            _check_slots(reservation, own)
        else:
            assert _count(reservation, "min") <= len(own) <= _count(reservation, "max")
        # Resources that were added after the start of a lease are held from then on.
        assert {row.end_at for row in own} <= {lease.end}
        assert all(lease.start <= row.start_at < lease.end for row in own)


def _check_slots(reservation: Reservation, own: Rows) -> None:
    assert sum(row.slots for row in own) == _count(reservation, "amount")
    match stored_spec(reservation)["affinity"]:
        case True:
            assert len(own) == 1
        case False:
            assert all(row.slots == 1 for row in own)


def _count(reservation: Reservation, key: str) -> int:
    count = stored_spec(reservation)[key]
    assert isinstance(count, int)
    return count


def _check_cloud(env: SimulatedEnv, rows: DatabaseRows) -> None:
    wanted = dict(_wanted_aggregates(env, rows))
    of_slots = {each.id for each in _reservations(rows) if is_of_slots(each)}
    away = frozenset().union(*(hosts for key, hosts in wanted.items() if key not in of_slots))
    wanted[FREEPOOL] = frozenset(env.host_names) - away
    if env.conditions.zone:
        wanted[env.conditions.zone] = wanted[FREEPOOL]
    assert env.aggregates() == wanted, (env.aggregates(), wanted)
    with env.faults.exempt():
        for aggregate in env.cloud.aggregates.list_aggregates():
            owner = aggregate.metadata.get("blazar:owner")
            is_reserved = aggregate.name not in (FREEPOOL, env.conditions.zone)
            assert owner == ("project" if is_reserved else None)
            closed = {each.reservation_id for each in closings(aggregate).values()}
            assert closed <= set(_being_prepared(env, rows)), "a host stays closed"
    groups = check_slots_in_cloud(env, rows, wanted)
    with_addresses = check_floatingips(env, rows, failed_resources(rows))
    others = check_storage_and_networks(env, rows)
    being_prepared = set(_being_prepared(env, rows))
    deployed = {
        each.id
        for each in _reservations(rows)
        if each.is_deployed and not (is_of_storage_or_networks(each) and each.id in being_prepared)
    }
    in_cloud = (wanted.keys() | groups | with_addresses | others) - {FREEPOOL, env.conditions.zone}
    assert deployed == in_cloud, deployed ^ in_cloud


def _reservations(rows: DatabaseRows) -> Iterator[Reservation]:
    for lease in rows.leases:
        yield from lease.reservations


def _being_prepared(env: SimulatedEnv, rows: DatabaseRows) -> Iterator[str]:
    now, lead = env.clock.now(), env.conditions.settings.leases.prepare_lead
    for lease in rows.leases:
        if lease.start - lead <= now < lease.start:
            yield from (each.id for each in lease.reservations)


def _wanted_aggregates(env: SimulatedEnv, rows: DatabaseRows) -> Iterator[tuple[str, frozenset[str]]]:
    now, lead = env.clock.now(), env.conditions.settings.leases.prepare_lead
    names = {row.id: row.service_name for row in rows.hosts}
    failed, present = failed_resources(rows), env.aggregates()
    allocated: dict[str, set[str]] = defaultdict(set)
    for row in (each for each in rows.allocations if each.resource_id in names):
        name = names[row.resource_id]
        # A failed resource is handed over once it has recovered.
        is_there = row.resource_id not in failed or name in present.get(row.reservation_id, ())
        if row.released_at is None and is_there:
            allocated[row.reservation_id].add(name)
    for lease in rows.leases:
        if not lease.start - lead <= now < lease.end:
            continue
        for reservation in lease.reservations:
            if reservation.status is not ReservationStatus.ERROR and _is_of_hosts(reservation):
                hosts = allocated[reservation.id] if now >= lease.start else set()
                yield reservation.id, frozenset(hosts)


def _is_of_hosts(reservation: Reservation) -> bool:
    """Return whether a reservation holds whole hosts or instances, and so has an aggregate."""
    return not (is_of_floatingips(reservation) or is_of_storage_or_networks(reservation))


def _check_work(env: SimulatedEnv, rows: DatabaseRows) -> None:
    now = env.clock.now()
    work = {row.key: row for row in rows.work}
    assert [row.key for row in work.values() if row.owner is not None] == [], "a claim is held"
    assert [row.key for row in work.values() if row.due_at <= now] == [], "work is overdue"
    unfinished = {each.id for each in rows.leases if each.status is not LeaseStatus.TERMINATED}
    assert unfinished <= work.keys(), "a lease is not scheduled"
    assert work.keys() - periodic_tasks(env.settings, COLLECTIONS).keys() <= {each.id for each in rows.leases}
    assert not rows.outbox, "a message does not leave"


def _check_messages(env: SimulatedEnv, rows: DatabaseRows) -> None:
    expected = Counter(
        (row.lease_id, "lease." + row.event)
        for row in rows.journal
        if row.event in ("create", "update", "delete")
    )
    for lease in rows.leases:
        for event in lease.events:
            if event.status in _FINISHED:
                expected[lease.id, f"lease.event.{event.event_type}"] += 1
    missing = {key for key, count in expected.items() if env.sent.counts[key] < min(count, 1)}
    assert not missing, missing


def _check_journal(rows: DatabaseRows) -> None:
    """Check that each entry starts from the previous state, and that the last one gives the current state."""
    known: dict[tuple[str, str], str | None] = {}
    for row in rows.journal:
        if row.lease_id is None:
            continue
        if row.event == "delete":
            known[row.lease_id, "lease.status"] = LeaseStatus.DELETING.value
        if row.event == "update":
            # A failed reservation is retried, and an event that was moved happens again.
            known = {key: value for key, value in known.items() if key[0] != row.lease_id}
        if row.event in ("lease.status", "reservation.status", "event.status"):
            subject, before, after = _transition(row)
            assert known.get((row.lease_id, subject)) in (None, before), _lines(rows, row.lease_id)
            known[row.lease_id, subject] = after
    for lease in rows.leases:
        for subject, status in _statuses(lease).items():
            assert known.get((lease.id, subject), status) == status, _lines(rows, lease.id)


def _transition(row: sa.Row[Any]) -> tuple[str, str, str]:
    reason = row.reason
    subject = row.reservation_id or row.event
    if row.event == "event.status":
        subject, _, reason = reason.partition(": ")
    before, _, after = reason.partition(" -> ")
    return subject, before, after.partition(":")[0]


def _statuses(lease: Lease) -> Mapping[str, str]:
    return {
        "lease.status": lease.status.value,
        **{each.id: each.status.value for each in lease.reservations},
        **{each.event_type.value: each.status.value for each in lease.events},
    }


def _lines(rows: DatabaseRows, lease_id: str) -> str:
    entries = (row for row in rows.journal if row.lease_id == lease_id)
    return "\n".join(f"{row.at:%H:%M:%S} {row.actor} {row.event} {row.reason}" for row in entries)


def _story(env: SimulatedEnv, rows: DatabaseRows, lease: Lease) -> str:
    due = [f"{row.key} due {row.due_at} claimed by {row.owner}" for row in rows.work]
    problems = [each.problem for each in lease.reservations]
    return f"at {env.clock.now()}: {problems} {due}\n{_lines(rows, lease.id)}"
