"""Port: the stored form of reservations' specs, which each resource plugin defines for its type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class SpecCodec(Protocol):
    """Converts the specs of one resource type to and from JSON."""

    def encode(self, spec: Any) -> Mapping[str, object]:
        """Return the spec as JSON for the store."""

    def decode(self, stored: Mapping[str, object]) -> Any:
        """Return the spec that :meth:`encode` wrote. Raises any error if *stored* is damaged."""
