"""Removal of the items of a slot reservation, one at a time.

The project first loses access to the flavor, so that no more servers are created. Then its servers are
deleted, and then the other items. Slots that are still in use are waited for.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.plugins.contract import Done, Outcome, Waiting
from blazar.plugins.resizes import confirm, find_resizes
from blazar.plugins.server_results import deleted_servers
from blazar.plugins.slots.items import Kind, SlotItem
from blazar.plugins.slots.spec import SpecT
from blazar.plugins.slots.steps import RETRY, Steps
from blazar.plugins.slots.wanted import RESERVATION_SPEC, service_of
from blazar.ports.compute import Server

_RETRY_SEARCH = timedelta(seconds=30)


class Teardown(Steps[SpecT]):
    """The steps for one reservation; each removes one item."""

    def remove(self, item: SlotItem) -> Outcome:
        """Remove one item."""
        try:
            return self._take_step(item)
        except CloudNotFound:
            return Done()
        except CloudConflict as error:
            return Waiting(RETRY, error.message)

    def _take_step(self, item: SlotItem) -> Outcome:
        match item.kind:
            case Kind.SERVERS:
                return self._delete_servers(self._seen.servers.get(item.scope, ()))
            case Kind.MEMBER:
                return self._remove_member(item)
            case Kind.INVENTORY:
                return self._delete_inventory(item)
            case Kind.CLASS:
                return self._delete_class()
        return self._delete_whole(item)

    def _delete_whole(self, item: SlotItem) -> Outcome:
        """Remove an item that is not on a host."""
        match item.kind:
            case Kind.ACCESS:
                self._cloud.flavors.remove_flavor_access(self._reservation_id, self._assignment.project_id)
            case Kind.AGGREGATE if self._seen.own is not None:
                self._cloud.aggregates.delete_aggregate(self._seen.own.id)
            case Kind.FLAVOR:
                self._cloud.flavors.delete_flavor(self._reservation_id)
            case Kind.GROUP:
                self._cloud.server_groups.delete_server_group(item.detail)
        return Done()  # metadata is deleted with the aggregate, extra specs with the flavor

    def _delete_servers(self, servers: tuple[Server, ...]) -> Outcome:
        for each in servers:
            if not each.is_deleting:
                # A server that is gone or cannot be deleted now does not block the others.
                with suppress(CloudNotFound, CloudConflict):
                    self._cloud.servers.delete_server(each.id)
        return Waiting(
            RETRY,
            f"servers are being deleted: {', '.join(sorted(each.id for each in servers))}",
            deleted_servers(servers, self._assignment.project_id),
        )

    def _remove_member(self, item: SlotItem) -> Outcome:
        """Remove a host from the aggregate; delete its slots first if the reservation no longer holds it.

        The membership is the only record that such a host may still have slots.
        """
        is_held = any(each.id == item.scope for each in self._assignment.resources)
        if not is_held:
            for each in self._seen.items:
                outcome = self._delete_inventory(each) if _is_inventory_of(each, item.scope) else Done()
                if not isinstance(outcome, Done):
                    return outcome
        if self._seen.own is not None:
            self._cloud.aggregates.remove_host(self._seen.own.id, item.host)
        return Done()

    def _delete_inventory(self, item: SlotItem) -> Outcome:
        if item.scope in self._seen.kept:
            return Done()  # the number of slots changes; the inventory is replaced in place
        if self._inventories.delete(self._cloud.placement, item.host, self._class):
            return Done()
        if self._seen.is_over:
            servers = self._servers_using_slots(item)
            if servers:
                return self._delete_servers(servers)
            # Servers that left the host may still keep slots there.
            resizes = find_resizes(self._cloud, self._assignment, {self._service_host(item)})
            if resizes:
                return confirm(self._cloud, resizes[0])
        return Waiting(RETRY, f"slots on host {item.host} are still in use")

    def _servers_using_slots(self, item: SlotItem) -> tuple[Server, ...]:
        """Return the servers that Nova does not list by flavor because the flavor was re-created."""
        return tuple(
            each
            for each in self._cloud.servers.list_servers(service_host=self._service_host(item))
            if each.flavor_extra_specs.get(RESERVATION_SPEC) == self._reservation_id
        )

    def _service_host(self, item: SlotItem) -> str:
        return next(
            (service_of(each) for each in self._assignment.resources if each.id == item.scope), item.scope
        )

    def _delete_class(self) -> Outcome:
        try:
            self._cloud.placement.delete_resource_class(self._class)
        except CloudConflict:
            is_found = self._delete_forgotten_slots()
            reason = f"resource class {self._class} is still in use"
            return Waiting(RETRY if is_found else _RETRY_SEARCH, reason)
        return Done()

    def _delete_forgotten_slots(self) -> bool:
        """Search all hosts for slots, delete them, and return whether any were found.

        A host can have slots without being held or in the aggregate only if a manager was stopped between two
        steps. So this rare search may be slow.
        """
        found = [
            SlotItem(Kind.INVENTORY, each.service_host, each.hypervisor_hostname)
            for each in self._cloud.hypervisors.list_hypervisors()
            if self._inventories.find(self._cloud.placement, each.hypervisor_hostname, self._class)
        ]
        for each in found:
            self._delete_inventory(each)
        return bool(found)


def _is_inventory_of(item: SlotItem, scope: str) -> bool:
    return item.kind is Kind.INVENTORY and item.scope == scope
