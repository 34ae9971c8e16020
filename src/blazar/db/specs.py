"""The column with the spec of a reservation."""

from __future__ import annotations

import json
from collections.abc import Mapping

from blazar.domain.lease import Reservation, StoredSpec
from blazar.ports.damage import damaged_rows
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
