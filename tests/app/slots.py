"""Requests for reservations of instances, and their state in the service and in Placement."""

from __future__ import annotations

from typing import Any

from app.http_env import HttpEnv, Json

from blazar.plugins.slots.names import provider_name, reservation_class
from blazar.ports.compute import Flavor

FLAVOR = Flavor(id="42", name="m1.small", vcpus=2, memory_mb=2048, disk_gb=10, ephemeral_gb=5, is_public=True)
SECRET = Flavor(id="secret", name="secret", vcpus=1, memory_mb=1, disk_gb=0)


def instances(**keys: Any) -> Json:
    """Return a reservation of two instances with four VCPU each; a host has room for four."""
    return {
        "resource_type": "virtual:instance",
        "vcpus": 4,
        "memory_mb": 4096,
        "disk_gb": 10,
        "amount": 2,
        "affinity": None,
        "resource_properties": "",
        **keys,
    }


def of_flavor(**keys: Any) -> Json:
    """Return a reservation of two instances of :data:`FLAVOR`; a host has room for eight."""
    return {
        "resource_type": "flavor:instance",
        "flavor_id": FLAVOR.id,
        "amount": 2,
        "affinity": None,
        **keys,
    }


def reservation_of(lease: Json) -> Json:
    """Return the only reservation of a lease."""
    (reservation,) = lease["reservations"]
    found: Json = reservation
    return found


def slots(env: HttpEnv, lease: Json) -> dict[str, int]:
    """Return the number of allocated slots on each host, by host ID."""
    answer = env.get("/os-hosts/allocations", params={"lease_id": lease["id"]}).json["allocations"]
    return {each["resource_id"]: len(each["reservations"]) for each in answer if each["reservations"]}


def inventories(env: HttpEnv, lease: Json) -> dict[str, int]:
    """Return the number of slots in Placement's inventories, by hypervisor host name."""
    found = {}
    for hypervisor in env.cloud.hypervisors.list_hypervisors():
        name = hypervisor.hypervisor_hostname
        provider = env.cloud.placement.find_provider(provider_name(name))
        by_class = env.cloud.placement.get_inventories(provider.uuid).by_class if provider else {}
        inventory = by_class.get(reservation_class(reservation_of(lease)["id"]))
        if inventory is not None:
            found[name] = inventory.total
    return found
