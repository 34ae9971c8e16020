"""Creation of the requested volumes at the start of a reservation, once.

Cinder does not refuse a volume that exists already, so each has marks in its metadata, by which it is found
before it is created again. When all exist, or some time after the start, the result is stored with the spec:
from then on, a volume that the lessee deletes stays deleted.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.plugins.contract import Assignment, Done, Outcome, Waiting
from blazar.plugins.volumes.names import RESERVATION
from blazar.plugins.volumes.requested import find_places
from blazar.plugins.volumes.spec import VolumeSpec
from blazar.ports.block_storage import NewVolume, Volume, VolumeType
from blazar.ports.cloud import Cloud

PATIENCE: Final = timedelta(minutes=10)
"""Time after the start for which a refused volume is tried again; then the lease starts without it."""

_NUMBER: Final = "blazar:volume"
"""The key of a volume's number among the requested ones in its metadata."""
_RETRY: Final = timedelta(seconds=30)

_logger = logging.getLogger(__name__)


def are_due(assignment: Assignment[VolumeSpec]) -> bool:
    """Return whether volumes must be created: they were requested, and neither made nor given up."""
    spec = assignment.spec
    if not spec.volumes or spec.volume_ids is not None:
        return False
    return spec.started_at is None or assignment.now < spec.started_at + PATIENCE


def places_of(assignment: Assignment[VolumeSpec]) -> Mapping[str, Sequence[int]]:
    """Return the numbers of the requested volumes that belong in each pool."""
    return find_places(assignment.spec.volumes, assignment.spec.gibibytes, assignment.resources)


def find_created(reservation_id: str, volumes: Iterable[Volume]) -> Mapping[int, str]:
    """Return the ids of the volumes that were created for a reservation, by number."""
    return {
        int(number): each.id
        for each in volumes
        if each.metadata.get(RESERVATION) == reservation_id
        and (number := each.metadata.get(_NUMBER, "")).isdecimal()
        and number.isascii()
    }


def create_volumes(
    cloud: Cloud, assignment: Assignment[VolumeSpec], scope: str, volume_type: VolumeType
) -> Outcome:
    """Create the requested volumes of a pool that do not exist; a refused one does not prevent others."""
    found = find_created(assignment.reservation_id, cloud.block_storage.list_volumes(volume_type.id))
    storage = cloud.storage_in(assignment.project_id)
    refusals = []
    for number in places_of(assignment).get(scope, ()):
        if number in found:
            continue
        asked = assignment.spec.volumes[number]
        new = NewVolume(
            name=asked.name,
            size=asked.size,
            type_name=volume_type.name,
            image_id=asked.image,
            metadata={RESERVATION: assignment.reservation_id, _NUMBER: str(number)},
        )
        try:
            storage.create_volume(new)
        except (CloudConflict, CloudNotFound, CloudRefused) as error:
            _logger.warning(
                "cannot create a requested volume: reservation_id=%s number=%s reason=%s",
                assignment.reservation_id,
                number,
                error,
            )
            refusals.append(f"volumes[{number}]: {error.message}")
    if refusals:
        return Waiting(_RETRY, f"requested volumes cannot be created: {refusals[0]}")
    return Done()
