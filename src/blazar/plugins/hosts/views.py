"""Hosts as JSON: for API v1, and for enforcement filters."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from blazar.booking.views import JsonObject, health_view
from blazar.domain.formats import API, USAGE, Formats
from blazar.domain.lease import ResourceId
from blazar.plugins.hosts.host import Host
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.manager import Caller
from blazar.ports.store import Transaction


def host_view(host: Host, hidden: Collection[str] = (), formats: Formats = API) -> JsonObject:
    """Return a host. An extra capability with the name of a built-in key masks that key, unchanged.

    Args:
        host: The host.
        hidden: Names of extra capabilities that are hidden from the caller.
        formats: The formats of instants.
    """
    return {
        "id": host.id,
        "hypervisor_hostname": host.hypervisor_hostname,
        "service_name": host.service_name,
        "hypervisor_type": host.hypervisor_type,
        "hypervisor_version": host.hypervisor_version,
        "vcpus": host.vcpus,
        "memory_mb": host.memory_mb,
        "local_gb": host.local_gb,
        "cpu_info": host.cpu_info,
        "availability_zone": host.availability_zone,
        "status": None,
        "reservable": host.diagnosis.is_reservable,
        "trust_id": None,
        "created_at": formats.stamp(host.created_at),
        "updated_at": formats.stamp(host.updated_at),
        **{name: value for name, value in host.capabilities.items() if name not in hidden},
    }


def read_host_view(host: Host, caller: Caller, hidden: Collection[str]) -> JsonObject:
    """Return a host as the answer to a request that reads it."""
    return {**health_view(host.diagnosis, caller), **host_view(host, hidden)}


def describe_hosts(
    transaction: Transaction, host_ids: Collection[ResourceId]
) -> Mapping[ResourceId, JsonObject]:
    """Return the given resources that are hosts, as filters receive them."""
    hosts = transaction.of(HOST_STORE).get_many(host_ids)
    return {each.id: host_view(each, formats=USAGE) for each in hosts}
