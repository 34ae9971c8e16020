"""The choice of a resource type for a goal, with its cost on this cloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import numpy as np

from blazar.booking.context import Context, Plugin
from blazar.booking.search import Found, Search, find_in_window
from blazar.booking.specs import need_of
from blazar.domain.availability import Availability
from blazar.domain.capacity import Demand
from blazar.domain.dates import minute_of
from blazar.domain.errors import BlazarError, InvalidParameter
from blazar.domain.interval import Interval
from blazar.domain.providers import HostProvider
from blazar.planning.copy import HOSTS
from blazar.planning.hosts import CLASSES
from blazar.planning.past import slots_on, typical_tree
from blazar.plugins.capabilities import ReadsAsLessee
from blazar.plugins.contract import Wish
from blazar.ports.compute import Flavor, Flavors, ServerGroup

HOST: Final = "physical:host"
INSTANCE: Final = "virtual:instance"
FLAVOR: Final = "flavor:instance"
PLUGIN_NAMES: Final[Mapping[str, str]] = {
    HOST: "physical.host.plugin",
    INSTANCE: "virtual.instance.plugin",
    FLAVOR: "flavor.instance.plugin",
}
"""The entry points of the resource types that hold hosts."""
_STEP: Final = timedelta(days=1)
"""The time between the starts that are tried."""


class Goal(StrEnum):
    """The purpose of reservations."""

    DEDICATED = "dedicated"
    """Whole hosts for a team."""
    BURST = "burst"
    """Capacity for a limited time."""
    FLAVORS = "flavors"
    """Servers of certain flavors whose capacity is certain."""


TYPE_OF: Final[Mapping[Goal, str]] = {Goal.DEDICATED: HOST, Goal.BURST: INSTANCE, Goal.FLAVORS: FLAVOR}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The servers to reserve, and for how long."""

    servers: int
    vcpus: int
    memory_mb: int
    disk_gb: int
    duration: timedelta
    flavor: Flavor | None = None
    """The flavor with these sizes; None if only the sizes are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCost:
    """The reservation of the same servers with one resource type, as early as it is possible."""

    resource_type: str
    is_enabled: bool
    body: Mapping[str, object]
    """The reservation as in a request."""
    problem: str = ""
    """The reason why it is not possible; empty if it is."""
    possible_from: datetime | None = None
    """The first start, in steps of a day from now on."""
    hosts: int = 0
    """The hosts on which it holds something."""
    blocked: Mapping[str, int]
    """The amounts that no other reservation can get, by resource class."""
    asked: Mapping[str, int]
    """The amounts that the servers need, by resource class."""
    most: int = 0
    """How many such servers could be reserved at once for that time, or from now on if it is not possible."""

    @property
    def not_needed(self) -> Mapping[str, float]:
        """Return how much of what is blocked the servers do not need, in per cent, by resource class."""
        return {
            key: round(100 * (1 - self.asked.get(key, 0) / amount), 1)
            for key, amount in self.blocked.items()
            if amount
        }


def flavor_named(flavors: Flavors, name: str) -> Flavor:
    """Return the flavor with this id or name. Raises InvalidParameter."""
    for each in flavors.list_flavors():
        if name in (each.id, each.name):
            return each
    raise InvalidParameter("--flavor", f"Nova has no flavor {name[:64]}")


def type_costs(context: Context, asked: Asked, latest: datetime) -> tuple[TypeCost, ...]:
    """Return the cost of each resource type that holds hosts.

    Args:
        context: A context of :func:`~blazar.planning.copy.copied`.
        asked: The servers.
        latest: The latest start.
    """
    typical, start = typical_tree(context), minute_of(context.clock.now())
    starts = [start + number * _STEP for number in range((latest - start) // _STEP + 1)]
    return tuple(_cost(context, asked, key, typical, starts) for key in PLUGIN_NAMES)


def body_of(resource_type: str, asked: Asked, typical: Sequence[HostProvider]) -> Mapping[str, object]:
    """Return a reservation for the servers, as in a request."""
    if resource_type == HOST:
        hosts = _hosts_for(asked, typical)
        return {
            "resource_type": HOST,
            "min": hosts,
            "max": hosts,
            "hypervisor_properties": "",
            "resource_properties": "",
            "before_end": "snapshot",
        }
    common = {"amount": asked.servers, "affinity": None, "resource_properties": ""}
    if resource_type == FLAVOR:
        flavor_id = "" if asked.flavor is None else asked.flavor.id
        return {"resource_type": FLAVOR, "flavor_id": flavor_id, **common}
    sizes = {"vcpus": asked.vcpus, "memory_mb": asked.memory_mb, "disk_gb": asked.disk_gb}
    return {"resource_type": INSTANCE, **sizes, **common}


def _hosts_for(asked: Asked, typical: Sequence[HostProvider]) -> int:
    """Return how many hosts of the most frequent size the servers fill, as they are overcommitted in Nova."""
    fitting = slots_on(typical, _demand_of(asked))
    return -(-asked.servers // fitting) if fitting else asked.servers


def _demand_of(asked: Asked) -> Demand:
    return Demand.of({"VCPU": asked.vcpus, "MEMORY_MB": asked.memory_mb, "DISK_GB": asked.disk_gb})


def _cost(
    context: Context,
    asked: Asked,
    resource_type: str,
    typical: Sequence[HostProvider],
    starts: Sequence[datetime],
) -> TypeCost:
    plugin, body = context.plugins.get(resource_type), body_of(resource_type, asked, typical)
    sizes = zip(CLASSES, (asked.vcpus, asked.memory_mb, asked.disk_gb), strict=True)
    cost = TypeCost(
        resource_type=resource_type,
        is_enabled=plugin is not None,
        body=body,
        blocked={},
        asked={name: asked.servers * size for name, size in sizes if size},
    )
    if plugin is None:
        return replace(cost, problem="the resource type is not enabled")
    if resource_type == FLAVOR and asked.flavor is None:
        return replace(cost, problem="it needs a flavor of Nova: --flavor names one")
    per_unit = slots_on(typical, _demand_of(asked)) if resource_type == HOST else 1
    try:
        spec = plugin.parse(body)
        if isinstance(plugin, ReadsAsLessee):
            spec = plugin.look_up(spec, OperatorCompute(context.cloud.flavors))
        return _earliest(
            context,
            plugin,
            spec,
            [Interval(each, each + asked.duration) for each in starts],
            replace(cost, most=per_unit),
        )
    except BlazarError as error:
        return replace(cost, problem=error.message)


def _earliest(
    context: Context, plugin: Plugin, spec: Any, windows: Sequence[Interval], cost: TypeCost
) -> TypeCost:
    """Return the cost in the first window in which it is possible; *most* is given for one unit."""
    most_now = 0
    for window in windows:
        found, most = _find(context, plugin, spec, window)
        if found is not None:
            held = found.chosen[0]
            return replace(
                cost,
                possible_from=window.start,
                hosts=len(held),
                blocked=_blocked(context, held),
                most=most * cost.most,
            )
        most_now = most if window is windows[0] else most_now
    return replace(cost, problem="not enough of it is free for that time", most=most_now * cost.most)


def _find(context: Context, plugin: Plugin, spec: Any, window: Interval) -> tuple[Found | None, int]:
    """Return what a reservation would get, and how many units are free at once."""
    wish = Wish(
        spec=spec,
        window=window,
        now=context.clock.now(),
        cleaning_time=context.settings.leases.cleaning_time,
    )
    found = find_in_window(context, [Search(plugin=plugin, wish=wish)], window)
    with context.indexes[HOSTS].searching() as view:
        return found, _free_units(view, need_of(plugin, spec), wish)


def _free_units(view: Availability, need: Any, wish: Wish[Any]) -> int:
    suitable = view.matching(need.requirement) & view.reservable()
    now, cleaning = wish.now, wish.cleaning_time
    if need.demand is None:
        return int(np.count_nonzero(suitable & view.free(wish.window, now=now, cleaning_time=cleaning)))
    headroom = view.headroom(need.demand, wish.window, now=now, cleaning_time=cleaning)
    return int(headroom.slots(np.flatnonzero(suitable)).sum())


def _blocked(context: Context, held: Mapping[Any, Any]) -> Mapping[str, int]:
    """Return the amounts that a reservation takes from others."""
    found = dict.fromkeys(CLASSES, 0)
    with context.indexes[HOSTS].searching() as view:
        for key, share in held.items():
            resource = view.get(key)
            root = resource.providers[0].inventories if resource and resource.providers else {}
            amounts = {} if share is None else dict(share.demand.amounts)
            for name in CLASSES:
                if share is not None:
                    found[name] += amounts.get(name, 0) * share.slots
                elif name in root:
                    found[name] += root[name].capacity
    return {key: amount for key, amount in found.items() if amount}


class OperatorCompute:
    """Access of an operator to flavors in place of a lessee's; creates nothing."""

    def __init__(self, flavors: Flavors) -> None:
        self._flavors = flavors

    def find_flavor(self, flavor_id: str) -> Flavor | None:
        """Return the flavor, or None."""
        return self._flavors.find_flavor(flavor_id)

    def list_flavors(self) -> tuple[Flavor, ...]:
        """Return all flavors."""
        return self._flavors.list_flavors()

    def create_server_group(self, name: str, policy: str) -> ServerGroup:
        """Refuse. Raises InvalidParameter."""
        raise InvalidParameter("affinity", f"a plan creates no server group ({name}, {policy})")
