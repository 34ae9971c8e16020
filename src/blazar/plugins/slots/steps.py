"""The common part of building and tearing down a slot reservation."""

from __future__ import annotations

from datetime import timedelta
from typing import Generic

from blazar.plugins.contract import Assignment
from blazar.plugins.slots.inventories import SlotInventories
from blazar.plugins.slots.items import SlotsSeen
from blazar.plugins.slots.names import reservation_class
from blazar.plugins.slots.spec import SpecT
from blazar.ports.cloud import Cloud

RETRY = timedelta(seconds=2)


class Steps(Generic[SpecT]):
    """The steps for one reservation; a subclass makes items, or removes them."""

    def __init__(
        self, cloud: Cloud, assignment: Assignment[SpecT], seen: SlotsSeen, *, inventories: SlotInventories
    ) -> None:
        self._cloud = cloud
        self._assignment = assignment
        self._reservation_id = assignment.reservation_id
        self._class = reservation_class(assignment.reservation_id)
        self._seen = seen
        self._inventories = inventories
