"""The items of a slot reservation, and the result of observing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from blazar.ports.compute import Aggregate, Server


class Kind(IntEnum):
    """The kinds of items, in the order in which they are made; they are removed in reverse order."""

    GROUP = 0
    """The server group; made while the request is served, with the lessee's token."""
    FLAVOR = 1
    SPECS = 2
    """All extra specs of the flavor."""
    AGGREGATE = 3
    METADATA = 4
    """All metadata of the aggregate."""
    CLASS = 5
    """The resource class; every server takes one unit of it."""
    INVENTORY = 6
    """A host has slots: the detail is their number, or "perhaps" if Placement did not answer."""
    MEMBER = 7
    """A host is in the aggregate."""
    SERVERS = 8
    """Servers run on a host whose reservation is over; they are only cleaned up."""
    ACCESS = 9
    """The lessee's project may use the flavor; last, so that the project sees only usable flavors."""


@dataclass(frozen=True, slots=True, order=True)
class SlotItem:
    """One item; ``host`` is the hypervisor of an inventory, or the compute service of a member.

    ``detail`` distinguishes items by their content: the flavor's sizes, the number of slots of an inventory,
    the id of the group.
    """

    kind: Kind
    scope: str = ""
    host: str = ""
    detail: str = ""

    @property
    def rank(self) -> int:
        """Return the position in the order in which items are made."""
        return int(self.kind)


@dataclass(slots=True, kw_only=True)
class SlotsSeen:
    """The state of Nova and Placement; steps record here what later steps of the same pass need."""

    items: frozenset[SlotItem] = frozenset()
    own: Aggregate | None = None
    has_class: bool = False
    has_specs: bool = False
    has_metadata: bool = False
    kept: frozenset[str] = frozenset()
    """The scopes of the hosts whose inventories should exist."""
    is_over: bool = False
    servers: Mapping[str, tuple[Server, ...]] = field(default_factory=dict)
    """By scope, the servers that must be deleted with the reservation."""

    @property
    def notes(self) -> Mapping[str, object]:
        """Return keys of the stored spec: the aggregate's id, if it exists, and nulls for a missing group.

        A reservation in error loses its group, and needs a new one if it is retried.
        """
        notes: dict[str, object] = {"aggregate_id": self.own.id} if self.own else {}
        if self.is_over and not any(each.kind is Kind.GROUP for each in self.items):
            notes |= {"server_group_id": None, "group_affinity": None}
        return notes
