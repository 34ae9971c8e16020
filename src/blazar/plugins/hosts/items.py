"""The items of a host reservation, and the result of observing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from blazar.ports.compute import Aggregate, Resize, Server


class Kind(IntEnum):
    """The kinds of items, in the order in which they are made; they are removed in reverse order.

    Displaced and closed hosts, unannounced reservations, servers and resizes are only cleaned up.
    """

    AGGREGATE = 0
    OWNER = 1
    """The aggregate's metadata, without which the lessee may not use it."""
    DISPLACED = 2
    """A host to be released came from the aggregate of another zone."""
    MEMBER = 3
    """A host is in the aggregate."""
    WITHDRAWN = 4
    """A host in the aggregate is not in the freepool."""
    CLOSED = 5
    """A host of the freepool is needlessly closed to preemptible servers."""
    UNANNOUNCED = 6
    """A preemptible server has not been notified yet that it will be deleted."""
    SERVER = 7
    """A server runs on a host whose reservation is over. Without an id, servers may exist."""
    RESIZE = 8
    """A server has left such a host by a resize that can be reverted."""


@dataclass(frozen=True, slots=True, order=True)
class HostItem:
    """One item; ``service_host`` and ``server_id`` are empty where they do not apply."""

    kind: Kind
    scope: str = ""
    service_host: str = ""
    server_id: str = ""

    @property
    def rank(self) -> int:
        """Return the position in the order in which items are made."""
        return int(self.kind)


@dataclass(slots=True, kw_only=True)
class HostsSeen:
    """The state of Nova; steps record aggregates here that they create or change."""

    items: frozenset[HostItem] = frozenset()
    own: Aggregate | None = None
    freepool: Aggregate | None = None
    servers: dict[str, Server] = field(default_factory=dict)
    """The servers that must be deleted with the reservation, by id."""
    resizes: dict[str, Resize] = field(default_factory=dict)
    """The resizes that must be confirmed with the end of the reservation, by server id."""
    deleting_servers: frozenset[str] = field(default_factory=frozenset)
    notes: Mapping[str, object] = field(default_factory=dict)
    """Always empty: clients see no data of a host reservation that is read from the cloud."""
