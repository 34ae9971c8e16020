"""Cinder, simulated."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from blazar.cloud.simulated.calls import Calls, Service, reads, writes
from blazar.cloud.simulated.state import CloudState, VolumeMove, known
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.block_storage import (
    NO_LIMIT,
    GroupSnapshot,
    StoragePool,
    TypeQuota,
    Volume,
    VolumeCopy,
    VolumeGroup,
    VolumeType,
)

if TYPE_CHECKING:
    from blazar.ports.block_storage import BlockStorage

_DELETABLE = "available"
_MOVABLE = frozenset({"available", "in-use"})


class SimulatedBlockStorage(Service):
    """Pools, private types, quotas and volumes.

    The deletion of a volume takes *deletion_time*, its move to another type *move_time*, and its backup
    *copy_time*.
    """

    def __init__(self, calls: Calls) -> None:
        super().__init__(calls)
        self.deletion_time = timedelta(0)
        self.move_time = timedelta(0)
        self.copy_time = timedelta(0)

    @reads("block_storage.list_pools")
    def list_pools(self) -> tuple[StoragePool, ...]:
        """Return the pools, oldest first."""
        state = self._state
        return tuple(
            replace(each, allocated=used_in(state, each.name) + state.moved_out.get(each.name, 0))
            for each in state.storage_pools.values()
        )

    @reads("block_storage.list_types")
    def list_types(self) -> tuple[VolumeType, ...]:
        """Return all types, oldest first."""
        return tuple(self._state.volume_types.values())

    @writes("block_storage.create_type")
    def create_type(self, name: str, description: str, extra_specs: Mapping[str, str]) -> VolumeType:
        """Return a new private type. Raises CloudConflict if one with this name exists."""
        return insert_type(self._state, name, description, extra_specs, is_public=False)

    @writes("block_storage.delete_type")
    def delete_type(self, type_id: str) -> None:
        """Delete a type; quotas that were set for it stay. Raises CloudNotFound, CloudConflict."""
        state = self._state
        found = known(state.volume_types, type_id, "volume type")
        if any(each.type_name == found.name for each in state.volumes.values()):
            raise CloudConflict(f"volume type {type_id} is still in use by volumes")
        if any(type_id in each.type_ids for each in state.volume_groups.values()):
            raise CloudConflict(f"volume type {type_id} is still in use by groups")
        del state.volume_types[type_id]
        state.type_access.pop(type_id, None)

    @reads("block_storage.list_type_access")
    def list_type_access(self, type_id: str) -> frozenset[str]:
        """Return the projects that may use a type. Raises CloudNotFound."""
        known(self._state.volume_types, type_id, "volume type")
        return self._state.type_access.get(type_id, frozenset())

    @writes("block_storage.add_type_access")
    def add_type_access(self, type_id: str, project_id: str) -> None:
        """Allow a project to use a type. Raises as in the port; CloudRefused if it is public."""
        if known(self._state.volume_types, type_id, "volume type").is_public:
            raise CloudRefused(f"volume type {type_id} is public")
        present = self._state.type_access.get(type_id, frozenset())
        if project_id in present:
            raise CloudConflict(f"project {project_id} has access to volume type {type_id} already")
        self._state.type_access[type_id] = present | {project_id}

    @writes("block_storage.remove_type_access")
    def remove_type_access(self, type_id: str, project_id: str) -> None:
        """Revoke a project's access. Raises CloudNotFound."""
        present = self._state.type_access.get(type_id, frozenset())
        if project_id not in present:
            raise CloudNotFound(f"project {project_id} has no access to volume type {type_id}")
        self._state.type_access[type_id] = present - {project_id}

    @reads("block_storage.get_quotas")
    def get_quotas(self, project_id: str, type_names: Collection[str]) -> Mapping[str, TypeQuota]:
        """Return a project's quota by type; types that do not exist are omitted."""
        existing = {each.name for each in self._state.volume_types.values()}
        return {
            name: TypeQuota(
                limit=self._state.type_quotas.get(quota_key(project_id, name), NO_LIMIT),
                used=used_by(self._state, project_id, name),
            )
            for name in type_names
            if name in existing
        }

    @writes("block_storage.set_quotas")
    def set_quotas(self, project_id: str, limits: Mapping[str, int]) -> None:
        """Set a project's quotas for types; all of them, or none. Raises CloudConflict."""
        existing = {each.name for each in self._state.volume_types.values()}
        for type_name, limit in limits.items():
            if type_name not in existing:
                raise CloudConflict(f"no quota is named gigabytes_{type_name}")
            used = used_by(self._state, project_id, type_name)
            if limit < used:
                raise CloudConflict(f"gigabytes_{type_name}: {used} are in use")
        for type_name, limit in limits.items():
            self._state.type_quotas[quota_key(project_id, type_name)] = limit

    @reads("block_storage.list_volumes")
    def list_volumes(self, type_id: str) -> tuple[Volume, ...]:
        """Return the volumes of a type, oldest first; none if the type does not exist."""
        found = self._state.volume_types.get(type_id)
        return tuple(each for each in self._state.volumes.values() if found and each.type_name == found.name)

    @reads("block_storage.list_volumes_in")
    def list_volumes_in(self, pool: str) -> tuple[Volume, ...]:
        """Return the volumes in a pool, oldest first; none if the pool does not exist."""
        return tuple(each for each in self._state.volumes.values() if each.pool == pool)

    @reads("block_storage.list_snapshots")
    def list_snapshots(self, volume_id: str) -> tuple[VolumeCopy, ...]:
        """Return the snapshots of a volume, oldest first; none if it does not exist."""
        return self._state.volume_snapshots.get(volume_id, ())

    @reads("block_storage.list_backups")
    def list_backups(self, volume_id: str) -> tuple[VolumeCopy, ...]:
        """Return the backups of a volume, oldest first, which outlive it."""
        return self._state.volume_backups.get(volume_id, ())

    @writes("block_storage.delete_volume")
    def delete_volume(self, volume_id: str, *, force: bool = False) -> None:
        """Request the deletion of a volume with its snapshots. Raises CloudNotFound, CloudConflict."""
        volume = known(self._state.volumes, volume_id, "volume")
        if volume.attachments or volume.group_id is not None:
            raise CloudConflict(f"volume {volume_id} is attached or in a group")
        parts = frozenset[str]().union(*self._state.group_snapshot_parts.values())
        if any(each.id in parts for each in self._state.volume_snapshots.get(volume_id, ())):
            # Cinder notices that only after it has begun.
            self._state.volumes[volume_id] = replace(volume, status="error_deleting")
            raise CloudConflict(f"volume {volume_id} has snapshots that belong to a group snapshot")
        if volume.status != _DELETABLE and not force:
            raise CloudConflict(f"volume {volume_id} cannot be deleted: its status is {volume.status}")
        now = self._calls.now()
        self._state.volumes[volume_id] = replace(volume, status="deleting")
        self._state.volume_deletions[volume_id] = now + self.deletion_time
        self._state.finish_volume_work(now)

    @writes("block_storage.force_detach")
    def force_detach(self, volume_id: str, attachment_id: str) -> None:
        """End an attachment that no server has. Raises CloudNotFound, CloudConflict."""
        volume = known(self._state.volumes, volume_id, "volume")
        for each in volume.attachments:
            if each.id == attachment_id:
                if each.server_id in self._state.servers:
                    raise CloudConflict(f"server {each.server_id} has volume {volume_id}")
                self._state.end_attachments(lambda each: each.id == attachment_id)
                return
        raise CloudNotFound(f"volume {volume_id} has no attachment {attachment_id}")

    @reads("block_storage.list_transfers")
    def list_transfers(self) -> Mapping[str, str]:
        """Return the ids of the pending transfers, by volume."""
        return {volume_id: transfer_id for transfer_id, volume_id in self._state.transfers.items()}

    @writes("block_storage.delete_transfer")
    def delete_transfer(self, transfer_id: str) -> None:
        """Cancel a transfer. Raises CloudNotFound."""
        volume_id = known(self._state.transfers, transfer_id, "transfer")
        del self._state.transfers[transfer_id]
        volume = self._state.volumes[volume_id]
        self._state.volumes[volume_id] = replace(volume, status="available")

    @reads("block_storage.list_groups")
    def list_groups(self) -> tuple[VolumeGroup, ...]:
        """Return the groups, oldest first."""
        return tuple(self._state.volume_groups.values())

    @writes("block_storage.leave_group")
    def leave_group(self, group_id: str, volume_ids: Collection[str]) -> None:
        """Take volumes out of a group. Raises CloudNotFound, CloudConflict."""
        known(self._state.volume_groups, group_id, "group")
        volumes = self._state.volumes
        if any(each not in volumes or volumes[each].group_id != group_id for each in volume_ids):
            raise CloudConflict(f"a volume is not in group {group_id}")
        for each in volume_ids:
            volumes[each] = replace(volumes[each], group_id=None)

    @writes("block_storage.delete_group")
    def delete_group(self, group_id: str) -> None:
        """Delete a group. Raises CloudNotFound, CloudConflict if it has volumes or group snapshots."""
        known(self._state.volume_groups, group_id, "group")
        if any(each.group_id == group_id for each in self._state.volumes.values()):
            raise CloudConflict(f"group {group_id} has volumes")
        if any(each.group_id == group_id for each in self._state.group_snapshots.values()):
            raise CloudConflict(f"group {group_id} has existing snapshots")
        del self._state.volume_groups[group_id]

    @reads("block_storage.list_group_snapshots")
    def list_group_snapshots(self) -> tuple[GroupSnapshot, ...]:
        """Return the group snapshots, oldest first."""
        return tuple(self._state.group_snapshots.values())

    @writes("block_storage.delete_group_snapshot")
    def delete_group_snapshot(self, group_snapshot_id: str) -> None:
        """Delete a group snapshot with its snapshots. Raises CloudNotFound."""
        state = self._state
        known(state.group_snapshots, group_snapshot_id, "group snapshot")
        del state.group_snapshots[group_snapshot_id]
        parts = state.group_snapshot_parts.pop(group_snapshot_id)
        for volume_id, copies in state.volume_snapshots.items():
            state.volume_snapshots[volume_id] = tuple(each for each in copies if each.id not in parts)

    @writes("block_storage.retype_volume")
    def retype_volume(self, volume_id: str, type_id: str) -> None:
        """Start to move a volume to another type.

        As in Cinder, nothing happens if the volume has snapshots. If Nova refuses to swap it, because its
        server is stopped or suspended, Cinder restores its status after *move_time*.

        Raises:
            CloudNotFound: The volume does not exist.
            CloudConflict: Its status, its group or the quota of its project does not allow it, or there is no
                such type.
        """
        state = self._state
        volume = known(state.volumes, volume_id, "volume")
        target = state.volume_types.get(type_id)
        if target is None or volume.status not in _MOVABLE or volume.group_id is not None:
            raise CloudConflict(f"volume {volume_id} cannot be moved to volume type {type_id}")
        if state.volume_snapshots.get(volume_id):
            return
        if refusal := quota_refusal(state, volume.project_id, target.name, volume.size):
            raise CloudConflict(refusal)
        pool = find_pool(state, target, volume.size)
        if pool is not None:
            now = self._calls.now()
            inactive = state.stopped_servers | state.suspended_servers
            stays = any(each.server_id in inactive for each in volume.attachments)
            state.volumes[volume_id] = replace(volume, status="retyping")
            state.volume_moves[volume_id] = VolumeMove(
                due_at=now + self.move_time,
                type_name=volume.type_name if stays else target.name,
                pool=volume.pool if stays else pool.name,
                status=volume.status,
            )
            state.finish_volume_work(now)


def visible_type(state: CloudState, project_id: str, name: str) -> VolumeType:
    """Return the type with this name that a project may use. Raises CloudNotFound."""
    for each in state.volume_types.values():
        if each.name == name and (each.is_public or project_id in state.type_access.get(each.id, ())):
            return each
    raise CloudNotFound(f"no volume type {name}")


def insert_copy(copies: dict[str, tuple[VolumeCopy, ...]], volume_id: str, copy: VolumeCopy) -> VolumeCopy:
    """Add a snapshot or a backup of a volume and return it."""
    copies[volume_id] = (*copies.get(volume_id, ()), copy)
    return copy


def insert_type(
    state: CloudState, name: str, description: str, extra_specs: Mapping[str, str], *, is_public: bool
) -> VolumeType:
    """Add a type and return it. Raises CloudConflict."""
    if any(each.name == name for each in state.volume_types.values()):
        raise CloudConflict(f"a volume type named {name} exists")
    made = VolumeType(
        id=state.new_id(),
        name=name,
        is_public=is_public,
        description=description,
        extra_specs=dict(extra_specs),
    )
    state.volume_types[made.id] = made
    return made


def quota_key(project_id: str, type_name: str) -> str:
    """Return the key of a quota in the state; project ids have no blank."""
    return f"{project_id} {type_name}"


def used_in(state: CloudState, pool: str) -> int:
    """Return the sum of the sizes of the volumes in a pool."""
    return sum(each.size for each in state.volumes.values() if each.pool == pool)


def used_by(state: CloudState, project_id: str, type_name: str) -> int:
    """Return how much of a type a project uses, with snapshots."""
    return sum(
        each.size * (1 + len(state.volume_snapshots.get(each.id, ())))
        for each in state.volumes.values()
        if (each.project_id, each.type_name) == (project_id, type_name)
    )


def quota_refusal(state: CloudState, project_id: str, type_name: str, size: int) -> str:
    """Return why a project has no room for additional GiB of a type; empty if it has."""
    limit = state.type_quotas.get(quota_key(project_id, type_name))
    used = used_by(state, project_id, type_name)
    if limit is not None and 0 <= limit < used + size:
        return f"the quota for gigabytes_{type_name} is {limit}, and {used} are used"
    return ""


def find_pool(state: CloudState, volume_type: VolumeType, size: int) -> StoragePool | None:
    """Return the pool with the most room that a type may use; None if none has room."""
    wanted = volume_type.extra_specs
    fitting = [
        (each.total - used_in(state, each.name) if each.total is not None else size, each)
        for each in state.storage_pools.values()
        if wanted.get("volume_backend_name", each.backend_name) == each.backend_name
        and wanted.get("pool_name", each.pool_name) == each.pool_name
    ]
    room, best = max(fitting, key=lambda pair: pair[0], default=(0, None))
    return best if room >= size else None


if TYPE_CHECKING:

    def _witness(storage: SimulatedBlockStorage) -> BlockStorage:
        return storage
