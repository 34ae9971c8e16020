"""Observation of a reservation's volume types and volumes in Cinder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from blazar.domain.errors import CloudNotFound
from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import Assignment
from blazar.plugins.volumes.creating import are_due, find_created, places_of
from blazar.plugins.volumes.items import Kind, VolumeItem, VolumesSeen
from blazar.plugins.volumes.names import RESOURCE, reservation_of
from blazar.plugins.volumes.pool_spec import ENDED, MADE, EndAction, PoolSpec, PoolSpecT, encode_instant
from blazar.plugins.volumes.retaining import find_target
from blazar.plugins.volumes.spec import STARTED, VOLUME_IDS, VolumeSpec
from blazar.plugins.volumes.teardown import groups_of_several_types
from blazar.ports.block_storage import BlockStorage, VolumeType


def find_types(storage: BlockStorage, reservation_id: str) -> Mapping[str, VolumeType]:
    """Return the volume types of a reservation, by resource; one request."""
    return _types_of(storage.list_types(), reservation_id)


def observe_volumes(
    storage: BlockStorage, assignment: Assignment[PoolSpecT], phase: Phase, target: str
) -> VolumesSeen:
    """Return the items that exist; one request, and if types exist, two more and one for each pool.

    Volumes are searched for only where they must be removed: when the reservation is over, and in pools that
    it no longer holds.

    Args:
        storage: Cinder.
        assignment: The reservation.
        phase: Its phase.
        target: The name or id of the type to which volumes are moved at the end; may be empty.
    """
    everything = storage.list_types()
    types = _types_of(everything, assignment.reservation_id)
    items = frozenset(_items(storage, assignment, phase, types)) if types else frozenset()
    seen = VolumesSeen(items=items, types=dict(types), target=find_target(everything, target))
    seen.notes = _notes(assignment.spec, assignment.now, phase, seen)
    return seen


def see_created(
    storage: BlockStorage, assignment: Assignment[VolumeSpec], phase: Phase, seen: VolumesSeen
) -> None:
    """Add the requested volumes that exist; one request for each pool that should have some."""
    spec = assignment.spec
    if not spec.volumes or spec.volume_ids is not None:
        return
    if phase is Phase.RUNNING:
        _see_running(storage, assignment, seen)
    elif spec.started_at is not None:
        seen.notes = {**seen.notes, STARTED: None}


def _see_running(storage: BlockStorage, assignment: Assignment[VolumeSpec], seen: VolumesSeen) -> None:
    spec, found, complete = assignment.spec, dict[int, str](), set[VolumeItem]()
    for scope, numbers in places_of(assignment).items():
        volumes = storage.list_volumes(seen.types[scope].id) if scope in seen.types else ()
        created = find_created(assignment.reservation_id, volumes)
        found |= {number: created[number] for number in numbers if number in created}
        if created.keys() >= set(numbers):
            complete.add(VolumeItem(Kind.CREATED, scope))
    is_over = not are_due(assignment)
    if not is_over:
        seen.items |= complete
    more: dict[str, object] = {}
    if is_over or len(found) == len(spec.volumes):
        more[VOLUME_IDS] = [found.get(number) for number in range(len(spec.volumes))]
    if spec.started_at is None:
        more[STARTED] = encode_instant(assignment.now)
    seen.notes = {**seen.notes, **more}


def _types_of(types: Iterable[VolumeType], reservation_id: str) -> Mapping[str, VolumeType]:
    return {
        each.extra_specs.get(RESOURCE, ""): each for each in types if reservation_of(each) == reservation_id
    }


def _notes(spec: PoolSpec, now: datetime, phase: Phase, seen: VolumesSeen) -> Mapping[str, object]:
    """Return the values to store with the spec: the types, and when the end was first seen.

    For volumes to be moved, the end is the present until their target exists: until then, none can be moved.
    """
    notes: dict[str, object] = {}
    made = {scope: each.name for scope, each in seen.types.items()}
    is_delayed = spec.end_action is EndAction.RETAIN and seen.target is None
    is_unseen = spec.end_action is not EndAction.DELETE and spec.ended_at is None
    if phase is Phase.RUNNING and made != spec.made:
        notes[MADE] = made
    if phase is Phase.OVER and (is_unseen or is_delayed):
        notes[ENDED] = encode_instant(now)
    elif phase is not Phase.OVER and spec.ended_at is not None:
        # A reservation in error is over, and may be retried later.
        notes[ENDED] = None
    return notes


def _items(
    storage: BlockStorage, assignment: Assignment[PoolSpecT], phase: Phase, types: Mapping[str, VolumeType]
) -> Iterator[VolumeItem]:
    held = {each.id for each in assignment.resources}
    # At the end, quotas are deleted with their types.
    quotas = (
        {}
        if phase is Phase.OVER
        else storage.get_quotas(assignment.project_id, [each.name for each in types.values()])
    )
    for scope, each in types.items():
        access = _access(storage, each.id)
        must_go = phase is Phase.OVER or scope not in held
        has_volumes = must_go and bool(storage.list_volumes(each.id))
        is_unused = must_go and not access and not has_volumes
        if is_unused and groups_of_several_types(storage.list_groups(), each.id):
            # No project can use it. The sweep deletes it when the groups are gone.
            continue
        yield VolumeItem(Kind.TYPE, scope)
        quota = quotas.get(each.name)
        if quota is not None and quota.limit >= 0:
            yield VolumeItem(Kind.QUOTA, scope, quota.limit)
        if assignment.project_id in access:
            yield VolumeItem(Kind.ACCESS, scope)
        if has_volumes:
            yield VolumeItem(Kind.VOLUMES, scope)


def _access(storage: BlockStorage, type_id: str) -> frozenset[str]:
    try:
        return storage.list_type_access(type_id)
    except CloudNotFound:
        return frozenset()
