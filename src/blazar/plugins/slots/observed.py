"""Observation of a slot reservation in Nova and Placement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Generic

from blazar.domain.circuit_breaker import CircuitBreaker
from blazar.domain.errors import CloudNotFound, CloudUnavailable
from blazar.domain.lifecycle import Phase
from blazar.domain.providers import Inventory
from blazar.plugins.contract import Assignment
from blazar.plugins.slots.inventories import SlotInventories
from blazar.plugins.slots.items import Kind, SlotItem, SlotsSeen
from blazar.plugins.slots.names import reservation_class
from blazar.plugins.slots.spec import SpecT
from blazar.plugins.slots.wanted import (
    GROUP_KEY,
    flavor_item,
    group_items,
    hypervisor_of,
    inventory_item,
    service_of,
    wanted_flavor,
    wanted_metadata,
)
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Aggregate, Server


class Observation(Generic[SpecT]):
    """One observation of one reservation.

    Three requests read what belongs to the reservation as a whole. From the start on, there is one more
    request for each host; before that, nothing exists on hosts.
    """

    def __init__(
        self,
        cloud: Cloud,
        assignment: Assignment[SpecT],
        phase: Phase,
        *,
        inventories: SlotInventories,
        owner_key: str,
    ) -> None:
        self._cloud = cloud
        self._assignment = assignment
        self._phase = phase
        self._inventories = inventories
        self._owner_key = owner_key
        self._class = reservation_class(assignment.reservation_id)
        self._scopes = {service_of(each): each.id for each in assignment.resources}

    def look(self) -> SlotsSeen:
        """Return the items that exist."""
        reservation_id = self._assignment.reservation_id
        seen = SlotsSeen(
            own=next(iter(self._cloud.aggregates.list_aggregates([reservation_id])), None),
            has_class=self._cloud.placement.has_resource_class(self._class),
            is_over=self._phase is Phase.OVER,
        )
        if self._phase is Phase.RUNNING:
            seen.kept = frozenset(each.id for each in self._assignment.resources)
        seen.items = frozenset(
            {*self._groups(), *self._flavor(seen), *self._of_aggregate(seen), *self._of_class(seen)}
        )
        return seen

    def _groups(self) -> Iterator[SlotItem]:
        """Yield the server group; its existence is checked only when it is to be removed."""
        items = group_items(self._assignment)
        if items and self._phase is Phase.OVER:
            existing = {each.id for each in self._cloud.server_groups.list_server_groups()}
            items = frozenset(each for each in items if each.detail in existing)
        yield from items

    def _flavor(self, seen: SlotsSeen) -> Iterator[SlotItem]:
        found = self._cloud.flavors.find_flavor(self._assignment.reservation_id)
        if found is None:
            return
        wanted = wanted_flavor(self._assignment)
        item = flavor_item(found)
        seen.has_specs = wanted.extra_specs.items() <= found.extra_specs.items()
        has_access = self._has_access()
        if not has_access and not found.extra_specs.keys() <= wanted.extra_specs.keys():
            # Extra specs from before a change of the reservation must not affect where servers are placed.
            item = replace(item, detail=f"{item.detail}, with other extra specs")
        yield item
        if seen.has_specs:
            yield SlotItem(Kind.SPECS)
        if has_access:
            yield SlotItem(Kind.ACCESS)
        seen.servers = self._servers()
        for scope in seen.servers:
            yield SlotItem(Kind.SERVERS, scope)

    def _has_access(self) -> bool:
        if self._phase not in (Phase.RUNNING, Phase.OVER):
            return False
        try:
            projects = self._cloud.flavors.list_flavor_access(self._assignment.reservation_id)
        except CloudNotFound:
            return False
        return self._assignment.project_id in projects

    def _servers(self) -> Mapping[str, tuple[Server, ...]]:
        """Return the servers that must be deleted with the reservation, by scope."""
        servers: dict[str, tuple[Server, ...]] = defaultdict(tuple)
        if self._phase is Phase.OVER:
            for each in self._cloud.servers.list_servers(flavor_id=self._assignment.reservation_id):
                servers[self._scopes.get(each.service_host, "")] += (each,)
        return servers

    def _of_aggregate(self, seen: SlotsSeen) -> Iterator[SlotItem]:
        if seen.own is None:
            return
        yield SlotItem(Kind.AGGREGATE)
        seen.has_metadata = self._has_metadata(seen.own)
        if seen.has_metadata:
            yield SlotItem(Kind.METADATA)
        for each in self._assignment.resources:
            if service_of(each) in seen.own.hosts:
                yield SlotItem(Kind.MEMBER, each.id, service_of(each))
        for service_host in self._strangers(seen):
            yield SlotItem(Kind.MEMBER, service_host, service_host)

    def _has_metadata(self, own: Aggregate) -> bool:
        wanted = wanted_metadata(self._assignment, self._owner_key)
        return wanted.items() <= own.metadata.items() and own.metadata.get(GROUP_KEY) == wanted.get(GROUP_KEY)

    def _of_class(self, seen: SlotsSeen) -> Iterator[SlotItem]:
        if not seen.has_class:
            return
        yield SlotItem(Kind.CLASS)
        hosts = list(self._hosts(seen))
        breaker = CircuitBreaker()
        looks = [partial(self._find_slots, hypervisor_hostname) for _, hypervisor_hostname in hosts]
        found = self._cloud.executor.run([partial(breaker.call, each) for each in looks])
        for (scope, hypervisor_hostname), inventory in zip(hosts, found, strict=True):
            if isinstance(inventory, CloudUnavailable):
                yield SlotItem(Kind.INVENTORY, scope, hypervisor_hostname, "perhaps")
            elif inventory is not None:
                yield inventory_item(scope, hypervisor_hostname, inventory)

    def _find_slots(self, hypervisor_hostname: str) -> Inventory | None:
        return self._inventories.find(self._cloud.placement, hypervisor_hostname, self._class)

    def _hosts(self, seen: SlotsSeen) -> Iterator[tuple[str, str]]:
        """Yield the scopes and hypervisors of the hosts that may have slots."""
        if self._phase in (Phase.RUNNING, Phase.OVER):
            for each in self._assignment.resources:
                yield each.id, hypervisor_of(each)
        strangers = self._strangers(seen)
        if strangers:
            for hypervisor in self._cloud.hypervisors.list_hypervisors():
                if hypervisor.service_host in strangers:
                    yield hypervisor.service_host, hypervisor.hypervisor_hostname

    def _strangers(self, seen: SlotsSeen) -> frozenset[str]:
        """Return the hosts in the aggregate that the reservation no longer holds."""
        return seen.own.hosts - self._scopes.keys() if seen.own else frozenset()
