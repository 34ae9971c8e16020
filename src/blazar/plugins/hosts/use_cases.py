"""Use cases of hosts: registration, description and removal of reservable hosts.

Registration and removal are sequences of repeatable steps in Nova and Placement around one transaction.
After a failure at any step, the same request can be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping

from blazar.booking.cloud_errors import cloud_errors_as_conflicts
from blazar.booking.context import Context
from blazar.booking.retrying import retrying
from blazar.booking.scheduling import reschedule_missing
from blazar.booking.specs import requirement_of
from blazar.booking.views import JsonObject, allocation_view
from blazar.damage import damaged_rows
from blazar.domain.errors import BadRequest, ConcurrentUpdate, InvalidParameter
from blazar.domain.lease import ResourceId, StoredSpec
from blazar.domain.wording import first_few
from blazar.plugins.hosts.aggregate_properties import check_not_from_aggregates
from blazar.plugins.hosts.description import describe, read_providers
from blazar.plugins.hosts.errors import (
    AmbiguousHostName,
    CapabilityInUse,
    CapabilityKeyTooLong,
    HostAlreadyRegistered,
    HostHasServers,
    HostNotFound,
    HostReferenceMissing,
    HostReserved,
    ProviderNotFound,
)
from blazar.plugins.hosts.host import HOST_DETAILS, HOST_FIELDS, MAX_CAPABILITY_KEY_LENGTH, Host
from blazar.plugins.hosts.monitor import schedule_host_check
from blazar.plugins.hosts.pool import enter_pool, leave_pool
from blazar.plugins.hosts.properties import hidden_properties
from blazar.plugins.hosts.settings import HostSettings, MonitorSettings
from blazar.plugins.hosts.store import HOST_STORE
from blazar.plugins.hosts.views import host_view, read_host_view
from blazar.ports.compute import Hypervisor
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction

_NOT_CAPABILITIES = HOST_DETAILS | {"name", "id", "trust_id"}
"""Keys of a registration that identify the hypervisor, or that old clients send without effect."""
_MAX_VALUE_LENGTH = 65_535


def get_host(context: Context, caller: Caller, host_id: str) -> JsonObject:
    """Return a host. Raises HostNotFound."""
    with context.store.read() as transaction:
        return read_host_view(_get(transaction, host_id), caller, hidden_properties(transaction, caller))


@cloud_errors_as_conflicts()
def create_host(context: Context, body: JsonObject) -> JsonObject:
    """Register a hypervisor, found by its id, its name, or the part of its name before the first dot.

    Facts that Nova supplies are ignored, as existing clients expect that send a host as they have read it.

    Returns:
        The host.

    Raises:
        BadRequest: The reference is missing, or a capability is invalid or has the name of a host field.
        NotFound: The hypervisor, its resource provider or the freepool does not exist.
        Conflict: The host is already registered, servers run on it, or several hypervisors have this
            short name.
        CloudDisagrees: Nova or Placement refuses a step; the same request can be repeated.
    """
    reference = body.get("id") or body.get("name")
    if not reference:
        raise HostReferenceMissing("name: the hypervisor's host name, or id, is required")
    check_not_from_aggregates(context.settings.of(HostSettings), body)
    capabilities = {key: _coerced(key, value) for key, value in body.items() if key not in _NOT_CAPABILITIES}
    hypervisor = _find_hypervisor(context, str(reference))
    with context.store.read() as transaction:
        if transaction.of(HOST_STORE).find_by_hostname(hypervisor.hypervisor_hostname) is not None:
            raise HostAlreadyRegistered(f"Host {hypervisor.hypervisor_hostname} is already registered")
    _refuse_servers(context, hypervisor)
    root = context.cloud.placement.find_provider(hypervisor.hypervisor_hostname)
    if root is None:
        raise ProviderNotFound(f"Placement has no resource provider named {hypervisor.hypervisor_hostname}")
    providers = read_providers(context.cloud.placement, hypervisor.hypervisor_hostname, root.uuid)
    now = context.clock.now()
    host = describe(context.cloud, context.settings, hypervisor, providers, capabilities, now)
    enter_pool(context.cloud, context.settings.of(HostSettings), host, root.uuid)
    try:
        # Check again: the scheduler could choose the host until it was in the freepool.
        _refuse_servers(context, hypervisor)
    except HostHasServers:
        leave_pool(context.cloud, context.settings.of(HostSettings), host)
        raise
    return retrying(context, lambda _: _store(context, host))


def update_host(context: Context, caller: Caller, host_id: str, body: JsonObject) -> JsonObject:
    """Set extra capabilities, or remove those whose value is null, in one transaction; return the host.

    Raises:
        HostNotFound: No such host is registered.
        CapabilityInUse: A reservation on the host relies on a capability that would change.
        BadRequest: Nothing to change, a value that cannot be stored, or the name of a host field.
    """
    if not body:
        raise BadRequest("No extra capability given: nothing to update")
    check_not_from_aggregates(context.settings.of(HostSettings), body)
    changes = {key: None if value is None else _coerced(key, value) for key, value in body.items()}
    return retrying(context, lambda _: _update_once(context, caller, host_id, changes))


@cloud_errors_as_conflicts()
def delete_host(context: Context, host_id: str) -> None:
    """Remove a host from the registered ones, so that it returns to general use.

    Raises:
        HostNotFound: No such host is registered.
        HostReserved: A lease holds it, now or later.
        HostHasServers: Servers run on it.
        CloudDisagrees: Nova or Placement refuses a step; the same request can be repeated.
    """
    with context.store.begin() as transaction:
        # Cleaned allocations no longer count, even if the sweep has not purged them yet.
        transaction.allocations.purge_released(context.clock.now() - context.settings.leases.cleaning_time)
        host = _get(transaction, host_id)
        _refuse_allocations(transaction, host)
        transaction.commit()
    hypervisor = context.cloud.hypervisors.find_hypervisor(host.hypervisor_hostname)
    if hypervisor is not None:
        _refuse_servers(context, hypervisor)
    leave_pool(context.cloud, context.settings.of(HostSettings), host)
    try:
        with context.store.begin() as transaction:
            transaction.allocations.claim({host.id: host.generation})
            _refuse_allocations(transaction, host)
            transaction.work.schedule(transaction.resources.list_holders(host.id), context.clock.now())
            transaction.of(HOST_STORE).delete(host.id)
            transaction.commit()
    except (ConcurrentUpdate, HostReserved) as error:
        root = context.cloud.placement.find_provider(host.hypervisor_hostname)
        enter_pool(context.cloud, context.settings.of(HostSettings), host, root.uuid if root else None)
        _have_holders_look(context, host)
        raise HostReserved(
            f"Host {host.id} was reserved or changed concurrently; it stays registered"
        ) from error


def get_allocations(
    context: Context, host_id: str, lease_id: str | None, reservation_id: str | None
) -> JsonObject:
    """Return the allocations of a host. Raises HostNotFound."""
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
    host = transaction.of(HOST_STORE).find(host_id)
    if host is None:
        raise HostNotFound(host_id[:64])
    return host


def _update_once(
    context: Context, caller: Caller, host_id: str, changes: Mapping[str, str | None]
) -> JsonObject:
    with context.store.begin() as transaction:
        host = _get(transaction, host_id)
        # A concurrent search that relied on the old facts must fail.
        transaction.allocations.claim({host.id: host.generation})
        altered = {key for key, value in changes.items() if host.capabilities.get(key) != value}
        used = altered & host.capabilities.keys() & _properties_used(context, transaction, host.id)
        if used:
            raise CapabilityInUse(f"In use by reservations on the host: {', '.join(sorted(used))}")
        transaction.of(HOST_STORE).set_capabilities(
            host.id, {key: changes[key] for key in altered}, context.clock.now()
        )
        reschedule_missing(context, transaction)
        view = host_view(_get(transaction, host_id), hidden_properties(transaction, caller))
        transaction.commit()
    context.waker.wake()
    return view


def _properties_used(context: Context, transaction: Transaction, host_id: ResourceId) -> frozenset[str]:
    used: set[str] = set()
    for _, resource_type, spec in transaction.of(HOST_STORE).reservations_on(host_id):
        plugin = context.plugins.get(resource_type)
        # An unreadable spec relies on no capability; the host can still be changed.
        if plugin is None or isinstance(spec, StoredSpec):
            continue
        try:
            used |= requirement_of(plugin, spec).keys
        except Exception:
            damaged_rows.note("reservations", "spec", f"a reservation of type {resource_type} on {host_id}")
    return frozenset(used)


def _store(context: Context, host: Host) -> JsonObject:
    with context.store.begin() as transaction:
        transaction.of(HOST_STORE).insert(host)
        reschedule_missing(context, transaction)
        if context.settings.of(MonitorSettings).is_enabled:
            # The host may have failed since Nova was queried, and Nova does not notify of it a second time.
            schedule_host_check(context, transaction)
        transaction.commit()
    context.waker.wake()
    return host_view(host)


def _find_hypervisor(context: Context, reference: str) -> Hypervisor:
    hypervisors = context.cloud.hypervisors
    found = hypervisors.find_hypervisor(reference)
    if found is not None:
        return found
    # Nova also finds names that contain the text anywhere: node-1 would register node-10.
    named = [
        each for each in hypervisors.list_hypervisors() if each.hypervisor_hostname.split(".")[0] == reference
    ]
    if not named:
        raise HostNotFound(reference[:255])
    if len(named) > 1:
        names = first_few(sorted(each.hypervisor_hostname for each in named))
        raise AmbiguousHostName(f"name: {reference} is the short name of {len(named)} hypervisors: {names}")
    return named[0]


def _refuse_servers(context: Context, hypervisor: Hypervisor) -> None:
    servers = context.cloud.servers.list_servers(service_host=hypervisor.service_host)
    if servers:
        raise HostHasServers(
            f"{len(servers)} servers run on host {hypervisor.hypervisor_hostname};"
            " migrate or delete them first",
            servers=len(servers),
        )


def _have_holders_look(context: Context, host: Host) -> None:
    """Schedule leases that have started since, so that they remove the host from the freepool again."""
    now = context.clock.now()
    with context.store.begin() as transaction:
        transaction.work.schedule(transaction.allocations.waiting_leases([host.id], now), now)
        transaction.commit()
    context.waker.wake()


def _refuse_allocations(transaction: Transaction, host: Host) -> None:
    if transaction.allocations.count_on(host.id):
        raise HostReserved(f"Host {host.id} is reserved, now or later, or is being cleaned")


def _coerced(key: str, value: object) -> str:
    """Return a capability's value as the text to store: booleans as "1" and "0", numbers as decimal text."""
    if key in HOST_FIELDS:
        raise InvalidParameter(key, f"{HOST_FIELDS[key]}; it cannot be set as an extra capability")
    if len(key) > MAX_CAPABILITY_KEY_LENGTH:
        raise CapabilityKeyTooLong(key)
    if not key or "\x00" in key or key != key.strip():
        # Some databases do not distinguish names that differ only in trailing blanks.
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
