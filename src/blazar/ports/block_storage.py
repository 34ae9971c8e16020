"""Port: Cinder. Any call may raise ``CloudUnavailable`` or ``CloudRefused``. Sizes are in GiB."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from blazar.domain.requirements import Fact

NO_LIMIT: Final = -1
"""The quota of a type for which none was set."""


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
    """The sum of the sizes of all volumes in the pool, of all projects."""
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

    @property
    def has_failed(self) -> bool:
        """Return whether its last operation failed, so that Cinder deletes it only by force."""
        return self.status.startswith("error")


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeGroup:
    """A group of volumes; it keeps its types from being deleted even while it is empty."""

    id: str
    name: str
    type_ids: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeQuota:
    """The room of one type in a project; snapshots count as used, too."""

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
        """Return a project's room by type; types that do not exist are omitted."""

    def set_quota(self, project_id: str, type_name: str, limit: int) -> None:
        """Set a project's room for a type.

        Raises:
            CloudConflict: More is used, or the type does not exist.
        """

    def list_volumes(self, type_id: str) -> tuple[Volume, ...]:
        """Return the volumes of a type in all projects; reads all pages."""

    def count_snapshots(self, volume_id: str) -> int:
        """Return the number of snapshots of a volume; 0 if the volume does not exist."""

    def delete_volume(self, volume_id: str, *, force: bool = False) -> None:
        """Request the deletion of a volume with its snapshots; it completes later. Backups stay.

        Args:
            volume_id: The volume.
            force: Delete it whatever its status is, unless it is attached.

        Raises:
            CloudNotFound: It does not exist.
            CloudConflict: It is attached, backed up at the moment, awaits a transfer, or is in a group.
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
        """Delete a group. Raises CloudNotFound, CloudConflict if it has volumes."""

    def retype_volume(self, volume_id: str, type_id: str) -> None:
        """Request that a volume is moved to another type, and with it to a pool of that type.

        The move completes later; until then, the status is ``retyping``. If the volume has snapshots, or no
        pool of the other type has room, Cinder accepts the request and does nothing.

        Raises:
            CloudNotFound: The volume does not exist.
            CloudConflict: Its status does not allow it, or the quotas of its project do not.
        """
