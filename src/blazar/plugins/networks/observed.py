"""Observation of a reservation's networks in Neutron."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import Assignment
from blazar.plugins.networks.items import Kind, NetworkItem, NetworksSeen
from blazar.plugins.networks.names import choose_names
from blazar.plugins.networks.segments import segment_of
from blazar.plugins.networks.spec import MADE, NetworkSpec
from blazar.plugins.neutron_tags import other_tags, tags_of
from blazar.ports.segments import SegmentNetwork, Segments


def observe_networks(segments: Segments, assignment: Assignment[NetworkSpec], phase: Phase) -> NetworksSeen:
    """Return the networks of the project on the reservation's segments, in one request.

    A reservation that has not begun owns none of them.
    """
    scopes = {segment_of(each.facts): each.id for each in assignment.resources if not each.is_awaited}
    if not scopes or not assignment.has_begun or not assignment.project_id:
        return NetworksSeen()
    own: dict[str, SegmentNetwork] = {}
    foreign: dict[str, SegmentNetwork] = {}
    for each in segments.list_networks(project_id=assignment.project_id):
        scope = scopes.get(each.segment)
        if scope is not None:
            (own if is_own(each, scope, assignment) else foreign)[scope] = each
    missing = {each.id for each in assignment.resources} - own.keys()
    made = _records([*scopes.values()], own, foreign, assignment) if phase is Phase.RUNNING else {}
    return NetworksSeen(
        items=frozenset(_items(own, assignment)),
        own=own,
        foreign=foreign,
        names=choose_names(
            assignment.spec.network_name,
            assignment.reservation_id,
            missing,
            [each.name for each in own.values()],
        ),
        notes={MADE: made} if phase is Phase.RUNNING and made != assignment.spec.made else {},
    )


def is_own(found: SegmentNetwork, scope: str, assignment: Assignment[NetworkSpec]) -> bool:
    """Return whether a network on a segment of a reservation was created for the reservation.

    If an id is recorded, only the network with this id was. If only the intent to create one is recorded, any
    network of the project was, because none existed when the intent was recorded. Without a record, none was.
    If the records are lost, the project alone decides.
    """
    spec = assignment.spec
    is_recorded = not spec.has_records or spec.made.get(scope) in ("", found.id)
    return found.project_id == assignment.project_id and is_recorded


def _records(
    scopes: Sequence[str],
    own: Mapping[str, SegmentNetwork],
    foreign: Mapping[str, SegmentNetwork],
    assignment: Assignment[NetworkSpec],
) -> Mapping[str, str]:
    """Return the records after this observation; a foreign network does not change the present one."""
    before = assignment.spec.made
    kept: dict[str, str] = {each.id: before[each.id] for each in assignment.resources if each.id in before}
    seen = {each: own[each].id if each in own else "" for each in scopes if each not in foreign}
    return {**kept, **seen}


def _items(own: Mapping[str, SegmentNetwork], assignment: Assignment[NetworkSpec]) -> Iterator[NetworkItem]:
    tags = tags_of(assignment.reservation_id)
    for scope, each in own.items():
        yield NetworkItem(Kind.NETWORK, scope)
        if each.tags - other_tags(each.tags) == tags:
            yield NetworkItem(Kind.TAGS, scope)
