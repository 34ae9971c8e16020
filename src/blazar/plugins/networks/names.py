"""Names of the networks of a reservation, and how they are recognized.

A lessee may rename, retag, describe and delete the network. Three other things decide: the segment, which
only administrators choose; the project, which never changes; and the service's own records. Before a network
is created, the service records that the project had no network on the segment. From then on, a network of the
project on the segment is the reservation's, until the id of the created network is recorded; then only the
network with this id is. So neither a crash nor a lost response makes the service lose its network, and a
network that an operator puts on the segment later is never deleted.

Tags and the description name the reservation only for lessees and for the sweep.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from blazar.plugins.neutron_tags import named_reservations, reservation_tag
from blazar.ports.segments import SegmentNetwork


def network_description(text: str, reservation_id: str) -> str:
    """Return the description of a network: the lessee's text, and the reservation."""
    tag = reservation_tag(reservation_id)
    return f"{text} ({tag})" if text else tag


def reservations_of(found: SegmentNetwork) -> frozenset[str]:
    """Return the ids of the reservations named in tags or, without tags, the description; unchecked."""
    words = (each.strip("()") for each in found.description.split())
    return named_reservations(found.tags) or named_reservations(frozenset(words))


def choose_names(
    name: str, reservation_id: str, scopes: Collection[str], taken: Collection[str]
) -> Mapping[str, str]:
    """Return a name for the network of each scope without one, with a number if there are several networks.

    Args:
        name: The requested name; empty for a name made from the reservation's id.
        reservation_id: The reservation.
        scopes: The scopes without a network.
        taken: The present names of the networks of the other scopes.
    """
    name = name or f"reservation-{reservation_id}"
    if len(scopes) + len(taken) == 1:
        return dict.fromkeys(scopes, name)
    return dict(zip(sorted(scopes), _numbered(name, taken), strict=False))


def _numbered(name: str, taken: Iterable[str]) -> Iterator[str]:
    used, number = frozenset(taken), 0
    while True:
        number += 1
        if f"{name}-{number}" not in used:
            yield f"{name}-{number}"
