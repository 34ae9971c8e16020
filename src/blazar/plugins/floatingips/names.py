"""Tags by which lessees and the sweep find the floating IPs of a reservation in Neutron.

Lessees look up their addresses by these tags, and can also edit them. Therefore tags never decide the owner
of an address. The service's own records do: a reservation that has begun owns the floating IP at each address
that it holds, if the floating IP is in the lessee's project and has the id that was recorded when it was
created. If no id is recorded, the project alone decides.

Tags need a second request. The description is part of the request that creates a floating IP, and also names
the reservation. So the sweep recognizes a floating IP that Neutron created after the manager stopped waiting.
"""

from __future__ import annotations

from blazar.ports.network import FloatingIP

MARK = "blazar"
"""The tag of every floating IP that the service creates."""

_PREFIX = "reservation:"


def reservation_tag(reservation_id: str) -> str:
    """Return the tag that names a reservation."""
    return f"{_PREFIX}{reservation_id}"


def tags_of(reservation_id: str) -> frozenset[str]:
    """Return all tags of a reservation's floating IPs."""
    return frozenset({MARK, reservation_tag(reservation_id)})


def other_tags(tags: frozenset[str]) -> frozenset[str]:
    """Return the tags that name no reservation; they belong to the lessee."""
    return frozenset(each for each in tags if each != MARK and not each.startswith(_PREFIX))


def named_reservations(tags: frozenset[str]) -> frozenset[str]:
    """Return the ids of the reservations that are named in tags, unchecked."""
    return frozenset(each.removeprefix(_PREFIX) for each in tags if each.startswith(_PREFIX))


def say_in_use(found: FloatingIP) -> str:
    """Return the reason that an address is occupied, for messages."""
    return f"{found.address} is in use in Neutron: floating IP {found.id} of project {found.project_id}"
