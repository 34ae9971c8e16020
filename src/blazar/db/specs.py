"""Columns with the spec of a reservation, or with whole reservations that are not leased."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime

from blazar.damage import damaged_rows
from blazar.domain.grouping import Grouping
from blazar.domain.lease import LeaseId, Reservation, ReservationId, StoredSpec
from blazar.ports.specs import SpecCodec


class SpecColumn:
    """Decodes and encodes specs with the codecs of their resource types."""

    def __init__(self, codecs: Mapping[str, SpecCodec]) -> None:
        self._codecs = codecs

    def encode(self, reservation: Reservation) -> str:
        """Return the text to store for the spec of a reservation."""
        spec = reservation.spec
        if isinstance(spec, StoredSpec):
            return json.dumps(dict(spec.content))
        return json.dumps(dict(self._codecs[reservation.resource_type].encode(spec)))

    def decode(self, content: Mapping[str, object], resource_type: str, reservation_id: str) -> object:
        """Return the spec; a :class:`StoredSpec` if its type has no codec, or if the codec cannot read it."""
        codec = self._codecs.get(resource_type)
        if codec is None:
            return StoredSpec(content)
        try:
            return codec.decode(content)
        except Exception:
            # A codec may raise anything. One damaged row must not hide the others.
            damaged_rows.note("reservations", "spec", reservation_id)
            return StoredSpec(content)

    def encode_requested(self, reservations: Iterable[Reservation]) -> str:
        """Return the text to store for the reservations of an offer, or of a refused request."""
        return json.dumps(
            [
                {
                    "id": each.id,
                    "resource_type": each.resource_type,
                    "spec": json.loads(self.encode(each)),
                    "grouping": None if each.grouping is None else asdict(each.grouping),
                }
                for each in reservations
            ]
        )

    def decode_requested(self, text: str, lease_id: LeaseId, created_at: datetime) -> tuple[Reservation, ...]:
        """Return the reservations that :meth:`encode_requested` stored, as those of a lease."""
        return tuple(
            Reservation(
                id=ReservationId(each["id"]),
                lease_id=lease_id,
                resource_type=each["resource_type"],
                spec=self.decode(each["spec"], each["resource_type"], each["id"]),
                grouping=Grouping(**each["grouping"]) if each.get("grouping") else None,
                created_at=created_at,
                updated_at=created_at,
            )
            for each in json.loads(text)
        )
