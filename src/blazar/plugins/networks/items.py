"""The items of a reservation of network segments, and the result of observing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from blazar.ports.segments import SegmentNetwork


class Kind(IntEnum):
    """The kinds of items on each segment, in the order in which they are made; removed in reverse order."""

    NETWORK = 0
    """A network on the segment, in the lessee's project; removed with everything that is on it."""
    TAGS = 1
    """Tags by which lessees find the network. They are deleted only together with it."""


@dataclass(frozen=True, slots=True, order=True)
class NetworkItem:
    """One item; ``scope`` is the resource."""

    kind: Kind
    scope: str

    @property
    def rank(self) -> int:
        """Return the position in the order in which items are made."""
        return int(self.kind)


@dataclass(slots=True, kw_only=True)
class NetworksSeen:
    """The state of Neutron; a step that creates a network records it here."""

    items: frozenset[NetworkItem] = frozenset()
    own: dict[str, SegmentNetwork] = field(default_factory=dict)
    """The reservation's networks, by scope."""
    foreign: Mapping[str, SegmentNetwork] = field(default_factory=dict)
    """Other networks of the project on segments of the reservation, by scope."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The names of networks that do not exist yet, by scope."""
    notes: Mapping[str, object] = field(default_factory=dict)
    """The ids of the networks, for the stored spec."""
