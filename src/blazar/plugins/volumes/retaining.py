"""Moving the volumes of a reservation to an ordinary type at its end, so that their data stay.

Cinder copies the data. It accepts a move that it cannot make, and does nothing; so obstacles are examined
first, and the type of each volume is read again in each round. A volume that cannot be moved keeps its
capacity, and the lease waits, until its owner or an operator removes the obstacle or the volume. Its owner
could keep a pool in this way, so volumes with obstacles are deleted when the operator's wait is over. Volumes
that Cinder is moving are not deleted, however long the move takes.

Nova does not swap the root volume of a stopped server. Cinder notices that only after it has agreed to the
move, and restores the status, so a round cannot tell such a volume from one that was never moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.domain.plugin_resources import PluginResource
from blazar.domain.wording import first_few
from blazar.plugins.contract import Done, Outcome, Refused, Result, ResultKind, Waiting
from blazar.plugins.volumes.detaching import delete_group_snapshots, detach, free_volumes
from blazar.plugins.volumes.names import reservation_of
from blazar.plugins.volumes.pools import find_open_types
from blazar.plugins.volumes.settings import VolumeSettings
from blazar.plugins.volumes.teardown import deleted_volumes, name_volume, remove_volume
from blazar.ports.block_storage import BlockStorage, Volume, VolumeType
from blazar.ports.cloud import Cloud

CANNOT_MOVE: Final = "volumes that cannot be moved"
"""Start of the reason that names volumes with obstacles."""

_MOVABLE: Final = frozenset({"available", "in-use"})
_DELETING: Final = "deleting"
_MOVING: Final = "retyping"
_SHORTEST_PAUSE: Final = timedelta(seconds=2)
_LONGEST_PAUSE: Final = timedelta(minutes=10)
_PAUSE_WITHOUT_TARGET: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_NO_TARGET: Final = "the volume type to which volumes are to be moved does not exist"
_FAILED, _SNAPSHOTS, _REFUSED, _ATTACHED = "has failed", "has snapshots", "refused", "attached"
_RESERVED, _BUSY = "is reserved for a server", "is busy"


@dataclass(frozen=True, slots=True)
class Wait:
    """The time for which volumes that cannot be moved are kept."""

    ended_at: datetime
    now: datetime
    longest: timedelta | None
    """None for ever."""

    @property
    def is_over(self) -> bool:
        """Return whether the volumes are to be deleted."""
        return self.longest is not None and self.now - self.ended_at >= self.longest

    @property
    def pause(self) -> timedelta:
        """Return the time until the next round: the longer the moves take, the rarer the attempts."""
        usual = min(max(_SHORTEST_PAUSE, (self.now - self.ended_at) / 10), _LONGEST_PAUSE)
        if self.longest is None or self.is_over:
            return usual
        return max(_SHORTEST_PAUSE, min(usual, self.ended_at + self.longest - self.now))

    def render(self) -> str:
        """Return when the volumes are deleted, as text that follows their names."""
        if self.longest is None:
            return ""
        return f"; they are deleted at {self.ended_at + self.longest:%Y-%m-%d %H:%M} UTC"


def find_target(types: Iterable[VolumeType], name: str) -> VolumeType | None:
    """Return the volume type with this name or id, or None."""
    return next((each for each in types if name in (each.name, each.id)), None) if name else None


def find_target_problem(
    types: Sequence[VolumeType], registered: Iterable[PluginResource], settings: VolumeSettings
) -> str:
    """Return why volumes cannot be moved to the configured type, or an empty text."""
    name = settings.retain_volume_type
    target = find_target(types, name)
    if name and target is None:
        return f"[virtual:volume] retain_volume_type: Cinder has no volume type {name}"
    if target is not None and find_open_types([target], registered):
        return (
            f"[virtual:volume] retain_volume_type: volume type {name} may use registered storage pools, in"
            " which volumes would stay; pin it to another back end"
        )
    return ""


def check_movable(
    storage: BlockStorage, reservation_id: str, name: str, longest: timedelta | None
) -> Outcome:
    """Return Done if all volumes of a reservation can be moved to a type, as far as is known in advance.

    One request, one for each pool, and one for each volume. *name* is the type's name or id, *longest* the
    time after the end for which volumes that cannot be moved are kept; None for ever.
    """
    types = storage.list_types()
    if find_target(types, name) is None:
        return Refused(_NO_TARGET)
    own = [each for each in types if reservation_of(each) == reservation_id]
    volumes = [volume for each in own for volume in storage.list_volumes(each.id)]
    obstacles = find_obstacles(storage, volumes)
    if not obstacles:
        return Done()
    hours = "" if longest is None else f"; they are deleted {longest // _HOUR} hours after the end"
    return Refused(f"{render_obstacles(obstacles)}{hours}")


def find_obstacles(storage: BlockStorage, volumes: Iterable[Volume]) -> Mapping[str, str]:
    """Return why volumes cannot be moved, by id; those that can are omitted. One request for each."""
    found = {}
    for each in volumes:
        if each.has_failed:
            found[each.id] = _FAILED
        elif each.awaits_attachment:
            found[each.id] = _RESERVED
        elif storage.list_snapshots(each.id):
            found[each.id] = _SNAPSHOTS
    return found


def render_obstacles(obstacles: Mapping[str, str]) -> str:
    """Return the reason that names volumes with their obstacles."""
    return f"{CANNOT_MOVE}: {first_few([f'{key} ({each})' for key, each in sorted(obstacles.items())])}"


def move_volumes(
    cloud: Cloud, type_id: str, target: VolumeType | None, wait: Wait, project_id: str
) -> Outcome:
    """Advance the move of all volumes of a type by one step; without volumes, return Done.

    Args:
        cloud: The cloud.
        type_id: The type of the reservation.
        target: The type to which they are moved; None if it does not exist.
        wait: The time since the end, and the time after which volumes that cannot be moved are deleted.
        project_id: The project about whose volumes results are returned.
    """
    volumes = cloud.block_storage.list_volumes(type_id)
    if not volumes:
        return Done()
    if target is not None and wait.is_over:
        delete_group_snapshots(cloud, type_id, cloud.block_storage.list_groups(), volumes)
    volumes = free_volumes(cloud, type_id, volumes)
    moves = _Moves(cloud, target, wait)
    for each in volumes:
        moves.advance(each)
    if target is None:
        return Waiting(_PAUSE_WITHOUT_TARGET, _NO_TARGET)
    return Waiting(moves.pause(), moves.reason(), moves.results(volumes, project_id))


class _Moves:
    """The moves of one round."""

    def __init__(self, cloud: Cloud, target: VolumeType | None, wait: Wait) -> None:
        self._cloud, self._target, self._wait = cloud, target, wait
        self._obstacles: dict[str, str] = {}
        self._deleted: list[str] = []
        self._details: list[str] = []
        self._pending: list[str] = []
        self._moving: list[str] = []

    def advance(self, volume: Volume) -> None:
        """Detach a volume, or start its move, or delete it if it has had an obstacle for too long."""
        if volume.status == _DELETING:
            self._deleted.append(volume.id)
            return
        self._move(volume)
        # If the target is missing, the volume is not to blame.
        if volume.id in self._obstacles and self._target is not None and self._wait.is_over:
            self._deleted.append(volume.id)
            if reason := remove_volume(self._cloud, volume, ignores_status=True):
                self._details.append(reason)

    def _move(self, volume: Volume) -> None:
        obstacle = detach(self._cloud, volume, deletes_servers=False)
        if obstacle:
            self._obstacles[volume.id] = _ATTACHED
            self._details.append(obstacle)
            return
        if self._target is None:
            return
        if volume.status == _MOVING:
            self._moving.append(volume.id)
        elif word := self._find_obstacle(volume):
            self._obstacles[volume.id] = word
            return
        else:
            self._start(volume)
        self._pending.append(volume.id)

    def _find_obstacle(self, volume: Volume) -> str:
        """Return why a move of a volume is not to be started, or an empty text."""
        if found := find_obstacles(self._cloud.block_storage, [volume]):
            return found[volume.id]
        if volume.attachments and self._wait.is_over:
            # A server was booted from it, or it is attached again in each round. Moves have failed until now.
            return _ATTACHED
        return "" if volume.status in _MOVABLE and volume.group_id is None else _BUSY

    def _start(self, volume: Volume) -> None:
        assert self._target is not None
        try:
            self._cloud.block_storage.retype_volume(volume.id, self._target.id)
            self._moving.append(volume.id)
        except CloudNotFound:
            return
        except CloudConflict as error:
            # A volume that has just been detached may be accepted in the next round.
            self._obstacles[volume.id] = _REFUSED
            self._details.append(error.message)

    def pause(self) -> timedelta:
        """Return the time until the next round."""
        return _SHORTEST_PAUSE if self._deleted else self._wait.pause

    def results(self, volumes: Sequence[Volume], project_id: str) -> tuple[Result, ...]:
        """Return the results about the volumes of a project whose move was accepted, or that are deleted."""
        deleted = deleted_volumes([each for each in volumes if each.id in self._deleted], project_id)
        target = "" if self._target is None else f", moved to volume type {self._target.name}"
        moved = tuple(
            Result(ResultKind.SAVED, f"{name_volume(each)}{target}")
            for each in volumes
            if each.id in self._moving and each.project_id == project_id
        )
        return (*moved, *deleted)

    def reason(self) -> str:
        """Return what the volumes wait for, first the obstacles that a person must remove."""
        pending = [each for each in self._pending if each not in self._obstacles]
        stuck = {key: each for key, each in self._obstacles.items() if key not in self._deleted}
        parts = [f"{render_obstacles(stuck)}{self._wait.render()}"] if stuck else []
        parts += [f"volumes are being deleted: {first_few(sorted(self._deleted))}"] if self._deleted else []
        parts += [f"volumes are being moved: {first_few(sorted(pending))}"] if pending else []
        return "; ".join([*parts, *self._details[:1]])
