"""The items that should exist for a slot reservation, as they are observed and made.

Names and values are those of the existing service: other software relies on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from blazar.domain.lifecycle import Phase
from blazar.domain.providers import Inventory
from blazar.plugins.contract import AllocatedResource, Assignment
from blazar.plugins.slots.items import Kind, SlotItem
from blazar.plugins.slots.names import flavor_name, reservation_class
from blazar.plugins.slots.spec import SpecT
from blazar.ports.compute import Flavor

RESERVATION_SPEC = "aggregate_instance_extra_specs:reservation"
"""The extra spec by which BlazarFilter recognizes the flavor of a reservation."""
GROUP_KEY = "affinity_id"
"""Key of the server group's id, if there is one, in the flavor's extra specs and the aggregate's metadata."""


def wanted_items(assignment: Assignment[SpecT], phase: Phase) -> frozenset[SlotItem]:
    """Return the items that should exist in a phase."""
    if phase is Phase.OVER:
        return frozenset()
    items = {*group_items(assignment)}
    if phase is not Phase.AHEAD:
        items.add(flavor_item(wanted_flavor(assignment)))
        items |= {SlotItem(kind) for kind in (Kind.SPECS, Kind.AGGREGATE, Kind.METADATA, Kind.CLASS)}
    if phase is Phase.RUNNING:
        items.add(SlotItem(Kind.ACCESS))
        for resource in assignment.resources:
            items.add(inventory_item(resource.id, hypervisor_of(resource), wanted_inventory(resource)))
            items.add(SlotItem(Kind.MEMBER, resource.id, service_of(resource)))
    return frozenset(items)


def group_items(assignment: Assignment[SpecT]) -> frozenset[SlotItem]:
    """Return the server group, if the reservation has one."""
    group_id = assignment.spec.server_group_id
    return frozenset({SlotItem(Kind.GROUP, detail=group_id)} if group_id else ())


def flavor_item(flavor: Flavor) -> SlotItem:
    """Return the item of a flavor; flavors of other sizes, and public ones, have different items."""
    sizes = f"{flavor.vcpus} vcpus, {flavor.memory_mb} MB, {flavor.disk_gb} + {flavor.ephemeral_gb} GB"
    return SlotItem(Kind.FLAVOR, detail=f"{sizes}, public" if flavor.is_public else sizes)


def inventory_item(scope: str, hypervisor_hostname: str, inventory: Inventory) -> SlotItem:
    """Return the item of a slot inventory; inventories with other numbers of slots have different items."""
    slots = str(inventory.total)
    detail = slots if inventory == slots_inventory(inventory.total) else f"{slots}, altered: {inventory}"
    return SlotItem(Kind.INVENTORY, scope, hypervisor_hostname, detail)


def wanted_flavor(assignment: Assignment[SpecT]) -> Flavor:
    """Return the flavor for servers of the reservation."""
    spec, reservation_id = assignment.spec, assignment.reservation_id
    pattern = spec.pattern
    extra_specs = {
        **pattern.extra_specs,
        RESERVATION_SPEC: reservation_id,
        f"resources:{reservation_class(reservation_id)}": "1",
    }
    if spec.server_group_id:
        extra_specs[GROUP_KEY] = spec.server_group_id
    return replace(
        pattern,
        id=reservation_id,
        name=flavor_name(reservation_id),
        is_public=False,
        extra_specs=extra_specs,
    )


def wanted_metadata(assignment: Assignment[SpecT], owner_key: str) -> Mapping[str, str]:
    """Return the metadata of the reservation's aggregate."""
    metadata = {
        "reservation": assignment.reservation_id,
        "filter_tenant_id": assignment.project_id,
        owner_key: assignment.project_id,
    }
    if assignment.spec.server_group_id:
        metadata[GROUP_KEY] = assignment.spec.server_group_id
    return metadata


def wanted_inventory(resource: AllocatedResource) -> Inventory:
    """Return the slot inventory of a host; zero slots if the resource has no share."""
    return slots_inventory(resource.share.slots if resource.share else 0)


def slots_inventory(slots: int) -> Inventory:
    """Return an inventory from which every server takes one unit."""
    return Inventory(total=slots, max_unit=1)


def hypervisor_of(resource: AllocatedResource) -> str:
    """Return the host's name in Placement."""
    return str(resource.facts["hypervisor_hostname"])


def service_of(resource: AllocatedResource) -> str:
    """Return the host's name in Nova's aggregates."""
    return str(resource.facts["service_name"])
