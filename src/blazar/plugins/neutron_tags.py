"""Tags by which lessees and the sweep find the objects of a reservation in Neutron.

Lessees can edit tags and descriptions. Therefore they never decide the owner of an object; the service's own
records do.
"""

from __future__ import annotations

from typing import Final

MARK: Final = "blazar"
"""The tag of every object in Neutron that the service creates."""

_PREFIX: Final = "reservation:"


def reservation_tag(reservation_id: str) -> str:
    """Return the tag that names a reservation."""
    return f"{_PREFIX}{reservation_id}"


def tags_of(reservation_id: str) -> frozenset[str]:
    """Return all tags of a reservation's objects."""
    return frozenset({MARK, reservation_tag(reservation_id)})


def other_tags(tags: frozenset[str]) -> frozenset[str]:
    """Return the tags that name no reservation; they belong to the lessee."""
    return frozenset(each for each in tags if each != MARK and not each.startswith(_PREFIX))


def named_reservations(tags: frozenset[str]) -> frozenset[str]:
    """Return the ids of the reservations that are named in tags, unchecked."""
    return frozenset(each.removeprefix(_PREFIX) for each in tags if each.startswith(_PREFIX))
