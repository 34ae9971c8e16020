"""Cinder as a member of one project uses it, simulated."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from blazar.cloud.simulated.block_storage import find_pool, insert_copy, quota_refusal, visible_type
from blazar.cloud.simulated.calls import Calls, Service, writes
from blazar.cloud.simulated.state import CloudState, known
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.block_storage import NewVolume, Volume, VolumeCopy

if TYPE_CHECKING:
    from blazar.ports.block_storage import ProjectStorage

_READABLE = frozenset({"available", "in-use"})


class SimulatedProjectStorage(Service):
    """Volumes, snapshots and backups of one project; a backup takes *copy_time*."""

    def __init__(self, calls: Calls, project_id: str, *, copy_time: timedelta) -> None:
        super().__init__(calls)
        self._project_id = project_id
        self._copy_time = copy_time

    def _served(self) -> CloudState:
        """Return the state. Raises CloudRefused if the service has no role in the project."""
        state = self._state
        if self._project_id not in state.served_projects:
            raise CloudRefused(f"the account of the service has no role in project {self._project_id}")
        return state

    @writes("project_storage.create_volume")
    def create_volume(self, new: NewVolume) -> str:
        """Return the id of a new volume, which has failed if no pool has room for it."""
        state = self._served()
        volume_type = visible_type(state, self._project_id, new.type_name)
        if new.image_id is not None:
            image = state.images.get(new.image_id)
            if image is None or image.owner_project_id != self._project_id:
                raise CloudRefused(f"there is no image {new.image_id}")
        if refusal := quota_refusal(state, self._project_id, new.type_name, new.size):
            raise CloudConflict(refusal)
        pool = find_pool(state, volume_type, new.size)
        made = Volume(
            id=state.new_id(),
            name=new.name,
            project_id=self._project_id,
            size=new.size,
            type_name=new.type_name,
            status="available" if pool else "error",
            pool=pool.name if pool else "",
            metadata=dict(new.metadata),
        )
        state.volumes[made.id] = made
        return made.id

    @writes("project_storage.create_snapshot")
    def create_snapshot(self, volume_id: str, name: str, description: str) -> str:
        """Return the id of a new snapshot, which is complete at once."""
        state = self._served()
        volume = self._readable(volume_id)
        visible_type(state, self._project_id, volume.type_name)
        if refusal := quota_refusal(state, self._project_id, volume.type_name, volume.size):
            raise CloudConflict(refusal)
        made = VolumeCopy(id=state.new_id(), name=name, description=description, status="available")
        return insert_copy(state.volume_snapshots, volume_id, made).id

    @writes("project_storage.create_backup")
    def create_backup(self, volume_id: str, name: str, description: str) -> str:
        """Return the id of a new backup, which is complete after the copy time."""
        state, now = self._served(), self._calls.now()
        volume = self._readable(volume_id)
        made = VolumeCopy(id=state.new_id(), name=name, description=description, status="creating")
        insert_copy(state.volume_backups, volume_id, made)
        state.volumes[volume_id] = replace(volume, status="backing-up")
        state.copying[volume_id] = now + self._copy_time
        state.finish_volume_work(now)
        return made.id

    def _readable(self, volume_id: str) -> Volume:
        volume = known(self._state.volumes, volume_id, "volume")
        if volume.project_id != self._project_id:
            raise CloudNotFound(f"no volume {volume_id}")
        if volume.status not in _READABLE:
            raise CloudConflict(f"volume {volume_id} cannot be copied: its status is {volume.status}")
        return volume


if TYPE_CHECKING:

    def _witness(storage: SimulatedProjectStorage) -> ProjectStorage:
        return storage
