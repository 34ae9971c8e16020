"""Port: how much is free, now and according to the bookings, for monitoring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from blazar.domain.forecast import Forecast

RESOURCES: Final = "resources"
"""The unit in which whole resources are counted; the other units are resource classes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityLevel:
    """The forecast for resources of a collection that have the same value of a property."""

    collection: str
    unit: str
    """:data:`RESOURCES`, or a resource class."""
    property: str = ""
    """Empty for all resources of the collection."""
    value: str = ""
    """Empty for resources without the property."""
    forecast: Forecast


class CapacityReader(Protocol):
    """Reader of the levels."""

    def read(self) -> Sequence[CapacityLevel]:
        """Return the levels of all collections.

        Raises:
            Unavailable: The database does not answer.
        """
