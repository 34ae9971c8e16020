"""The slots of hosts in Placement: inventories of a nested provider that has no others.

All reservations on a host share its provider, so concurrent updates are expected.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.domain.providers import Inventory
from blazar.plugins.slots.names import provider_name
from blazar.ports.placement import Placement

NewTurn = Callable[[], AbstractContextManager[object]]

_PUT_ATTEMPTS = 10
_DELETE_ATTEMPTS = 3


class SlotInventories:
    """Reader and writer of slot inventories; thread-safe.

    The provider of each host is cached until a request shows that it is gone.
    """

    def __init__(self, new_turn: NewTurn = threading.Lock) -> None:
        """Create an empty cache.

        Args:
            new_turn: Makes the lock of a host, with which the writers of one process avoid conflicts in
                Placement. It is not needed for correctness.
        """
        self._uuids: dict[str, str] = {}
        self._turns: dict[str, AbstractContextManager[object]] = defaultdict(new_turn)

    def find(self, placement: Placement, hypervisor_hostname: str, resource_class: str) -> Inventory | None:
        """Return a host's inventory of a class, or None."""
        for _ in range(2):
            uuid = self._find_provider(placement, hypervisor_hostname)
            if uuid is None:
                return None
            try:
                return placement.get_inventories(uuid).by_class.get(resource_class)
            except CloudNotFound:
                self._forget(hypervisor_hostname)
        return None

    def count_used(self, placement: Placement, hypervisor_hostname: str, resource_class: str) -> int:
        """Return how many slots of a host are allocated, including those of servers being scheduled."""
        for _ in range(2):
            uuid = self._find_provider(placement, hypervisor_hostname)
            if uuid is None:
                return 0
            try:
                return placement.get_usages(uuid).get(resource_class, 0)
            except CloudNotFound:
                self._forget(hypervisor_hostname)
        return 0

    def put(
        self, placement: Placement, hypervisor_hostname: str, resource_class: str, inventory: Inventory
    ) -> bool:
        """Create or replace a host's inventory of a class; other inventories are unchanged.

        Returns:
            Whether Placement has the host.

        Raises:
            CloudConflict: All attempts failed because of concurrent updates.
        """
        refusal: CloudConflict | None = None
        for _ in range(_PUT_ATTEMPTS):
            uuid = self._find_provider(placement, hypervisor_hostname)
            uuid = uuid or self._create_provider(placement, hypervisor_hostname)
            if uuid is None:
                return False
            try:
                with self._turns[hypervisor_hostname]:
                    self._put_once(placement, uuid, resource_class, inventory)
            except CloudNotFound:
                self._forget(hypervisor_hostname)
            except CloudConflict as error:
                refusal = error
            else:
                return True
        raise refusal or CloudConflict(f"the provider of host {hypervisor_hostname} was repeatedly deleted")

    def delete(self, placement: Placement, hypervisor_hostname: str, resource_class: str) -> bool:
        """Delete a host's inventory of a class; return False if it is still in use."""
        for _ in range(_DELETE_ATTEMPTS):
            uuid = self._find_provider(placement, hypervisor_hostname)
            if uuid is None:
                return True
            try:
                placement.delete_inventory(uuid, resource_class)
            except CloudNotFound:
                # Either the inventory or the provider is gone; the next call searches for the provider again.
                self._forget(hypervisor_hostname)
                return True
            except CloudConflict:
                continue
            return True
        return False

    def _find_provider(self, placement: Placement, hypervisor_hostname: str) -> str | None:
        uuid = self._uuids.get(hypervisor_hostname)
        if uuid is None:
            provider = placement.find_provider(provider_name(hypervisor_hostname))
            if provider is None:
                return None
            uuid = self._uuids[hypervisor_hostname] = provider.uuid
        return uuid

    def _create_provider(self, placement: Placement, hypervisor_hostname: str) -> str | None:
        """Return a new provider under the host's own; None if the host has none."""
        root = placement.find_provider(hypervisor_hostname)
        if root is None:
            return None
        try:
            made = placement.create_provider(provider_name(hypervisor_hostname), root.uuid)
        except CloudConflict:
            return self._find_provider(placement, hypervisor_hostname)
        except CloudRefused:
            return None
        self._uuids[hypervisor_hostname] = made.uuid
        return made.uuid

    def _put_once(self, placement: Placement, uuid: str, resource_class: str, inventory: Inventory) -> None:
        present = placement.get_inventories(uuid)
        by_class = {**present.by_class, resource_class: inventory}
        placement.put_inventories(uuid, replace(present, by_class=by_class))

    def _forget(self, hypervisor_hostname: str) -> None:
        self._uuids.pop(hypervisor_hostname, None)
