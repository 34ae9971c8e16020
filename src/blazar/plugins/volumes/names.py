"""Names and marks by which the volume types of reservations are found in Cinder.

Only administrators create and change volume types, so their names and extra specs are reliable. Cinder's
scheduler ignores extra specs with an unknown prefix, such as ``blazar:``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from blazar.ports.block_storage import VolumeType

RESERVATION: Final = "blazar:reservation"
"""The extra spec with the reservation's id."""
RESOURCE: Final = "blazar:resource"
"""The extra spec with the id of the pool as a resource of the service."""

_PREFIX: Final = "reservation:"
_RESOURCE_DIGITS: Final = 8


def type_name(reservation_id: str, resource_id: str) -> str:
    """Return the name of the volume type with which a reservation uses a pool; unique in Cinder."""
    return f"{_PREFIX}{reservation_id}:{resource_id[:_RESOURCE_DIGITS]}"


def extra_specs(
    reservation_id: str, resource_id: str, backend_name: str, pool_name: str
) -> Mapping[str, str]:
    """Return the extra specs of a type: the pool to which it is pinned, and the service's marks."""
    return {
        "volume_backend_name": backend_name,
        "pool_name": pool_name,
        RESERVATION: reservation_id,
        RESOURCE: resource_id,
    }


def reservation_of(volume_type: VolumeType) -> str | None:
    """Return the reservation to which a type belongs; None if the service did not create it."""
    owner = volume_type.extra_specs.get(RESERVATION)
    if owner is None or volume_type.is_public or not volume_type.name.startswith(f"{_PREFIX}{owner}:"):
        return None
    return owner
