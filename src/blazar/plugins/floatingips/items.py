"""What exists outside for a reservation of floating IPs, piece by piece, and what was seen of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from blazar.ports.network import FloatingIP


class Kind(IntEnum):
    """What exists for a reservation, in the order in which it is made; the last is taken back first."""

    ADDRESS = 0
    """A floating IP at the address, in the lessee's project."""
    TAGS = 1
    """It says whose it is. These tags go with it, and never before it."""


@dataclass(frozen=True, slots=True, order=True)
class FloatingIPItem:
    """One item. ``scope`` is the resource, or Neutron's id of what the reservation holds no more."""

    kind: Kind
    scope: str
    network_id: str
    address: str

    @property
    def rank(self) -> int:
        """Return the place in the order of making."""
        return int(self.kind)


@dataclass(slots=True, kw_only=True)
class FloatingIPsSeen:
    """What Neutron showed; a step that makes a floating IP notes it here."""

    items: frozenset[FloatingIPItem] = frozenset()
    own: dict[str, FloatingIP] = field(default_factory=dict)
    """The reservation's, by scope."""
    foreign: Mapping[str, FloatingIP] = field(default_factory=dict)
    """Those of others at addresses of the reservation, by scope."""
    notes: Mapping[str, object] = field(default_factory=dict)
    """Nothing: which addresses a reservation has is not shown."""
