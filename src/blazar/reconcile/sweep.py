"""The sweep: what bears our mark and belongs to no living reservation is removed, seen twice.

It also brings registered hosts back into the freepool that are nowhere, opens those that are closed to
preemptible servers for nobody, and forgets old entries of the books. Nothing that does not bear our
mark is touched, and no server is ever deleted here: an aggregate whose hosts still run servers is
reported and left alone.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from blazar.app.availability import CHANGES_KEPT_FOR
from blazar.app.context import Context
from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.plugins.hosts.preemption import closings, open_host
from blazar.plugins.hosts.zones import displaced_hosts, return_to_zone
from blazar.ports.compute import Aggregate
from blazar.ports.store import AllocationStore, AvailabilityReader, JournalEntry

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweepings:
    """What a sweep found and what it mended.

    The keys are ``aggregate:<name>``, ``host:<service host>`` and ``closed:<service host>``.
    """

    found: tuple[str, ...]
    removed: tuple[str, ...]


def sweep(context: Context, actor: str) -> Sweepings:
    """Look for what belongs to nobody; remove what an earlier sweep saw already.

    Returns:
        What was found, sorted, and which of it was removed.
    """
    aggregates = context.cloud.compute.list_aggregates()
    orphans = {f"aggregate:{each.name}": each for each in _orphans(context, aggregates)}
    strays = _stray_hosts(context, aggregates)
    freepool = next((each for each in aggregates if each.name == context.settings.hosts.freepool_name), None)
    closed = _closed_for_nobody(context, freepool)
    now = context.clock.now()
    with context.store.begin() as transaction:
        first_seen = transaction.findings.note(orphans.keys() | strays.keys() | closed.keys(), now)
        _forget_old_entries(context, transaction.allocations, transaction.availability)
        transaction.commit()
    removed = []
    for key in sorted(key for key, since in first_seen.items() if since < now):
        if key in orphans:
            done = _remove_aggregate(context, orphans[key], freepool)
        elif key in strays:
            done = _return_host(context, strays[key], freepool)
        else:
            done = _open(context, closed[key], freepool)
        if done:
            removed.append(key)
    _report(context, actor, sorted(first_seen), removed)
    return Sweepings(found=tuple(sorted(first_seen)), removed=tuple(removed))


def _orphans(context: Context, aggregates: tuple[Aggregate, ...]) -> list[Aggregate]:
    """Return the aggregates of reservations of which nothing should be outside."""
    settings = context.settings.hosts
    marked = [
        each
        for each in aggregates
        if _is_uuid(each.name) and each.availability_zone == f"{settings.availability_zone_prefix}{each.name}"
    ]
    if not marked:
        return []
    with context.store.read() as transaction:
        deployed = transaction.leases.deployed_reservations([each.name for each in marked])
    return [each for each in marked if each.name not in deployed]


def _stray_hosts(context: Context, aggregates: tuple[Aggregate, ...]) -> Mapping[str, str]:
    """Return the registered hosts that are neither in the freepool nor in a reservation's aggregate."""
    settings = context.settings.hosts
    placed: set[str] = set()
    for each in aggregates:
        zone = each.availability_zone or ""
        if each.name == settings.freepool_name or zone.startswith(settings.availability_zone_prefix):
            placed |= each.hosts
    with context.store.read() as transaction:
        registered = [host.service_name for host in transaction.hosts.list()]
    return {f"host:{each}": each for each in registered if each not in placed}


def _closed_for_nobody(context: Context, freepool: Aggregate | None) -> Mapping[str, str]:
    """Return the hosts that are closed for reservations of which nothing should be outside."""
    closed = closings(freepool)
    if not closed:
        return {}
    with context.store.read() as transaction:
        deployed = transaction.leases.deployed_reservations([each.reservation_id for each in closed.values()])
    return {f"closed:{host}": host for host, each in closed.items() if each.reservation_id not in deployed}


def _open(context: Context, service_host: str, freepool: Aggregate | None) -> bool:
    if freepool is not None:
        open_host(context.cloud.compute, freepool, service_host)
    return freepool is not None


def _remove_aggregate(context: Context, aggregate: Aggregate, freepool: Aggregate | None) -> bool:
    compute = context.cloud.compute
    with context.store.read() as transaction:
        # It may have come to life since it was listed: a reservation's id is never used twice, but a
        # pass that was under way may only now have recorded what it made.
        if transaction.leases.deployed_reservations([aggregate.name]):
            return False
        registered = {host.service_name for host in transaction.hosts.list()}
    try:
        for service_host in sorted(aggregate.hosts):
            if service_host in registered and not _return_host(context, service_host, freepool):
                return False
            compute.remove_host(aggregate.id, service_host)
        for service_host in displaced_hosts(aggregate):
            return_to_zone(compute, aggregate, service_host)
        compute.delete_aggregate(aggregate.id)
    except CloudNotFound:
        return True
    except CloudConflict as error:
        _logger.warning("orphaned aggregate %s cannot be removed: %s", aggregate.name, error)
        return False
    return True


def _return_host(context: Context, service_host: str, freepool: Aggregate | None) -> bool:
    if freepool is None:
        return False
    if service_host in freepool.hosts:
        return True
    try:
        context.cloud.compute.add_host(freepool.id, service_host)
    except CloudConflict:
        return True
    except CloudNotFound:
        _logger.warning("registered host %s is unknown to Nova", service_host)
        return False
    return True


def _forget_old_entries(context: Context, allocations: AllocationStore, log: AvailabilityReader) -> None:
    now = context.clock.now()
    allocations.purge_released(now - context.settings.leases.cleaning_time)
    log.purge_changes(now - CHANGES_KEPT_FOR)


def _report(context: Context, actor: str, found: list[str], removed: list[str]) -> None:
    if not found:
        return
    _logger.warning("sweep found %s; removed %s", ", ".join(found), ", ".join(removed) or "nothing")
    with context.store.begin() as transaction:
        transaction.journal.append(
            [
                JournalEntry(
                    at=context.clock.now(),
                    lease_id=None,
                    event="sweep.removed" if key in removed else "sweep.found",
                    reason=key,
                    actor=actor,
                )
                for key in found
            ]
        )
        transaction.commit()


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False
