"""Requests for reservations of slots, and their state in an environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reconcile.reconciler_env import ReconcilerEnv

from blazar.domain.errors import CloudConflict
from blazar.domain.lease import Reservation
from blazar.plugins.slots.names import provider_name, reservation_class
from blazar.ports.compute import Flavor, Server

SOURCE = Flavor(
    id="source",
    name="source",
    vcpus=2,
    memory_mb=2048,
    disk_gb=10,
    ephemeral_gb=5,
    is_public=True,
    extra_specs={"trait:HW_CPU_X86_AVX2": "required", "quota:cpu_shares": "10"},
)
BIGGER_SOURCE = Flavor(id="bigger", name="bigger", vcpus=8, memory_mb=8192, disk_gb=10, is_public=True)


def instances(amount: int, affinity: bool | None = None, **keys: object) -> Mapping[str, object]:
    """Return a reservation of slots with four VCPU each; a host of the environment has room for four."""
    return {
        "resource_type": "virtual:instance",
        "vcpus": 4,
        "memory_mb": 4096,
        "disk_gb": 10,
        "amount": amount,
        "affinity": affinity,
        "resource_properties": "",
        **keys,
    }


def of_flavor(amount: int, affinity: bool | None = None, **keys: object) -> Mapping[str, object]:
    """Return a reservation of slots of the source flavor; a host of the environment has room for eight."""
    return {
        "resource_type": "flavor:instance",
        "flavor_id": SOURCE.id,
        "amount": amount,
        "affinity": affinity,
        **keys,
    }


def add_source_flavors(env: ReconcilerEnv) -> None:
    """Create the flavors that reservations can be made from."""
    with env.faults.exempt():
        for each in (SOURCE, BIGGER_SOURCE):
            env.cloud.flavors.create_flavor(each)


def revise(env: ReconcilerEnv, lease_id: str, position: int = 0, **keys: Any) -> None:
    """Change keys of one of a lease's reservations."""
    reservation = env.lease(lease_id).reservations[position]
    env.update(lease_id, reservations=[{"id": reservation.id, **keys}])


def slots_by_host(env: ReconcilerEnv, reservation: Reservation) -> Mapping[str, int]:
    """Return the number of slots that a reservation has in Placement, by host."""
    resource_class, found = reservation_class(reservation.id), {}
    with env.faults.exempt():
        placement = env.cloud.placement
        for name in env.host_names:
            provider = placement.find_provider(provider_name(name))
            inventories = placement.get_inventories(provider.uuid).by_class if provider else {}
            if resource_class in inventories:
                found[name] = inventories[resource_class].total
    return found


def boot(env: ReconcilerEnv, reservation: Reservation) -> Server:
    """Boot a server in a slot."""
    return env.cloud.boot_server("in a slot", "project", flavor_id=reservation.id)


def fill(env: ReconcilerEnv, lease_id: str, position: int = 0) -> list[Server]:
    """Boot servers until no slot is left, and return them."""
    reservation = env.lease(lease_id).reservations[position]
    servers = []
    while True:
        try:
            servers.append(boot(env, reservation))
        except CloudConflict:
            return servers
