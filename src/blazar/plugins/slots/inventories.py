"""The slots of hosts in Placement: inventories of a nested provider that carries nothing else.

A provider is shared by all reservations on its host, so everybody who changes it sees others do the same.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.plugins.slots.names import provider_name
from blazar.ports.placement import Inventory, Placement

NewTurn = Callable[[], AbstractContextManager[object]]

_PUT_ATTEMPTS = 10
_DELETE_ATTEMPTS = 3


class SlotInventories:
    """Reads and writes them. Safe for use by several threads.

    Which provider belongs to which host is remembered until it turns out to be gone.
    """

    def __init__(self, new_turn: NewTurn = threading.Lock) -> None:
        """Know nothing yet.

        Args:
            new_turn: Makes what writers of one process take turns by, for each host: they need not meet in
                Placement to find out about each other. If they do, all goes well, too.
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
        """Return how many slots of a host servers have, those too that are just being placed."""
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
        """Make or replace a host's inventory of a class, and leave others alone.

        Returns:
            Whether the host is known to Placement.

        Raises:
            CloudConflict: Others have been faster, again and again.
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
        raise refusal or CloudConflict(f"the provider of host {hypervisor_hostname} comes and goes")

    def delete(self, placement: Placement, hypervisor_hostname: str, resource_class: str) -> bool:
        """Do away with a host's inventory of a class; return whether it is gone, and not in use."""
        for _ in range(_DELETE_ATTEMPTS):
            uuid = self._find_provider(placement, hypervisor_hostname)
            if uuid is None:
                return True
            try:
                placement.delete_inventory(uuid, resource_class)
            except CloudNotFound:
                # The inventory, or the provider, and then whoever looks next finds the one that is.
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
        """Return a new provider below the host's own; None if there is none to put it below."""
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
