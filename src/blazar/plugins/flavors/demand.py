"""What a server of an existing flavor needs of a host."""

from __future__ import annotations

from blazar.domain.capacity import Demand
from blazar.domain.errors import FlavorNotReservable, InvalidParameter
from blazar.plugins.flavors.extra_specs import CPU_POLICY, list_obstacles, list_traits, resource_amounts
from blazar.ports.compute import Flavor


def check_reservable(flavor: Flavor) -> None:
    """Find out whether a reservation can guarantee that servers of a flavor find room.

    Raises:
        FlavorNotReservable: It has extra specs that forbid that; all of them are named.
        InvalidParameter: It has an extra spec that makes no sense, or its servers need nothing at all.
    """
    obstacles = list_obstacles(flavor.extra_specs)
    if obstacles:
        raise FlavorNotReservable(flavor.id, obstacles)
    try:
        demand_of(flavor)
    except ValueError as error:
        raise InvalidParameter(
            "flavor_id", f"servers of flavor {flavor.id} need nothing that could be reserved"
        ) from error


def demand_of(flavor: Flavor) -> Demand:
    """Return what one server takes (behaviour 3.3): the flavor's sizes, unless extra specs say otherwise.

    Raises:
        InvalidParameter: An extra spec makes no sense; it is named.
        ValueError: It takes nothing.
    """
    is_pinned = flavor.extra_specs.get(CPU_POLICY) == "dedicated"
    amounts = {
        "PCPU" if is_pinned else "VCPU": flavor.vcpus,
        "MEMORY_MB": flavor.memory_mb,
        "DISK_GB": flavor.disk_gb + flavor.ephemeral_gb,
        **resource_amounts(flavor),
    }
    return Demand.of(amounts, list_traits(flavor, "required"), list_traits(flavor, "forbidden"))
