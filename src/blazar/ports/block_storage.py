"""Port: Cinder. Any call may raise ``CloudUnavailable`` or ``CloudRefused``. Sizes are in GiB."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from blazar.domain.requirements import Fact

NO_LIMIT: Final = -1
"""The quota of a type for which none was set."""
_ATTACHING: Final = frozenset({"reserved", "attaching", "detaching"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePool:
    """A pool of a back end that is up. ``name`` is ``host@backend#pool``."""

    name: str
    backend_name: str
    """The value of ``volume_backend_name``; several back ends may have the same."""
    pool_name: str
    total: int | None
    """The capacity; None if the driver does not know it or calls it infinite."""
    allocated: int
    """The sum of the sizes of the volumes in the pool, of all projects, as its back end reports it.

    The report may be a minute old. After a volume has moved to another pool, Cinder counts it here until
    cinder-volume is restarted; :meth:`BlockStorage.list_volumes_in` returns what is in the pool.

    Source: seen on Cinder 29.0.0.
    """
    capabilities: Mapping[str, Fact] = field(default_factory=dict)
    """What the driver reports of the pool apart from its capacity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeType:
    """A volume type. Projects see a private type only if they have access to it."""

    id: str
    name: str
    is_public: bool = False
    description: str = ""
    extra_specs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A volume's attachment; ``server_id`` is None if the volume is attached to something else."""

    id: str
    server_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """A volume. Its owner may rename it."""

    id: str
    name: str
    project_id: str
    size: int
    type_name: str
    status: str
    """Cinder's word, such as ``available`` or ``in-use``."""
    pool: str = ""
    """The name of its pool; empty until it was scheduled."""
    attachments: tuple[Attachment, ...] = ()
    group_id: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Keys that its owner can change."""

    @property
    def has_failed(self) -> bool:
        """Return whether its last operation failed, so that Cinder deletes it only by force."""
        return self.status.startswith("error")

    @property
    def awaits_attachment(self) -> bool:
        """Return whether it is reserved for an attachment that it does not have, or that has just ended.

        Its owner can reserve it so without any server, for ever. Cinder then deletes it only by force.
        """
        return not self.attachments and self.status in _ATTACHING


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVolume:
    """A volume to be created."""

    name: str
    size: int
    type_name: str
    image_id: str | None = None
    """The image that is copied to it; None for an empty volume."""
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeCopy:
    """A snapshot or a backup of a volume; its owner can change name and description."""

    id: str
    name: str
    description: str
    status: str
    """Cinder's word: ``available`` when it is complete."""

    @property
    def is_complete(self) -> bool:
        """Return whether all data were copied."""
        return self.status == "available"

    @property
    def has_failed(self) -> bool:
        """Return whether it will never be complete."""
        return self.status.startswith("error")


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeGroup:
    """A group of volumes; it keeps its types from being deleted even while it is empty."""

    id: str
    name: str
    type_ids: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSnapshot:
    """Snapshots of all volumes that a group had; Cinder deletes them only together."""

    id: str
    group_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeQuota:
    """The quota of one type in a project; snapshots also count as used."""

    limit: int
    """:data:`NO_LIMIT` if none was set."""
    used: int


class BlockStorage(Protocol):
    """Everything of Cinder that the service uses."""

    def list_pools(self) -> tuple[StoragePool, ...]:
        """Return the pools of all back ends that are up."""

    def list_types(self) -> tuple[VolumeType, ...]:
        """Return all volume types, including private ones."""

    def create_type(self, name: str, description: str, extra_specs: Mapping[str, str]) -> VolumeType:
        """Return a new private type. Raises CloudConflict if one with this name exists."""

    def delete_type(self, type_id: str) -> None:
        """Delete a type.

        Raises:
            CloudNotFound: It does not exist.
            CloudConflict: Volumes or groups of it exist.
        """

    def list_type_access(self, type_id: str) -> frozenset[str]:
        """Return the ids of the projects that may use a private type. Raises CloudNotFound."""

    def add_type_access(self, type_id: str, project_id: str) -> None:
        """Allow a project to use a type. Raises CloudNotFound, or CloudConflict if it may already."""

    def remove_type_access(self, type_id: str, project_id: str) -> None:
        """Revoke a project's access. Raises CloudNotFound if it had none or the type does not exist."""

    def get_quotas(self, project_id: str, type_names: Collection[str]) -> Mapping[str, TypeQuota]:
        """Return a project's quota by type; types that do not exist are omitted."""

    def set_quotas(self, project_id: str, limits: Mapping[str, int]) -> None:
        """Set a project's quotas for types in one request.

        Args:
            project_id: The project.
            limits: The limits in GiB by name of the type.

        Raises:
            CloudConflict: More of a type is used, or a type does not exist; no quota was set.
        """

    def list_volumes(self, type_id: str) -> tuple[Volume, ...]:
        """Return the volumes of a type in all projects; reads all pages."""

    def list_volumes_in(self, pool: str) -> tuple[Volume, ...]:
        """Return the volumes in a pool, of all types and projects; reads all pages.

        Args:
            pool: The name of the pool; if Cinder has none with this name, there are no volumes.
        """

    def list_snapshots(self, volume_id: str) -> tuple[VolumeCopy, ...]:
        """Return the snapshots of a volume; none if it does not exist."""

    def list_backups(self, volume_id: str) -> tuple[VolumeCopy, ...]:
        """Return the backups of a volume, which outlive it."""

    def delete_volume(self, volume_id: str, *, force: bool = False) -> None:
        """Request the deletion of a volume with its snapshots; it completes later. Backups stay.

        Args:
            volume_id: The volume.
            force: Delete it whatever its status is, unless it is attached.

        Raises:
            CloudNotFound: It does not exist.
            CloudConflict: It is attached, backed up at the moment, awaits a transfer, is in a group, or has
                snapshots that belong to a group snapshot.
        """

    def force_detach(self, volume_id: str, attachment_id: str) -> None:
        """End an attachment that no server has. Raises CloudNotFound, or CloudConflict if one has it."""

    def list_transfers(self) -> Mapping[str, str]:
        """Return the ids of the pending transfers in all projects, by volume."""

    def delete_transfer(self, transfer_id: str) -> None:
        """Cancel a transfer. Raises CloudNotFound."""

    def list_groups(self) -> tuple[VolumeGroup, ...]:
        """Return the groups of volumes in all projects."""

    def leave_group(self, group_id: str, volume_ids: Collection[str]) -> None:
        """Take volumes out of a group. Raises CloudNotFound, CloudConflict if one of them is not in it."""

    def delete_group(self, group_id: str) -> None:
        """Delete a group. Raises CloudNotFound, CloudConflict if it has volumes or group snapshots."""

    def list_group_snapshots(self) -> tuple[GroupSnapshot, ...]:
        """Return the group snapshots in all projects; reads all pages."""

    def delete_group_snapshot(self, group_snapshot_id: str) -> None:
        """Request the deletion of a group snapshot with its snapshots; it completes later.

        Raises:
            CloudNotFound: It does not exist.
            CloudConflict: Its status does not allow it.
        """

    def retype_volume(self, volume_id: str, type_id: str) -> None:
        """Request that a volume is moved to another type, and with it to a pool of that type.

        The move completes later; until then, the status is ``retyping``. If the volume has snapshots, or no
        pool of the other type has room, Cinder accepts the request and does nothing.

        Raises:
            CloudNotFound: The volume does not exist.
            CloudConflict: Its status does not allow it, or the quotas of its project do not.
        """


class ProjectStorage(Protocol):
    """Cinder as a member of one project uses it, with the service's own account.

    The objects belong to the project and count towards its quotas. Cinder has no call with which an
    administrator creates an object for another project, so the account needs a role in the project, and not
    that of an administrator, who would also see the images of others. Without the role, every call raises
    ``CloudRefused``.
    """

    def create_volume(self, new: NewVolume) -> str:
        """Request a new volume, and return its id; it becomes available, or fails, later.

        Raises:
            CloudNotFound: The project does not see the type.
            CloudConflict: A quota does not allow it.
            CloudRefused: The project does not see the image, or it does not fit.
        """

    def create_snapshot(self, volume_id: str, name: str, description: str) -> str:
        """Request a snapshot of a volume of the project, also of an attached one, and return its id.

        Raises:
            CloudNotFound: The volume does not exist, or the project does not see its type.
            CloudConflict: Its status or a quota does not allow it.
        """

    def create_backup(self, volume_id: str, name: str, description: str) -> str:
        """Request a backup of a volume of the project, also of an attached one, and return its id.

        Raises:
            CloudNotFound: The volume does not exist.
            CloudConflict: Its status or a quota does not allow it.
        """
