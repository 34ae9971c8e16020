"""Names under which Nova and Placement know what belongs to a reservation of slots.

Other software relies on them (behaviour 3.0.5, 3.2), and by them what was left behind is found again.
"""

from __future__ import annotations

import uuid

from blazar.domain.lease import ReservationId

_PREFIX = "reservation:"
_CLASS_PREFIX = "CUSTOM_RESERVATION_"
_PROVIDER_PREFIX = "blazar_"


def is_reservation_id(text: str) -> bool:
    """Return whether a text is written as the ids of reservations are: a UUID, lower case, with hyphens."""
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


def provider_name(hypervisor_hostname: str) -> str:
    """Return the name of the nested provider that carries a host's reservation classes."""
    return f"{_PROVIDER_PREFIX}{hypervisor_hostname}"


def reservation_class(reservation_id: str) -> str:
    """Return the resource class of which every server of the reservation takes one."""
    return _CLASS_PREFIX + reservation_id.upper().replace("-", "_")


def flavor_name(reservation_id: str) -> str:
    """Return the name of the reservation's flavor; the flavor's id is the reservation's."""
    return f"{_PREFIX}{reservation_id}"


def group_name(reservation_id: str) -> str:
    """Return the name of the reservation's server group."""
    return f"{_PREFIX}{reservation_id}"


def id_of_class(name: str) -> ReservationId | None:
    """Return the id of the reservation whose resource class has this name; None if it is none's."""
    reservation_id = name.removeprefix(_CLASS_PREFIX).lower().replace("_", "-")
    is_ours = is_reservation_id(reservation_id) and name == reservation_class(reservation_id)
    return ReservationId(reservation_id) if is_ours else None


def id_of_name(name: str) -> ReservationId | None:
    """Return the id of the reservation whose flavor or server group has this name; None if it is none's."""
    reservation_id = name.removeprefix(_PREFIX)
    is_ours = is_reservation_id(reservation_id) and name == flavor_name(reservation_id)
    return ReservationId(reservation_id) if is_ours else None
