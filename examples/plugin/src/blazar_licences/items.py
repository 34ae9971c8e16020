"""What exists at the licence server for a reservation, piece by piece, and what was seen of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum

from blazar.domain.lease import ReservationId
from blazar_licences.port import Grant

_MARK = "blazar:"


class Kind(IntEnum):
    """What exists for a reservation in each of its pools, in the order in which it is made."""

    GRANT = 0
    """The project has seats at all."""
    TERMS = 1
    """How many, and until when. They change while the grant exists, so they are an item of their own."""


@dataclass(frozen=True, slots=True, order=True)
class LicenceItem:
    """One item. ``scope`` is the resource; seats and end are those of the terms."""

    kind: Kind
    scope: str
    pool: str
    seats: int = 0
    until: datetime | None = None

    @property
    def rank(self) -> int:
        """Return the place in the order of making."""
        return int(self.kind)


@dataclass(slots=True, kw_only=True)
class LicencesSeen:
    """What the server showed; a step that makes or changes a grant notes it here."""

    grants: dict[str, Grant] = field(default_factory=dict)
    """The reservation's, by scope."""
    items: frozenset[LicenceItem] = frozenset()
    notes: Mapping[str, object] = field(default_factory=dict)


def grant_id(reservation_id: ReservationId, pool: str) -> str:
    """Return the id of a reservation's grant: our mark, the reservation, the pool."""
    return f"{_MARK}{reservation_id}:{pool}"


def prefix_of(reservation_id: ReservationId | None = None) -> str:
    """Return what the ids of a reservation's grants begin with, or, for None, those of all of ours."""
    return _MARK if reservation_id is None else grant_id(reservation_id, "")


def owner_of(grant: Grant) -> ReservationId:
    """Return the reservation that the id of one of our grants names."""
    return ReservationId(grant.id.removeprefix(_MARK).partition(":")[0])
