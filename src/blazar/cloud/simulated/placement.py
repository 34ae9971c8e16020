"""The simulated placement port."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from blazar.cloud.simulated.calls import Service, reads, writes
from blazar.cloud.simulated.state import CloudState, known
from blazar.domain.errors import CloudConflict, CloudRefused
from blazar.domain.providers import Inventory
from blazar.ports.placement import Inventories, Provider

if TYPE_CHECKING:
    from blazar.ports.placement import Placement

STANDARD_CLASSES = frozenset(
    {
        "VCPU",
        "MEMORY_MB",
        "DISK_GB",
        "PCI_DEVICE",
        "SRIOV_NET_VF",
        "NUMA_SOCKET",
        "NUMA_CORE",
        "NUMA_THREAD",
        "NUMA_MEMORY_MB",
        "IPV4_ADDRESS",
        "VGPU",
        "VGPU_DISPLAY_HEAD",
        "NET_BW_EGR_KILOBIT_PER_SEC",
        "NET_BW_IGR_KILOBIT_PER_SEC",
        "PCPU",
        "MEM_ENCRYPTION_CONTEXT",
        "FPGA",
        "PGPU",
        "NET_PACKET_RATE_KILOPACKET_PER_SEC",
        "NET_PACKET_RATE_EGR_KILOPACKET_PER_SEC",
        "NET_PACKET_RATE_IGR_KILOPACKET_PER_SEC",
    }
)
"""The classes that always exist."""

_CUSTOM_CLASS = re.compile(r"CUSTOM_[A-Z0-9_]{1,248}")


class SimulatedPlacement(Service):
    """Providers, their inventories and traits, and resource classes.

    A provider's generation is incremented with every change of its inventories, traits or consumers.
    """

    @reads("placement.find_provider")
    def find_provider(self, name: str) -> Provider | None:
        """Return the provider with exactly this name, or None."""
        return next((each for each in self._state.providers.values() if each.name == name), None)

    @reads("placement.list_tree")
    def list_tree(self, root_uuid: str) -> tuple[Provider, ...]:
        """Return all providers of this tree, the root first; empty if it does not exist."""
        tree = (each for each in self._state.providers.values() if each.root_uuid == root_uuid)
        # A parent is always older than its children.
        return tuple(tree)

    @writes("placement.create_provider")
    def create_provider(self, name: str, parent_uuid: str | None) -> Provider:
        """Return a new provider. Raises CloudConflict and CloudRefused as in the port."""
        return insert_provider(self._state, name, parent_uuid)

    @writes("placement.delete_provider")
    def delete_provider(self, uuid: str) -> None:
        """Delete a provider with its inventories.

        Raises:
            CloudNotFound: It does not exist.
            CloudConflict: It has children or allocations.
        """
        known(self._state.providers, uuid, "resource provider")
        if any(each.parent_uuid == uuid for each in self._state.providers.values()):
            raise CloudConflict(f"resource provider {uuid} has children")
        if any(each.provider_uuid == uuid for each in self._state.consumptions):
            raise CloudConflict(f"resource provider {uuid} has allocations")
        drop_provider(self._state, uuid)

    @reads("placement.get_inventories")
    def get_inventories(self, uuid: str) -> Inventories:
        """Return a provider's inventories with its generation. Raises CloudNotFound."""
        provider = known(self._state.providers, uuid, "resource provider")
        return Inventories(generation=provider.generation, by_class=dict(self._state.inventories[uuid]))

    @reads("placement.get_usages")
    def get_usages(self, uuid: str) -> Mapping[str, int]:
        """Return the allocated amounts of a provider by resource class. Raises CloudNotFound."""
        known(self._state.providers, uuid, "resource provider")
        return {name: self._state.used(uuid, name) for name in self._state.inventories[uuid]}

    @writes("placement.put_inventories")
    def put_inventories(self, uuid: str, inventories: Inventories) -> None:
        """Replace all inventories of a provider.

        An inventory may become smaller than its allocations; then nothing more is allocated from it.

        Raises:
            CloudNotFound: The provider does not exist.
            CloudConflict: Its generation has changed, or a class that would be removed is in use.
            CloudRefused: A resource class does not exist, or an inventory is invalid.
        """
        provider = known(self._state.providers, uuid, "resource provider")
        if provider.generation != inventories.generation:
            raise CloudConflict(
                f"resource provider {uuid} is at generation {provider.generation}, "
                f"not {inventories.generation}"
            )
        for name, inventory in inventories.by_class.items():
            self._check_inventory(name, inventory)
        for name in self._state.inventories[uuid].keys() - inventories.by_class.keys():
            if self._state.used(uuid, name):
                raise CloudConflict(f"inventory of {name} on resource provider {uuid} is in use")
        self._state.inventories[uuid] = dict(inventories.by_class)
        bump_generation(self._state, uuid)

    @writes("placement.delete_inventory")
    def delete_inventory(self, uuid: str, resource_class: str) -> None:
        """Delete one inventory of a provider.

        Raises:
            CloudNotFound: The provider does not exist or has no inventory of the class.
            CloudConflict: The inventory has allocations.
        """
        known(self._state.providers, uuid, "resource provider")
        by_class = dict(self._state.inventories[uuid])
        known(by_class, resource_class, f"inventory on resource provider {uuid} of class")
        if self._state.used(uuid, resource_class):
            raise CloudConflict(f"inventory of {resource_class} on resource provider {uuid} is in use")
        del by_class[resource_class]
        self._state.inventories[uuid] = by_class
        bump_generation(self._state, uuid)

    @reads("placement.list_traits")
    def list_traits(self, uuid: str) -> frozenset[str]:
        """Return the traits of a provider. Raises CloudNotFound."""
        return known(self._state.traits, uuid, "resource provider")

    @writes("placement.create_resource_class")
    def create_resource_class(self, name: str) -> None:
        """Create a class. Raises CloudConflict if it exists, CloudRefused if its name is not ``CUSTOM_…``."""
        if not _CUSTOM_CLASS.fullmatch(name):
            raise CloudRefused(f"{name} is not a name for a custom resource class")
        if name in self._state.custom_classes:
            raise CloudConflict(f"resource class {name} exists")
        self._state.custom_classes |= {name}

    @reads("placement.has_resource_class")
    def has_resource_class(self, name: str) -> bool:
        """Return whether a class with this name exists."""
        return name in STANDARD_CLASSES | self._state.custom_classes

    @reads("placement.list_resource_classes")
    def list_resource_classes(self) -> frozenset[str]:
        """Return the names of all classes, including standard ones."""
        return STANDARD_CLASSES | self._state.custom_classes

    @writes("placement.delete_resource_class")
    def delete_resource_class(self, name: str) -> None:
        """Delete a custom class.

        Raises:
            CloudNotFound: It does not exist.
            CloudConflict: It has an inventory.
            CloudRefused: It is a standard class.
        """
        if name in STANDARD_CLASSES:
            raise CloudRefused(f"resource class {name} is a standard class")
        known({each: each for each in self._state.custom_classes}, name, "resource class")
        if any(name in by_class for by_class in self._state.inventories.values()):
            raise CloudConflict(f"resource class {name} is in use")
        self._state.custom_classes -= {name}

    def _check_inventory(self, name: str, inventory: Inventory) -> None:
        if name not in STANDARD_CLASSES | self._state.custom_classes:
            raise CloudRefused(f"resource class {name} does not exist")
        units = (inventory.total, inventory.min_unit, inventory.max_unit, inventory.step_size)
        fits = 0 <= inventory.reserved <= inventory.total and inventory.allocation_ratio > 0
        if min(units) < 1 or not fits:
            raise CloudRefused(f"inventory of {name} is invalid: {inventory}")


def insert_provider(state: CloudState, name: str, parent_uuid: str | None) -> Provider:
    """Return a new provider without inventories.

    Raises:
        CloudConflict: A provider with this name exists.
        CloudRefused: The parent does not exist.
    """
    if any(each.name == name for each in state.providers.values()):
        raise CloudConflict(f"a resource provider named {name} exists")
    if parent_uuid is not None and parent_uuid not in state.providers:
        raise CloudRefused(f"parent resource provider {parent_uuid} does not exist")
    uuid = state.new_id()
    root_uuid = uuid if parent_uuid is None else state.providers[parent_uuid].root_uuid
    provider = Provider(uuid=uuid, name=name, generation=0, parent_uuid=parent_uuid, root_uuid=root_uuid)
    state.providers[uuid] = provider
    state.inventories[uuid] = {}
    state.traits[uuid] = frozenset()
    return provider


def drop_provider(state: CloudState, uuid: str) -> None:
    """Remove a provider with its inventories and traits."""
    del state.providers[uuid], state.inventories[uuid], state.traits[uuid]


def bump_generation(state: CloudState, uuid: str) -> None:
    """Increment a provider's generation, so that writers with an earlier one are refused."""
    provider = state.providers[uuid]
    state.providers[uuid] = replace(provider, generation=provider.generation + 1)


if TYPE_CHECKING:

    def _witness(placement: SimulatedPlacement) -> Placement:
        return placement
