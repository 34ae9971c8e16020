"""Membership of hosts in the freepool, with their reservation providers in Placement.

Each step is repeatable, so both directions can be retried after any failure.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.plugins.hosts.errors import FreepoolNotFound, HostHasServers
from blazar.plugins.hosts.host import Host
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.zones import is_of_reservation
from blazar.plugins.slots.names import provider_name
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Aggregate


def get_freepool(cloud: Cloud, settings: HostSettings) -> Aggregate:
    """Return the freepool aggregate. Raises FreepoolNotFound."""
    name = settings.freepool_name
    for aggregate in cloud.aggregates.list_aggregates():
        if aggregate.name == name:
            return aggregate
    raise FreepoolNotFound(name)


def enter_pool(cloud: Cloud, settings: HostSettings, host: Host, root_provider_uuid: str | None) -> None:
    """Add a host to the freepool and create a reservation provider under its own provider."""
    freepool = get_freepool(cloud, settings)
    placement = cloud.placement
    name = provider_name(host.hypervisor_hostname)
    if root_provider_uuid is not None and placement.find_provider(name) is None:
        try:
            placement.create_provider(name, root_provider_uuid)
        except CloudConflict:
            if placement.find_provider(name) is None:
                raise
    if host.service_name not in freepool.hosts:
        try:
            cloud.aggregates.add_host(freepool.id, host.service_name)
        except CloudConflict:
            if host.service_name not in get_freepool(cloud, settings).hosts:
                raise


def leave_pool(cloud: Cloud, settings: HostSettings, host: Host) -> None:
    """Remove a host from the freepool and delete its reservation provider.

    Raises:
        HostHasServers: Placement still counts servers on the reservation provider; the host stays.
    """
    placement = cloud.placement
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
        _leave_freepool(cloud, settings, host)
    except FreepoolNotFound:
        return


def _leave_freepool(cloud: Cloud, settings: HostSettings, host: Host) -> None:
    try:
        cloud.aggregates.remove_host(get_freepool(cloud, settings).id, host.service_name)
    except CloudNotFound:
        if host.service_name in get_freepool(cloud, settings).hosts:
            raise


def take_out(cloud: Cloud, settings: HostSettings, service_hosts: Collection[str]) -> None:
    """Remove hosts from the freepool if they are in it; their reservation providers stay."""
    freepool = get_freepool(cloud, settings)
    for each in sorted(freepool.hosts & set(service_hosts)):
        with suppress(CloudNotFound):
            cloud.aggregates.remove_host(freepool.id, each)


def put_back(cloud: Cloud, settings: HostSettings, service_hosts: Collection[str]) -> None:
    """Add hosts to the freepool unless they are in it or in a reservation's aggregate.

    Hosts that Nova does not know are omitted: the others must not wait for them.
    """
    freepool = get_freepool(cloud, settings)
    reserved = {
        host
        for each in cloud.aggregates.list_aggregates()
        if is_of_reservation(each, settings)
        for host in each.hosts
    }
    for each in sorted(set(service_hosts) - freepool.hosts - reserved):
        with suppress(CloudConflict, CloudNotFound):
            cloud.aggregates.add_host(freepool.id, each)
