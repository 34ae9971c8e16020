"""What exists outside for a reservation of slots, piece by piece, and what was seen of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from blazar.ports.compute import Aggregate, Server


class Kind(IntEnum):
    """What exists for a reservation, in the order in which it is made; the last is taken back first."""

    GROUP = 0
    """The server group; made inside of the request, with the lessee's rights."""
    FLAVOR = 1
    SPECS = 2
    """All extra specs of the flavor."""
    AGGREGATE = 3
    METADATA = 4
    """All metadata of the aggregate."""
    CLASS = 5
    """The resource class of which every server takes one."""
    INVENTORY = 6
    """A host has slots: so many of the class, or, where Placement did not answer, perhaps."""
    MEMBER = 7
    """A host is in the aggregate."""
    SERVERS = 8
    """Servers run on a host whose reservation is over; never wanted."""
    ACCESS = 9
    """The lessee's project may use the flavor; last, so that it sees only what works."""


@dataclass(frozen=True, slots=True, order=True)
class SlotItem:
    """One item; ``host`` is the hypervisor of an inventory, and the compute service of a member.

    ``detail`` tells apart what would be the same but for its content: the flavor's sizes, an inventory's
    slots, the id of the group.
    """

    kind: Kind
    scope: str = ""
    host: str = ""
    detail: str = ""

    @property
    def rank(self) -> int:
        """Return the place in the order of making."""
        return int(self.kind)


@dataclass(slots=True, kw_only=True)
class SlotsSeen:
    """What Nova and Placement showed; steps note here what they bring about for others of the round."""

    items: frozenset[SlotItem] = frozenset()
    own: Aggregate | None = None
    has_class: bool = False
    has_specs: bool = False
    has_metadata: bool = False
    kept: frozenset[str] = frozenset()
    """The scopes of the hosts whose inventories should exist."""
    is_over: bool = False
    servers: Mapping[str, tuple[Server, ...]] = field(default_factory=dict)
    """By scope; those that have to go with the reservation."""

    @property
    def notes(self) -> Mapping[str, object]:
        """Return what clients see: the aggregate while there is one, and that there is no group any more.

        A reservation in error loses its group; if it is tried again, it needs another.
        """
        notes: dict[str, object] = {"aggregate_id": self.own.id} if self.own else {}
        if self.is_over and not any(each.kind is Kind.GROUP for each in self.items):
            notes |= {"server_group_id": None, "group_affinity": None}
        return notes
