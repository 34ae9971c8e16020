"""Actions of operators and users on the block storage of the simulated cloud."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from blazar.cloud.simulated.block_storage import (
    find_pool,
    insert_copy,
    insert_type,
    quota_key,
    quota_refusal,
    visible_type,
)
from blazar.cloud.simulated.calls import Calls
from blazar.cloud.simulated.state import CloudState, known
from blazar.domain.errors import CloudConflict, CloudRefused
from blazar.domain.requirements import Fact
from blazar.ports.block_storage import (
    Attachment,
    GroupSnapshot,
    StoragePool,
    Volume,
    VolumeCopy,
    VolumeGroup,
    VolumeType,
)


class StorageOperations:
    """Actions on pools, types and volumes; they are not counted, take no time, and have no faults."""

    _calls: Calls

    def add_storage_pool(
        self,
        name: str,
        total: int | None,
        *,
        backend_name: str | None = None,
        capabilities: Mapping[str, Fact] | None = None,
    ) -> StoragePool:
        """Return a new pool; its name is ``host@backend#pool``.

        Args:
            name: The name.
            total: The capacity in GiB; None for a driver that does not know it.
            backend_name: The value of ``volume_backend_name``; None for the middle part of the name.
            capabilities: Other facts that the driver reports.
        """
        backend, _, pool_name = name.partition("@")[2].partition("#")
        with self._calls.exclusive() as state:
            pool = StoragePool(
                name=name,
                backend_name=backend_name or backend,
                pool_name=pool_name or backend,
                total=total,
                allocated=0,
                capabilities=dict(capabilities or {}),
            )
            state.storage_pools[name] = pool
            return pool

    def remove_storage_pool(self, name: str) -> None:
        """Remove a pool, as when its back end is down. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            known(state.storage_pools, name, "pool")
            del state.storage_pools[name]

    def add_volume_type(self, name: str, extra_specs: Mapping[str, str] | None = None) -> VolumeType:
        """Return a new public type. Raises CloudConflict."""
        with self._calls.exclusive() as state:
            return insert_type(state, name, "", extra_specs or {}, is_public=True)

    def change_volume_type(self, type_id: str, extra_specs: Mapping[str, str]) -> None:
        """Give a volume type other extra specs; its volumes stay where they are. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            found = known(state.volume_types, type_id, "volume type")
            state.volume_types[type_id] = replace(found, extra_specs=dict(extra_specs))

    def create_volume(self, project_id: str, size: int, type_name: str, name: str = "") -> Volume:
        """Return a new volume of a user, which is available at once.

        Raises:
            CloudNotFound: The project does not see the type.
            CloudRefused: The quota for the type is exhausted, or no pool has room.
        """
        with self._calls.exclusive() as state:
            volume_type = visible_type(state, project_id, type_name)
            _check_quota(state, project_id, type_name, size)
            pool = find_pool(state, volume_type, size)
            if pool is None:
                raise CloudRefused(f"no pool has room for {size} GiB of volume type {type_name}")
            volume = Volume(
                id=state.new_id(),
                name=name,
                project_id=project_id,
                size=size,
                type_name=type_name,
                status="available",
                pool=pool.name,
            )
            state.volumes[volume.id] = volume
            return volume

    def find_volume(self, volume_id: str) -> Volume | None:
        """Return a volume, or None."""
        with self._calls.exclusive(writes=False) as state:
            return state.volumes.get(volume_id)

    def set_volume_status(self, volume_id: str, status: str) -> None:
        """Set the status of a volume, as an operation on it does. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            volume = known(state.volumes, volume_id, "volume")
            state.volumes[volume_id] = replace(volume, status=status)

    def delete_snapshots(self, volume_id: str) -> None:
        """Delete all snapshots of a volume."""
        with self._calls.exclusive() as state:
            state.volume_snapshots.pop(volume_id, None)

    def serve_project(self, project_id: str) -> None:
        """Give the account of the service a role in a project."""
        with self._calls.exclusive() as state:
            state.served_projects |= {project_id}

    def is_served(self, project_id: str) -> bool:
        """Return whether the account of the service has a role in a project."""
        with self._calls.exclusive(writes=False) as state:
            return project_id in state.served_projects

    def fail_backups(self, volume_id: str) -> None:
        """Make the present backups of a volume fail."""
        with self._calls.exclusive() as state:
            state.volume_backups[volume_id] = tuple(
                replace(each, status="error") for each in state.volume_backups.get(volume_id, ())
            )
            if volume_id in state.copying:
                state.copying[volume_id] = self._calls.now()

    def set_type_quota(self, project_id: str, type_name: str, limit: int) -> None:
        """Set a project's quota for a type, as an operator does, even below the used amount."""
        with self._calls.exclusive() as state:
            state.type_quotas[quota_key(project_id, type_name)] = limit

    def rename_volume(self, volume_id: str, name: str) -> None:
        """Rename a volume. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            volume = known(state.volumes, volume_id, "volume")
            state.volumes[volume_id] = replace(volume, name=name)

    def attach_volume(self, volume_id: str, server_id: str | None, *, is_root: bool = False) -> Attachment:
        """Attach a volume to a server, or, for None, to something that Nova does not know.

        Raises:
            CloudNotFound: The volume or the server does not exist.
        """
        with self._calls.exclusive() as state:
            volume = known(state.volumes, volume_id, "volume")
            if server_id is not None:
                known(state.servers, server_id, "server")
            made = Attachment(id=state.new_id(), server_id=server_id)
            attachments = (*volume.attachments, made)
            state.volumes[volume_id] = replace(volume, attachments=attachments, status="in-use")
            if is_root:
                state.root_volumes |= {volume_id}
            return made

    def suspend_server(self, server_id: str) -> None:
        """Bring a server into a state in which Nova does not detach its volumes. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            known(state.servers, server_id, "server")
            state.suspended_servers |= {server_id}

    def stop_server(self, server_id: str) -> None:
        """Stop a server. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            known(state.servers, server_id, "server")
            state.stopped_servers |= {server_id}

    def is_suspended(self, server_id: str) -> bool:
        """Return whether a server is suspended."""
        with self._calls.exclusive(writes=False) as state:
            return server_id in state.suspended_servers

    def is_root_volume(self, volume_id: str) -> bool:
        """Return whether a server was booted from a volume."""
        with self._calls.exclusive(writes=False) as state:
            return volume_id in state.root_volumes

    def snapshot_volume(self, volume_id: str) -> None:
        """Make a snapshot of a volume, which counts like a volume. Raises CloudNotFound, CloudRefused."""
        with self._calls.exclusive() as state:
            volume = known(state.volumes, volume_id, "volume")
            visible_type(state, volume.project_id, volume.type_name)
            _check_quota(state, volume.project_id, volume.type_name, volume.size)
            made = VolumeCopy(id=state.new_id(), name="", description="", status="available")
            insert_copy(state.volume_snapshots, volume_id, made)

    def begin_transfer(self, volume_id: str) -> str:
        """Return the id of a new transfer of a volume. Raises CloudNotFound, CloudConflict."""
        with self._calls.exclusive() as state:
            volume = known(state.volumes, volume_id, "volume")
            if volume.status != "available":
                raise CloudConflict(f"volume {volume_id} is {volume.status}")
            transfer_id = state.new_id()
            state.transfers[transfer_id] = volume_id
            state.volumes[volume_id] = replace(volume, status="awaiting-transfer")
            return transfer_id

    def group_volumes(self, name: str, type_ids: frozenset[str], volume_ids: tuple[str, ...]) -> VolumeGroup:
        """Return a new group of volumes. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            for each in volume_ids:
                known(state.volumes, each, "volume")
            group = VolumeGroup(id=state.new_id(), name=name, type_ids=type_ids)
            state.volume_groups[group.id] = group
            for each in volume_ids:
                state.volumes[each] = replace(state.volumes[each], group_id=group.id)
            return group

    def snapshot_group(self, group_id: str) -> str:
        """Return the id of a new group snapshot, with a snapshot of each volume. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            known(state.volume_groups, group_id, "group")
            made = GroupSnapshot(id=state.new_id(), group_id=group_id)
            parts = set()
            for each in state.volumes.values():
                if each.group_id == group_id:
                    part = VolumeCopy(id=state.new_id(), name="", description="", status="available")
                    insert_copy(state.volume_snapshots, each.id, part)
                    parts.add(part.id)
            state.group_snapshots[made.id] = made
            state.group_snapshot_parts[made.id] = frozenset(parts)
            return made.id


def _check_quota(state: CloudState, project_id: str, type_name: str, size: int) -> None:
    if refusal := quota_refusal(state, project_id, type_name, size):
        raise CloudRefused(refusal)
