"""The before-end action ``snapshot``: a backup or a snapshot of every volume of a reservation.

A copy has the reservation and the occasion in its description. So a repeated step finds existing copies, and
a lease that is extended gets new ones before its new end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.domain.wording import first_few
from blazar.plugins.contract import Assignment, Done, Outcome, Refused, Result, ResultKind, Waiting
from blazar.plugins.volumes.observed import find_types
from blazar.plugins.volumes.pool_spec import PoolSpecT
from blazar.ports.block_storage import Volume, VolumeCopy
from blazar.ports.cloud import Cloud

BACKUP: Final = "backup"
SNAPSHOT: Final = "snapshot"

_RETRY: Final = timedelta(seconds=10)
_ATTEMPTS: Final = 3
"""Maximum number of failed copies of one volume on one occasion."""
_PREFIX: Final = "reserved_"
_LONGEST_NAME: Final = 255

_Read = Callable[[str], tuple[VolumeCopy, ...]]
_Create = Callable[[str, str, str], str]


def copy_volumes(cloud: Cloud, assignment: Assignment[PoolSpecT], due: datetime, kind: str) -> Outcome:
    """Copy every volume that has no copy of this occasion, and check whether the copies are complete.

    The copies belong to the lessee's project. Volumes that were given to other projects are not copied.

    Args:
        cloud: The cloud.
        assignment: The reservation.
        due: Distinguishes occasions.
        kind: :data:`BACKUP` or :data:`SNAPSHOT`.

    Returns:
        Waiting, while a copy is being made or a volume is in a state in which it cannot be copied; Refused,
        with the reasons, if some copies cannot be made; Done if all are complete.
    """
    storage, member = cloud.block_storage, cloud.storage_in(assignment.project_id)
    read: _Read = storage.list_backups if kind == BACKUP else storage.list_snapshots
    create: _Create = member.create_backup if kind == BACKUP else member.create_snapshot
    copies = _Copies(kind, read, create, f"blazar:{assignment.reservation_id}:{due.isoformat()}")
    for volume_type in find_types(storage, assignment.reservation_id).values():
        for volume in storage.list_volumes(volume_type.id):
            if volume.project_id == assignment.project_id and volume.status != "deleting":
                copies.advance(volume)
    return copies.outcome()


@dataclass(slots=True)
class _Copies:
    """The copies of one occasion, and the progress for the volumes: texts by volume id."""

    kind: str
    read: _Read
    create: _Create
    occasion: str
    pending: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    saved: list[Result] = field(default_factory=list)

    def advance(self, volume: Volume) -> None:
        """Request a copy of a volume if it needs one, and note the progress."""
        found = self._of_occasion(volume)
        if _is_open(found):
            self._request(volume)
            found = self._of_occasion(volume)
        if any(each.is_complete for each in found):
            # Some clouds complete copies immediately.
            self.pending.pop(volume.id, None)
            self._note_saved(found)
        elif any(not each.has_failed for each in found):
            self.pending[volume.id] = "is being copied"
        elif len(found) >= _ATTEMPTS:
            self.failed[volume.id] = f"{len(found)} copies failed"

    def _note_saved(self, found: Iterable[VolumeCopy]) -> None:
        """Note complete backups; a snapshot is deleted with its volume."""
        if self.kind == BACKUP:
            self.saved += [
                Result(ResultKind.SAVED, f"backup {each.name}") for each in found if each.is_complete
            ]

    def _of_occasion(self, volume: Volume) -> list[VolumeCopy]:
        return [each for each in self.read(volume.id) if each.description == self.occasion]

    def _request(self, volume: Volume) -> None:
        name = f"{_PREFIX}{volume.name}"[:_LONGEST_NAME]
        try:
            self.create(volume.id, name, self.occasion)
        except (CloudConflict, CloudNotFound) as error:
            # A volume that is gone is not listed by the next step.
            self.pending[volume.id] = f"cannot be copied yet: {error.message}"
        except CloudRefused as error:
            self.failed[volume.id] = error.message
        else:
            self.pending[volume.id] = "is being copied"

    def outcome(self) -> Outcome:
        """Return the outcome of the action: Waiting while any volume is pending."""
        reason = _render({**self.failed, **self.pending})
        if self.pending:
            return Waiting(_RETRY, reason)
        return Refused(reason, tuple(self.saved)) if self.failed else Done(tuple(self.saved))


def _is_open(copies: Iterable[VolumeCopy]) -> bool:
    """Return whether to make another copy."""
    listed = list(copies)
    return all(each.has_failed for each in listed) and len(listed) < _ATTEMPTS


def _render(texts: Mapping[str, str]) -> str:
    return first_few([f"volume {key}: {text}" for key, text in sorted(texts.items())])
