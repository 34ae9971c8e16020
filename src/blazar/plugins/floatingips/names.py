"""How Neutron knows what belongs to a reservation of floating IPs: by tags.

Lessees find their addresses by these tags (rest-api 6.4), and by them what was left behind is found again.
"""

from __future__ import annotations

from blazar.domain.lease import ReservationId
from blazar.ports.network import FloatingIP

MARK = "blazar"
"""The tag of everything that was made here."""

_PREFIX = "reservation:"


def reservation_tag(reservation_id: str) -> str:
    """Return the tag that names a reservation."""
    return f"{_PREFIX}{reservation_id}"


def tags_of(reservation_id: str) -> frozenset[str]:
    """Return all tags of a reservation's floating IPs."""
    return frozenset({MARK, reservation_tag(reservation_id)})


def say_in_use(found: FloatingIP) -> str:
    """Return whose a floating IP is that stands in the way, as a sentence."""
    return f"{found.address} is in use in Neutron: floating IP {found.id} of project {found.project_id}"


def is_of_reservation(found: FloatingIP, reservation_id: ReservationId, project_id: str | None) -> bool:
    """Return whether a floating IP at an address that a reservation holds now is the reservation's own.

    Its project must be the lessee's, and it must not name another reservation. One that names none was
    made a moment ago, and its tags are on their way; or they never came; or the lessee has changed them.
    """
    named = {each for each in found.tags if each.startswith(_PREFIX)}
    own = reservation_tag(reservation_id)
    return found.project_id == project_id and (own in named or not named)
