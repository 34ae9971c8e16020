"""The monitor: detection of hosts that fail, are disabled or recover.

A check compares all registered hosts with their present state in Nova. Its trigger does not matter: an
interval has passed, a host was registered, or Nova sent a notification of a change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from typing import Final

from blazar.booking.context import Context
from blazar.booking.health import record_health
from blazar.booking.retrying import retrying
from blazar.domain.health import HEALTHY, Diagnosis, Health
from blazar.domain.lease import ResourceId
from blazar.plugins.hosts.description import diagnose
from blazar.plugins.hosts.host import Host
from blazar.plugins.hosts.settings import MonitorSettings
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.compute import Hypervisor
from blazar.ports.store import Transaction

UNLISTED = "Nova does not list it"
HOST_CHECK: Final = "host-monitor"
"""The key under which a check of all hosts is scheduled as work."""
_GATHERING_TIME = timedelta(seconds=1)
"""Changes reported within this time are covered by one check."""
_FINDER = "monitor"
_ATTEMPTS = 8
"""Attempts to schedule a check while others schedule it concurrently."""


def check_hosts(context: Context, actor: str, check_claim: Callable[[], None] = lambda: None) -> None:
    """Update the health of registered hosts; one request to Nova, more only if Nova paginates.

    A host that Nova does not list is disabled at first, and counts as failed if this lasts: Nova leaves out
    the hosts of a cell that is temporarily unreachable.

    Args:
        context: The context.
        actor: The actor recorded in the journal.
        check_claim: Called before each change; an exception from it ends the check.

    Raises:
        CloudUnavailable: Nova does not respond; nothing was changed.
    """
    # Read the database before the cloud: a host registered in between must not appear to be missing.
    with context.store.read() as transaction:
        hosts = transaction.of(HOST_STORE).list()
    listed = _match(hosts, context.cloud.hypervisors.list_hypervisors()) if hosts else {}
    lasting = _note_unlisted(context, [host.id for host in hosts if host.id not in listed])
    for host in hosts:
        hypervisor = listed.get(host.id)
        if hypervisor is not None:
            after = diagnose(hypervisor)
        elif host.id in lasting or host.diagnosis.has_failed:
            after = Diagnosis(health=Health.FAILED, problem=UNLISTED)
        else:
            after = Diagnosis(health=Health.DISABLED, problem=UNLISTED)
        _record(context, actor, host, after, check_claim)


def trust_hosts(context: Context, actor: str, check_claim: Callable[[], None] = lambda: None) -> None:
    """Mark all registered hosts as healthy: without monitoring, a stored diagnosis would never be updated.

    Args:
        context: The context.
        actor: The actor recorded in the journal.
        check_claim: Called before each change; an exception from it ends the operation.
    """
    with context.store.read() as transaction:
        hosts = transaction.of(HOST_STORE).list()
    for host in hosts:
        _record(context, actor, host, HEALTHY, check_claim)


def schedule_host_check(context: Context, transaction: Transaction) -> None:
    """Schedule a check of all hosts soon. Raises ConcurrentUpdate if it is being scheduled concurrently."""
    transaction.work.schedule([HOST_CHECK], context.clock.now() + _GATHERING_TIME)


def notice_change(context: Context, service_host: str) -> bool:
    """Schedule a check soon because of a report about a compute service; return whether it is relevant.

    The content of the report is not trusted: it may be forged, late or out of order.

    Args:
        context: The context.
        service_host: Name of the compute service; only services of registered hosts are relevant.
    """

    def once(attempt: int) -> bool:
        with context.store.begin() as transaction:
            if not transaction.of(HOST_STORE).has_service(service_host):
                return False
            schedule_host_check(context, transaction)
            transaction.commit()
        return True

    matters = retrying(context, once, attempts=_ATTEMPTS)
    if matters:
        context.waker.wake()
    return matters


def _match(hosts: Iterable[Host], hypervisors: Iterable[Hypervisor]) -> Mapping[ResourceId, Hypervisor]:
    """Return the hypervisor of each listed host, matched by name even if the hypervisor was re-created.

    If two cells have hypervisors with the same name, the id decides.
    """
    by_name: dict[str, list[Hypervisor]] = {}
    for each in hypervisors:
        by_name.setdefault(each.hypervisor_hostname, []).append(each)
    return {
        host.id: min(by_name[host.hypervisor_hostname], key=lambda each: each.id != host.id)
        for host in hosts
        if host.hypervisor_hostname in by_name
    }


def _note_unlisted(context: Context, host_ids: Collection[ResourceId]) -> frozenset[ResourceId]:
    """Return hosts that have been unlisted for long enough; schedule a check for when the next one is due."""
    now, tolerated = context.clock.now(), context.settings.of(MonitorSettings).polling_interval
    with context.store.begin() as transaction:
        first_seen = transaction.findings.note(_FINDER, host_ids, now)
        due = {each: first_seen[each] + tolerated for each in host_ids}
        waiting = [instant for instant in due.values() if instant > now]
        if waiting:
            transaction.work.schedule([HOST_CHECK], min(waiting))
        transaction.commit()
    return frozenset(each for each, instant in due.items() if instant <= now)


def _record(
    context: Context, actor: str, host: Host, after: Diagnosis, check_claim: Callable[[], None]
) -> None:
    if after != host.diagnosis:
        check_claim()
        record_health(context, actor, host.id, host.hypervisor_hostname, after)
