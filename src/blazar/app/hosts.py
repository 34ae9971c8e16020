"""Use cases of hosts: registering, describing and removing those that can be reserved.

Registration and removal are a row of repeatable steps in Nova and Placement around one transaction.
Whatever fails in between, the same request can be made again (behaviour 12, 15 and 16).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from blazar.booking.context import Context
from blazar.booking.health import have_missing_sought
from blazar.app.host_description import describe, read_providers
from blazar.reconcile.periodic.host_monitor import have_hosts_looked_at
from blazar.app.host_pool import enter_pool, leave_pool
from blazar.app.request_work import telling_what_the_cloud_says
from blazar.booking.retrying import retrying
from blazar.booking.views import JsonObject, allocation_view, host_view
from blazar.domain.errors import (
    BadRequest,
    CapabilityInUse,
    CapabilityKeyTooLong,
    ConcurrentUpdate,
    HostAlreadyRegistered,
    HostHasServers,
    HostNotFound,
    HostReferenceMissing,
    HostReserved,
    InvalidParameter,
    ProviderNotFound,
)
from blazar.domain.hosts import HOST_DETAILS, MAX_CAPABILITY_KEY_LENGTH, Host
from blazar.domain.lease import ResourceId
from blazar.ports.compute import Hypervisor
from blazar.ports.store import BookedWindow, Transaction

_NOT_CAPABILITIES = HOST_DETAILS | {"name", "id", "trust_id"}
_MAX_VALUE_LENGTH = 65_535


def list_hosts(context: Context) -> Sequence[JsonObject]:
    """Return the registered hosts."""
    with context.store.read() as transaction:
        return [host_view(host) for host in transaction.hosts.list()]


def get_host(context: Context, host_id: str) -> JsonObject:
    """Return a host. Raises HostNotFound."""
    with context.store.read() as transaction:
        return host_view(_get(transaction, host_id))


@telling_what_the_cloud_says()
def create_host(context: Context, body: JsonObject) -> JsonObject:
    """Register a hypervisor, found by its id or exact name, and return it.

    Raises:
        BadRequest: No reference, or capabilities that cannot be stored.
        NotFound: Nova, Placement or the freepool does not know it.
        Conflict: It is registered, or servers run on it.
        CloudDisagrees: Nova or Placement refuses a step; the same request may be made again.
    """
    reference = body.get("id") or body.get("name")
    if not reference:
        raise HostReferenceMissing("name: the hypervisor's host name, or id, is required")
    capabilities = {key: _coerced(key, value) for key, value in body.items() if key not in _NOT_CAPABILITIES}
    hypervisor = context.cloud.compute.find_hypervisor(str(reference))
    if hypervisor is None:
        raise HostNotFound(str(reference)[:255])
    with context.store.read() as transaction:
        if transaction.hosts.find_by_hostname(hypervisor.hypervisor_hostname) is not None:
            raise HostAlreadyRegistered(f"Host {hypervisor.hypervisor_hostname} is registered already")
    _refuse_servers(context, hypervisor)
    root = context.cloud.placement.find_provider(hypervisor.hypervisor_hostname)
    if root is None:
        raise ProviderNotFound(f"Placement has no resource provider named {hypervisor.hypervisor_hostname}")
    providers = read_providers(context.cloud.placement, hypervisor.hypervisor_hostname, root.uuid)
    host = describe(context, hypervisor, providers, capabilities)
    enter_pool(context, host, root.uuid)
    try:
        # Again: until it was in the freepool, the scheduler could choose it.
        _refuse_servers(context, hypervisor)
    except HostHasServers:
        leave_pool(context, host)
        raise
    return retrying(context, lambda _: _store(context, host))


def update_host(context: Context, host_id: str, body: JsonObject) -> JsonObject:
    """Set extra capabilities, or remove those whose value is null, all or none; return the host.

    Raises:
        HostNotFound: There is none.
        CapabilityInUse: A reservation on the host relies on one that would change.
        BadRequest: Nothing to change, or a value that cannot be stored.
    """
    if not body:
        raise BadRequest("No extra capability given: nothing to update")
    changes = {key: None if value is None else _coerced(key, value) for key, value in body.items()}
    return retrying(context, lambda _: _update_once(context, host_id, changes))


@telling_what_the_cloud_says()
def delete_host(context: Context, host_id: str) -> None:
    """Give a host back to ordinary use.

    Raises:
        HostNotFound: There is none.
        HostReserved: Somebody holds it, now or later.
        HostHasServers: Servers run on it.
        CloudDisagrees: Nova or Placement refuses a step; the same request may be made again.
    """
    with context.store.begin() as transaction:
        # What is clean again holds nobody up, also before a sweep has forgotten it.
        transaction.allocations.purge_released(context.clock.now() - context.settings.leases.cleaning_time)
        host = _get(transaction, host_id)
        _refuse_allocations(transaction, host)
        transaction.commit()
    hypervisor = context.cloud.compute.find_hypervisor(host.hypervisor_hostname)
    if hypervisor is not None:
        _refuse_servers(context, hypervisor)
    leave_pool(context, host)
    try:
        with context.store.begin() as transaction:
            transaction.allocations.claim({host.id: host.generation})
            _refuse_allocations(transaction, host)
            transaction.work.schedule(transaction.resources.list_holders(host.id), context.clock.now())
            transaction.hosts.delete(host.id)
            transaction.commit()
    except (ConcurrentUpdate, HostReserved) as error:
        root = context.cloud.placement.find_provider(host.hypervisor_hostname)
        enter_pool(context, host, root.uuid if root else None)
        _have_holders_look(context, host)
        raise HostReserved(f"Host {host.id} was reserved or changed meanwhile; it stays") from error


def list_allocations(
    context: Context, lease_id: str | None, reservation_id: str | None
) -> Sequence[JsonObject]:
    """Return for every host who holds it when."""
    with context.store.read() as transaction:
        host_ids = [host.id for host in transaction.hosts.list()]
        booked = transaction.allocations.list_booked(
            now=context.clock.now(), lease_id=lease_id, reservation_id=reservation_id
        )
    by_host: dict[str, list[BookedWindow]] = {}
    for each in booked:
        by_host.setdefault(each.resource_id, []).append(each)
    return [allocation_view(host_id, by_host.get(host_id, [])) for host_id in host_ids]


def get_allocations(
    context: Context, host_id: str, lease_id: str | None, reservation_id: str | None
) -> JsonObject:
    """Return who holds a host when. Raises HostNotFound."""
    with context.store.read() as transaction:
        host = _get(transaction, host_id)
        booked = transaction.allocations.list_booked(
            now=context.clock.now(),
            resource_id=host.id,
            lease_id=lease_id,
            reservation_id=reservation_id,
        )
    return allocation_view(host.id, booked)


def _get(transaction: Transaction, host_id: str) -> Host:
    host = transaction.hosts.find(host_id)
    if host is None:
        raise HostNotFound(host_id[:64])
    return host


def _update_once(context: Context, host_id: str, changes: Mapping[str, str | None]) -> JsonObject:
    with context.store.begin() as transaction:
        host = _get(transaction, host_id)
        # A search that relied on the old facts must not succeed any more.
        transaction.allocations.claim({host.id: host.generation})
        altered = {key for key, value in changes.items() if host.capabilities.get(key) != value}
        used = altered & host.capabilities.keys() & _properties_used(context, transaction, host.id)
        if used:
            raise CapabilityInUse(f"In use by reservations on the host: {', '.join(sorted(used))}")
        transaction.hosts.set_capabilities(
            host.id, {key: changes[key] for key in altered}, context.clock.now()
        )
        have_missing_sought(context, transaction)
        after = _get(transaction, host_id)
        transaction.commit()
    context.waker.wake()
    return host_view(after)


def _properties_used(context: Context, transaction: Transaction, host_id: ResourceId) -> frozenset[str]:
    used: set[str] = set()
    for _, resource_type, spec in transaction.hosts.reservations_on(host_id):
        plugin = context.plugins.get(resource_type)
        if plugin is not None:
            used |= plugin.properties_used(plugin.decode(spec))
    return frozenset(used)


def _store(context: Context, host: Host) -> JsonObject:
    with context.store.begin() as transaction:
        transaction.hosts.insert(host)
        have_missing_sought(context, transaction)
        if context.settings.monitor.is_enabled:
            # It may have failed since Nova was asked for it, and nobody would say so a second time.
            have_hosts_looked_at(context, transaction)
        transaction.commit()
    context.waker.wake()
    return host_view(host)


def _refuse_servers(context: Context, hypervisor: Hypervisor) -> None:
    servers = context.cloud.compute.list_servers(service_host=hypervisor.service_host)
    if servers:
        raise HostHasServers(
            f"{len(servers)} servers run on host {hypervisor.hypervisor_hostname}", servers=len(servers)
        )


def _have_holders_look(context: Context, host: Host) -> None:
    """Have leases that have begun meanwhile take the host out of the freepool again."""
    now = context.clock.now()
    with context.store.begin() as transaction:
        transaction.work.schedule(transaction.allocations.waiting_leases([host.id], now), now)
        transaction.commit()
    context.waker.wake()


def _refuse_allocations(transaction: Transaction, host: Host) -> None:
    if transaction.allocations.count_on(host.id):
        raise HostReserved(f"Host {host.id} is reserved, now or later, or is being cleaned")


def _coerced(key: str, value: object) -> str:
    """Return a capability's value as the text that is stored, as the reference does (rest-api 5.2.3)."""
    if len(key) > MAX_CAPABILITY_KEY_LENGTH:
        raise CapabilityKeyTooLong(key)
    if not key or "\x00" in key or key != key.strip():
        # A database may not tell names apart that differ in blanks at their end.
        raise InvalidParameter(
            "extra capability", "its name must not be empty, contain NUL, or begin or end with blanks"
        )
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        raise InvalidParameter(key, "must be text, a number, true or false")
    if len(value) > _MAX_VALUE_LENGTH or "\x00" in value:
        raise InvalidParameter(key, f"must have at most {_MAX_VALUE_LENGTH} characters, and no NUL")
    return value
