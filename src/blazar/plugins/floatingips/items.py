"""The items of a floating IP reservation, and the result of observing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from blazar.ports.network import FloatingIP


class Kind(IntEnum):
    """The kinds of items, in the order in which they are made; they are removed in reverse order."""

    ADDRESS = 0
    """A floating IP with the address, in the lessee's project."""
    TAGS = 1
    """Tags by which lessees find the floating IP. They are deleted only together with it."""


@dataclass(frozen=True, slots=True, order=True)
class FloatingIPItem:
    """One item; ``scope`` is the resource."""

    kind: Kind
    scope: str
    network_id: str
    address: str

    @property
    def rank(self) -> int:
        """Return the position in the order in which items are made."""
        return int(self.kind)


@dataclass(slots=True, kw_only=True)
class FloatingIPsSeen:
    """The state of Neutron; a step that creates a floating IP records it here."""

    items: frozenset[FloatingIPItem] = frozenset()
    own: dict[str, FloatingIP] = field(default_factory=dict)
    """The reservation's floating IPs, by scope."""
    foreign: Mapping[str, FloatingIP] = field(default_factory=dict)
    """Floating IPs of others at addresses of the reservation, by scope."""
    notes: Mapping[str, object] = field(default_factory=dict)
    """The Neutron ids of the reservation's floating IPs, for the stored spec."""
