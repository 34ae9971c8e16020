"""The items of a licence reservation, and the result of observing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum

from blazar.domain.lease import ReservationId
from blazar_licences.port import Grant

_MARK = "blazar:"


class Kind(IntEnum):
    """The kinds of items that exist in each pool of a reservation, in the order of making."""

    GRANT = 0
    """The project has a grant."""
    TERMS = 1
    """The number of seats and the end. Both can change while the grant exists, so they are separate."""


@dataclass(frozen=True, slots=True, order=True)
class LicenceItem:
    """One item; ``scope`` is the resource; ``seats`` and ``until`` are set only for the terms."""

    kind: Kind
    scope: str
    pool: str
    seats: int = 0
    until: datetime | None = None

    @property
    def rank(self) -> int:
        """Return the position in the order of making."""
        return int(self.kind)


@dataclass(slots=True, kw_only=True)
class LicencesSeen:
    """The state of the server; a step that creates or changes a grant records it here."""

    grants: dict[str, Grant] = field(default_factory=dict)
    """The reservation's grants, by scope."""
    items: frozenset[LicenceItem] = frozenset()
    notes: Mapping[str, object] = field(default_factory=dict)


def grant_id(reservation_id: ReservationId, pool: str) -> str:
    """Return the id of a reservation's grant: the plugin's mark, the reservation, the pool."""
    return f"{_MARK}{reservation_id}:{pool}"


def prefix_of(reservation_id: ReservationId | None = None) -> str:
    """Return the prefix of the ids of a reservation's grants, or, for None, of all of the plugin's grants."""
    return _MARK if reservation_id is None else grant_id(reservation_id, "")


def owner_of(grant: Grant) -> ReservationId:
    """Return the reservation that is named in the id of one of the plugin's grants."""
    return ReservationId(grant.id.removeprefix(_MARK).partition(":")[0])
