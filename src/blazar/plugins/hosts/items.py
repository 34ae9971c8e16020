"""What exists outside for a host reservation, piece by piece, and what was seen of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from blazar.ports.compute import Aggregate


class Kind(IntEnum):
    """What exists for a reservation, in the order in which it is made; the last is taken back first."""

    AGGREGATE = 0
    OWNER = 1
    """The aggregate's metadata, without which the lessee may not use it."""
    DISPLACED = 2
    """A host that is to be given back came from the aggregate of another zone; never wanted."""
    MEMBER = 3
    """A host is in the aggregate."""
    WITHDRAWN = 4
    """A host in the aggregate is not in the freepool."""
    CLOSED = 5
    """A host of the freepool takes no more preemptible servers, though it need not; never wanted."""
    UNANNOUNCED = 6
    """A preemptible server does not know yet that it will have to go; never wanted."""
    SERVER = 7
    """A server runs on a host whose reservation is over; never wanted. Without an id there may be some."""


@dataclass(frozen=True, slots=True, order=True)
class HostItem:
    """One item; ``service_host`` and ``server_id`` are empty where they do not apply."""

    kind: Kind
    scope: str = ""
    service_host: str = ""
    server_id: str = ""

    @property
    def rank(self) -> int:
        """Return the place in the order of making."""
        return int(self.kind)


@dataclass(slots=True, kw_only=True)
class HostsSeen:
    """What Nova showed; a step that makes the aggregate notes it here."""

    items: frozenset[HostItem] = frozenset()
    own: Aggregate | None = None
    freepool: Aggregate | None = None
    deleting_servers: frozenset[str] = field(default_factory=frozenset)
    notes: Mapping[str, object] = field(default_factory=dict)
    """Nothing: a host reservation shows nothing of what was made for it."""
