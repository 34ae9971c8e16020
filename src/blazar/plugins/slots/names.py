"""Names of the objects of slot reservations in Nova and Placement.

Other software relies on them, and leftovers are found by them.
"""

from __future__ import annotations

from blazar.domain.lease import ReservationId, is_canonical_id

_PREFIX = "reservation:"
_CLASS_PREFIX = "CUSTOM_RESERVATION_"
_PROVIDER_PREFIX = "blazar_"


def provider_name(hypervisor_hostname: str) -> str:
    """Return the name of the nested provider for a host's reservation classes."""
    return f"{_PROVIDER_PREFIX}{hypervisor_hostname}"


def reservation_class(reservation_id: str) -> str:
    """Return the resource class of the reservation; each of its servers takes one unit."""
    return _CLASS_PREFIX + reservation_id.upper().replace("-", "_")


def flavor_name(reservation_id: str) -> str:
    """Return the name of the reservation's flavor; the flavor's id is the reservation's."""
    return f"{_PREFIX}{reservation_id}"


def group_name(reservation_id: str) -> str:
    """Return the name of the reservation's server group."""
    return f"{_PREFIX}{reservation_id}"


def id_of_class(name: str) -> ReservationId | None:
    """Return the id of the reservation whose resource class has this name; None for other names."""
    reservation_id = name.removeprefix(_CLASS_PREFIX).lower().replace("_", "-")
    is_ours = is_canonical_id(reservation_id) and name == reservation_class(reservation_id)
    return ReservationId(reservation_id) if is_ours else None


def id_of_name(name: str) -> ReservationId | None:
    """Return the id of the reservation whose flavor or server group has this name; None for other names."""
    reservation_id = name.removeprefix(_PREFIX)
    is_ours = is_canonical_id(reservation_id) and name == flavor_name(reservation_id)
    return ReservationId(reservation_id) if is_ours else None
