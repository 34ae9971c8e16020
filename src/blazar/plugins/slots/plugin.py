"""The common part of both slot plugins; only the parsing of requests is missing.

The slots of a host are units of a resource class that exists for one reservation only, on a nested provider.
Every server of the reservation's flavor takes one unit. So Placement itself ensures that servers are placed
on the slots, and that there are not more servers than slots. The aggregate and its metadata are for other
software that reads them.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from blazar.domain.availability import Availability
from blazar.domain.errors import CannotChange, CloudNotFound
from blazar.domain.lease import Holdings, ReservationId, ResourceId
from blazar.domain.lifecycle import Phase
from blazar.domain.quotas import QuotaUnit
from blazar.plugins.capabilities import (
    CleansUp,
    CreatesAsLessee,
    DescribesEnd,
    DescribesUse,
    HasCatalogueEntry,
    HasIndependentSteps,
    HasLeftovers,
    ObservesUse,
    ReleasesWhileActive,
)
from blazar.plugins.contract import Assignment, JsonObject, Outcome, Wish
from blazar.plugins.end_texts import EndText
from blazar.plugins.hosts.host import PUBLIC_HOST_FACTS
from blazar.plugins.hosts.leftovers import host_leftovers
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.used import count_servers
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.plugins.slots.build import Build
from blazar.plugins.slots.choice import choose_slots
from blazar.plugins.slots.inventories import NewTurn, SlotInventories
from blazar.plugins.slots.items import Kind, SlotItem, SlotsSeen
from blazar.plugins.slots.leftovers import slot_leftovers
from blazar.plugins.slots.names import group_name, reservation_class
from blazar.plugins.slots.observed import Observation
from blazar.plugins.slots.spec import SpecT
from blazar.plugins.slots.teardown import Teardown
from blazar.plugins.slots.wanted import (
    RESERVATION_SPEC,
    hypervisor_of,
    service_of,
    slots_inventory,
    wanted_items,
)
from blazar.plugins.units import RequestsUnits
from blazar.ports.cloud import Cloud
from blazar.ports.compute import LesseeCompute

_POLICIES = {True: "affinity", False: "anti-affinity"}
_HIDDEN = frozenset({"devices", "group_affinity"})


class SlotPlugin(
    RequestsUnits[SpecT],
    HasCatalogueEntry,
    DescribesUse[SpecT],
    DescribesEnd[SpecT],
    CreatesAsLessee[SpecT],
    ReleasesWhileActive[SpecT],
    ObservesUse[SpecT],
    HasIndependentSteps,
    CleansUp,
    HasLeftovers,
):
    """A plugin without its resource type and its spec."""

    collection: ClassVar[str] = "host"
    quota_unit: ClassVar[QuotaUnit] = QuotaUnit(name="instance")
    public_facts: ClassVar[frozenset[str]] = PUBLIC_HOST_FACTS
    independent_ranks: ClassVar[frozenset[int]] = frozenset({Kind.INVENTORY, Kind.MEMBER})
    clean_up_ranks: ClassVar[frozenset[int]] = frozenset({Kind.SERVERS})
    end_texts: Sequence[EndText] = (
        EndText(text="The servers with the flavor of the reservation are deleted, with their local disks."),
    )

    def __init__(self, settings: HostSettings, new_turn: NewTurn = threading.Lock) -> None:
        """Create a plugin; *new_turn* as for :class:`SlotInventories`."""
        self._settings = settings
        self._inventories = SlotInventories(new_turn)

    @abstractmethod
    def encode(self, spec: SpecT) -> JsonObject:
        """Return the spec as JSON."""

    def render(self, spec: SpecT) -> JsonObject:
        """Return the keys that clients see."""
        return {key: value for key, value in self.encode(spec).items() if key not in _HIDDEN}

    def describe_use(self, spec: SpecT, reservation_id: ReservationId) -> JsonObject:
        """Return the flavor of the servers and, if they have an affinity, the hint with their group."""
        hints = {} if spec.server_group_id is None else {"group": spec.server_group_id}
        return {"flavor_id": reservation_id, "scheduler_hints": hints}

    def describe_end(self, spec: SpecT) -> Sequence[EndText]:
        """Return that servers are deleted."""
        return self.end_texts

    def choose(self, wish: Wish[SpecT], availability: Availability) -> Holdings:
        """Return the slots that the reservation holds from now on."""
        spec = wish.spec
        return choose_slots(
            wish,
            availability,
            demand=spec.demand,
            amount=spec.amount,
            affinity=spec.affinity,
            requirement=spec.requirement,
        )

    def wanted(self, assignment: Assignment[SpecT], phase: Phase) -> frozenset[SlotItem]:
        """Return the items that have no effect yet shortly before the start, and later all items."""
        return wanted_items(assignment, phase)

    def provide(
        self, spec: SpecT, reservation_id: ReservationId, lessee: LesseeCompute, *, afresh: bool
    ) -> SpecT:
        """Return the spec with the flavor's id and, if it has an affinity, with a server group."""
        spec = replace(spec, flavor_id=reservation_id)
        if spec.affinity is None:
            return replace(spec, server_group_id=None, group_affinity=None)
        has_group = spec.server_group_id is not None and spec.group_affinity is spec.affinity
        if has_group and not afresh:
            return spec
        group = lessee.create_server_group(group_name(reservation_id), _POLICIES[spec.affinity])
        return replace(spec, server_group_id=group.id, group_affinity=spec.affinity)

    def withdraw(self, cloud: Cloud, spec: SpecT, kept: SpecT | None) -> None:
        """Delete the spec's server group, unless the kept spec has the same."""
        if spec.server_group_id is None or (kept and kept.server_group_id == spec.server_group_id):
            return
        try:
            cloud.server_groups.delete_server_group(spec.server_group_id)
        except CloudNotFound:
            return

    def count_in_use(
        self, cloud: Cloud, assignment: Assignment[SpecT], before: SpecT
    ) -> Mapping[ResourceId, int]:
        """Return the number of servers by host if the reservation is to shrink; otherwise nothing."""
        if assignment.spec.amount >= before.amount:
            return {}
        resource_class = reservation_class(assignment.reservation_id)
        return {
            each.id: self._inventories.count_used(cloud.placement, hypervisor_of(each), resource_class)
            for each in assignment.resources
        }

    def observe_use(
        self, cloud: Cloud, assignments: Sequence[Assignment[SpecT]]
    ) -> Mapping[ReservationId, Mapping[ResourceId, int]]:
        """Return the number of servers of each reservation's flavor by host."""
        return count_servers(
            cloud,
            assignments,
            key_of=lambda server: server.flavor_extra_specs.get(RESERVATION_SPEC),
            key_for=str,
        )

    def release(self, cloud: Cloud, assignment: Assignment[SpecT], kept: Holdings) -> None:
        """Delete the slots that the reservation no longer holds.

        Raises:
            CannotChange: A server took one of them in the meantime.
        """
        resource_class = reservation_class(assignment.reservation_id)
        for each in assignment.resources:
            share, before = kept.get(each.id), each.share.slots if each.share else 0
            slots = share.slots if share else 0
            if slots < before and not self._shrink(cloud, hypervisor_of(each), resource_class, slots):
                raise CannotChange(
                    f"amount: a server has just taken a slot that was to be released on {service_of(each)}"
                )

    def _shrink(self, cloud: Cloud, hypervisor_hostname: str, resource_class: str, slots: int) -> bool:
        """Set the number of slots on a host, and return whether no more are in use."""
        if slots == 0:
            return self._inventories.delete(cloud.placement, hypervisor_hostname, resource_class)
        inventory = slots_inventory(slots)
        self._inventories.put(cloud.placement, hypervisor_hostname, resource_class, inventory)
        return self._inventories.count_used(cloud.placement, hypervisor_hostname, resource_class) <= slots

    def leftover_kinds(self, sweep: Sweep) -> tuple[LeftoverKind, ...]:
        """Return aggregates, hosts, resource classes, flavors and server groups."""
        return (*host_leftovers(sweep, self._settings), *slot_leftovers(sweep))

    def observe(self, cloud: Cloud, assignment: Assignment[SpecT], phase: Phase) -> SlotsSeen:
        """Return the items that exist."""
        return Observation(
            cloud, assignment, phase, inventories=self._inventories, owner_key=self._settings.owner_key
        ).look()

    def make(self, cloud: Cloud, assignment: Assignment[SpecT], item: SlotItem, seen: SlotsSeen) -> Outcome:
        """Make one item."""
        build = Build(
            cloud, assignment, seen, inventories=self._inventories, owner_key=self._settings.owner_key
        )
        return build.make(item)

    def remove(self, cloud: Cloud, assignment: Assignment[SpecT], item: SlotItem, seen: SlotsSeen) -> Outcome:
        """Remove one item."""
        return Teardown(cloud, assignment, seen, inventories=self._inventories).remove(item)
