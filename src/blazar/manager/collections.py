"""The collections that the resource types of this distribution declare."""

from __future__ import annotations

from typing import Final

from blazar.booking.context import OwnCollection
from blazar.resource_types import load_parts

COLLECTIONS: Final[tuple[OwnCollection, ...]] = load_parts("collection", OwnCollection)
