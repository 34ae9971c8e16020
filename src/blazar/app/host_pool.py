"""A host's place among the hosts that are managed here: in the freepool, with a reservation provider.

Every step can be repeated, so both ways can be begun again after any failure in the middle.
"""

from __future__ import annotations

from blazar.booking.context import Context
from blazar.domain.errors import (
    CloudConflict,
    CloudNotFound,
    FreepoolNotFound,
    HostHasServers,
)
from blazar.domain.hosts import Host
from blazar.plugins.slots.names import provider_name
from blazar.ports.compute import Aggregate


def get_freepool(context: Context) -> Aggregate:
    """Return the freepool aggregate. Raises FreepoolNotFound."""
    name = context.settings.hosts.freepool_name
    for aggregate in context.cloud.compute.list_aggregates():
        if aggregate.name == name:
            return aggregate
    raise FreepoolNotFound(name)


def enter_pool(context: Context, host: Host, root_provider_uuid: str | None) -> None:
    """Put a host into the freepool, with a reservation provider below its own."""
    freepool = get_freepool(context)
    placement = context.cloud.placement
    name = provider_name(host.hypervisor_hostname)
    if root_provider_uuid is not None and placement.find_provider(name) is None:
        try:
            placement.create_provider(name, root_provider_uuid)
        except CloudConflict:
            if placement.find_provider(name) is None:
                raise
    if host.service_name not in freepool.hosts:
        try:
            context.cloud.compute.add_host(freepool.id, host.service_name)
        except CloudConflict:
            if host.service_name not in get_freepool(context).hosts:
                raise


def leave_pool(context: Context, host: Host) -> None:
    """Take a host out of the freepool and delete its reservation provider.

    Raises:
        HostHasServers: Placement still counts servers on the reservation provider; the host stays.
    """
    placement = context.cloud.placement
    provider = placement.find_provider(provider_name(host.hypervisor_hostname))
    if provider is not None:
        try:
            placement.delete_provider(provider.uuid)
        except CloudNotFound:
            provider = None
        except CloudConflict as error:
            raise HostHasServers(
                f"Servers still use reservations on host {host.hypervisor_hostname}: {error.message}"
            ) from error
    try:
        _leave_freepool(context, host)
    except FreepoolNotFound:
        return


def _leave_freepool(context: Context, host: Host) -> None:
    try:
        context.cloud.compute.remove_host(get_freepool(context).id, host.service_name)
    except CloudNotFound:
        if host.service_name in get_freepool(context).hosts:
            raise
