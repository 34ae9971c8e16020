"""Creation of the items of a slot reservation, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.plugins.contract import AllocatedResource, Assignment, Done, Outcome, Unusable, Waiting
from blazar.plugins.slots.inventories import SlotInventories
from blazar.plugins.slots.items import Kind, SlotItem, SlotsSeen
from blazar.plugins.slots.spec import SpecT
from blazar.plugins.slots.steps import RETRY, Steps
from blazar.plugins.slots.wanted import (
    GROUP_KEY,
    flavor_item,
    hypervisor_of,
    service_of,
    wanted_flavor,
    wanted_inventory,
    wanted_metadata,
)
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Aggregate


class Build(Steps[SpecT]):
    """The steps for one reservation; each makes one item."""

    def __init__(
        self,
        cloud: Cloud,
        assignment: Assignment[SpecT],
        seen: SlotsSeen,
        *,
        inventories: SlotInventories,
        owner_key: str,
    ) -> None:
        super().__init__(cloud, assignment, seen, inventories=inventories)
        self._owner_key = owner_key

    def make(self, item: SlotItem) -> Outcome:
        """Make one item."""
        steps: Mapping[Kind, Callable[[], Outcome]] = {
            Kind.FLAVOR: self._make_flavor,
            Kind.SPECS: self._set_specs,
            Kind.AGGREGATE: self._make_aggregate,
            Kind.CLASS: self._make_class,
            Kind.ACCESS: self._give_access,
        }
        if item.kind in steps:
            return steps[item.kind]()
        own = self._seen.own
        match item.kind:
            case Kind.METADATA if own is not None:
                return self._set_metadata(own)
            case Kind.MEMBER if own is not None:
                return self._add_member(own, item)
            case Kind.INVENTORY if self._seen.has_class:
                return self._put_inventory(self._resource(item.scope))
            case Kind.METADATA | Kind.MEMBER:
                return Waiting(RETRY, "the aggregate does not exist yet")
            case Kind.INVENTORY:
                return Waiting(RETRY, "the resource class does not exist yet")
        return Done()  # the group was made while the request was served

    def _make_flavor(self) -> Outcome:
        flavor = wanted_flavor(self._assignment)
        try:
            self._cloud.flavors.create_flavor(flavor)
        except CloudConflict as error:
            found = self._cloud.flavors.find_flavor(flavor.id)
            if found is None or flavor_item(found) != flavor_item(flavor):
                return Waiting(RETRY, f"another flavor is in the way: {error.message}")
        else:
            self._seen.has_specs = True
        return Done()

    def _set_specs(self) -> Outcome:
        if not self._seen.has_specs:
            try:
                self._cloud.flavors.set_flavor_extra_specs(
                    self._reservation_id, wanted_flavor(self._assignment).extra_specs
                )
            except CloudNotFound:
                return Waiting(RETRY, "the flavor was deleted concurrently")
        return Done()

    def _make_aggregate(self) -> Outcome:
        metadata = wanted_metadata(self._assignment, self._owner_key)
        try:
            self._seen.own = self._cloud.aggregates.create_aggregate(self._reservation_id, None, metadata)
        except CloudConflict:
            return Waiting(RETRY, "the aggregate was created concurrently")
        self._seen.has_metadata = True
        return Done()

    def _set_metadata(self, own: Aggregate) -> Outcome:
        if not self._seen.has_metadata:
            wanted = wanted_metadata(self._assignment, self._owner_key)
            gone = dict.fromkeys({GROUP_KEY} & own.metadata.keys() - wanted.keys())
            self._cloud.aggregates.set_aggregate_metadata(own.id, {**wanted, **gone})
        return Done()

    def _make_class(self) -> Outcome:
        with suppress(CloudConflict):  # it exists already
            self._cloud.placement.create_resource_class(self._class)
        self._seen.has_class = True
        return Done()

    def _put_inventory(self, resource: AllocatedResource) -> Outcome:
        hypervisor_hostname = hypervisor_of(resource)
        try:
            is_known = self._inventories.put(
                self._cloud.placement, hypervisor_hostname, self._class, wanted_inventory(resource)
            )
        except CloudRefused:
            if self._cloud.placement.has_resource_class(self._class):
                raise
            return Waiting(RETRY, "the resource class was deleted concurrently")
        if not is_known:
            is_gone = service_of(resource) not in self._cloud.hypervisors.list_availability_zones()
            return Unusable(
                f"Placement has no resource provider for host {hypervisor_hostname}", is_final=is_gone
            )
        return Done()

    def _add_member(self, own: Aggregate, item: SlotItem) -> Outcome:
        try:
            self._cloud.aggregates.add_host(own.id, item.host)
        except CloudNotFound:
            if item.host in self._cloud.hypervisors.list_availability_zones():
                return Waiting(RETRY, "the aggregate was deleted concurrently")
            # Slots of released hosts are found by the aggregate, which this host does not enter.
            self._inventories.delete(
                self._cloud.placement, hypervisor_of(self._resource(item.scope)), self._class
            )
            return Unusable(f"Nova no longer has host {item.host}", is_final=True)
        except CloudConflict as error:
            if not self._is_member(own, item.host):
                return Waiting(RETRY, f"host {item.host} cannot join the aggregate yet: {error.message}")
        return Done()

    def _is_member(self, own: Aggregate, service_host: str) -> bool:
        return any(
            each.id == own.id and service_host in each.hosts
            for each in self._cloud.aggregates.list_aggregates()
        )

    def _give_access(self) -> Outcome:
        try:
            self._cloud.flavors.add_flavor_access(self._reservation_id, self._assignment.project_id)
        except CloudConflict:
            return Done()
        except CloudNotFound:
            return Waiting(RETRY, "the flavor was deleted concurrently")
        return Done()

    def _resource(self, resource_id: str) -> AllocatedResource:
        return next(each for each in self._assignment.resources if each.id == resource_id)
