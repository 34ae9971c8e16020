"""The monitor: noticing that hosts fail, are disabled, and come back (behaviour 6, 12 G).

A look compares all registered hosts with what Nova says of them now. Why it is made does not matter: an
interval has passed, a host was registered, or Nova notified that something has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta

from blazar.booking.context import Context
from blazar.booking.health import record_health
from blazar.app.host_description import diagnose
from blazar.booking.retrying import retrying
from blazar.domain.health import SOUND, Diagnosis, Health
from blazar.domain.hosts import Host
from blazar.domain.lease import ResourceId
from blazar.ports.compute import Hypervisor
from blazar.ports.store import Transaction

MONITOR = "host-monitor"
"""The key of the work that a look is."""
UNLISTED = "Nova does not list it"
_FINDER = "monitor"
_GATHERING_TIME = timedelta(seconds=1)
"""News that come within this time are looked at together."""
_ATTEMPTS = 8
"""How often a look is asked for, because others ask for it at the same time."""


def look_at_hosts(context: Context, actor: str, before_each: Callable[[], None] = lambda: None) -> None:
    """Note what has changed of the health of registered hosts; one request to Nova, and more where it pages.

    A host that Nova does not list is disabled at first, and has failed when that lasts: Nova leaves out
    the hosts of a cell that it cannot reach for a moment.

    Args:
        context: The context.
        actor: Who looks, for the journal.
        before_each: Called before each change; what it raises ends the look.

    Raises:
        CloudUnavailable: Nova does not answer; nothing has changed.
    """
    # The books before the cloud: what is registered in between must not seem to be missing.
    with context.store.read() as transaction:
        hosts = transaction.hosts.list()
    listed = _match(hosts, context.cloud.compute.list_hypervisors()) if hosts else {}
    lasting = _note_unlisted(context, [host.id for host in hosts if host.id not in listed])
    for host in hosts:
        hypervisor = listed.get(host.id)
        if hypervisor is not None:
            after = diagnose(hypervisor)
        elif host.id in lasting or host.diagnosis.has_failed:
            after = Diagnosis(health=Health.FAILED, problem=UNLISTED)
        else:
            after = Diagnosis(health=Health.DISABLED, problem=UNLISTED)
        _record(context, actor, host, after, before_each)


def trust_hosts(context: Context, actor: str, before_each: Callable[[], None] = lambda: None) -> None:
    """Take all registered hosts for sound: what was noted of them is not true for ever if nobody watches.

    Args:
        context: The context.
        actor: Who does so, for the journal.
        before_each: Called before each change; what it raises ends it.
    """
    with context.store.read() as transaction:
        hosts = transaction.hosts.list()
    for host in hosts:
        _record(context, actor, host, SOUND, before_each)


def have_hosts_looked_at(context: Context, transaction: Transaction) -> None:
    """Have a look made soon. Raises ConcurrentUpdate if others ask for it at the same time."""
    transaction.work.schedule([MONITOR], context.clock.now() + _GATHERING_TIME)


def notice_change(context: Context, service_host: str) -> bool:
    """Have a look made soon, because of what is said of a compute service; return whether it matters.

    What is said of it is not believed: it may be forged, late or out of order.

    Args:
        context: The context.
        service_host: Name of the compute service; only those of registered hosts matter.
    """

    def once(attempt: int) -> bool:
        with context.store.begin() as transaction:
            if not transaction.hosts.has_service(service_host):
                return False
            have_hosts_looked_at(context, transaction)
            transaction.commit()
        return True

    matters = retrying(context, once, attempts=_ATTEMPTS)
    if matters:
        context.waker.wake()
    return matters


def _match(hosts: Iterable[Host], hypervisors: Iterable[Hypervisor]) -> Mapping[ResourceId, Hypervisor]:
    """Return the hypervisor of each host that has one: that of its name, also if it was made anew.

    Two cells may have hypervisors of one name; then the id decides.
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
    """Return those that have not been listed for long enough; have the others looked at again in time."""
    now, patience = context.clock.now(), context.settings.monitor.polling_interval
    with context.store.begin() as transaction:
        first_seen = transaction.findings.note(_FINDER, host_ids, now)
        due = {each: first_seen[each] + patience for each in host_ids}
        waiting = [instant for instant in due.values() if instant > now]
        if waiting:
            transaction.work.schedule([MONITOR], min(waiting))
        transaction.commit()
    return frozenset(each for each, instant in due.items() if instant <= now)


def _record(
    context: Context, actor: str, host: Host, after: Diagnosis, before_each: Callable[[], None]
) -> None:
    if after != host.diagnosis:
        before_each()
        record_health(context, actor, host.id, host.hypervisor_hostname, after)
