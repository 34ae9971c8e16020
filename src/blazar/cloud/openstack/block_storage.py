"""Cinder's pools, volume types, quotas and volumes, as an administrator sees them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from blazar.cloud.openstack.rest import RestClient
from blazar.domain.errors import CloudConflict
from blazar.ports.block_storage import (
    Attachment,
    GroupSnapshot,
    StoragePool,
    TypeQuota,
    Volume,
    VolumeCopy,
    VolumeGroup,
    VolumeType,
)

if TYPE_CHECKING:
    from blazar.domain.errors import CloudError
    from blazar.ports.block_storage import BlockStorage

_ANY: Final = "3.0"
_WITH_GROUPS: Final = "3.13"
"""From this version on, there are groups, and a volume has the id of its group."""
_WITH_FORCE: Final = "3.23"
_WITH_ALL_GROUP_SNAPSHOTS: Final = "3.29"
"""Before this version, ``all_tenants`` is ignored for group snapshots, which exist from 3.14 on."""
_NOT_NOW: Final[Mapping[int, type[CloudError]]] = {400: CloudConflict, 413: CloudConflict}
"""Cinder answers 400 where an object's present state forbids the request."""
_CAPACITY: Final = frozenset(
    {
        "total_capacity_gb",
        "free_capacity_gb",
        "allocated_capacity_gb",
        "provisioned_capacity_gb",
        "reserved_percentage",
        "timestamp",
        "filter_function",
        "goodness_function",
        "total_volumes",
        "location_info",
    }
)
"""Capabilities that change on their own, or are of no use in a lessee's requirement."""


class OpenStackBlockStorage:
    """Pools, types and volumes of all projects; needs an administrator's credentials."""

    def __init__(self, cinder: RestClient) -> None:
        self._cinder = cinder

    def list_pools(self) -> tuple[StoragePool, ...]:
        """Return the pools of all back ends that are up."""
        answer = self._cinder.get("scheduler-stats", "get_pools", params={"detail": "true"}, version=_ANY)
        return answer.read(lambda body: tuple(_pool(each) for each in body["pools"]))

    def list_types(self) -> tuple[VolumeType, ...]:
        """Return all volume types, including private ones."""
        return self._cinder.list(
            "types", key="volume_types", parse=_type, params={"is_public": "None"}, version=_ANY
        )

    def create_type(self, name: str, description: str, extra_specs: Mapping[str, str]) -> VolumeType:
        """Return a new private type. Raises CloudConflict if one with this name exists."""
        body = {
            "name": name,
            "description": description,
            "os-volume-type-access:is_public": False,
            "extra_specs": dict(extra_specs),
        }
        answer = self._cinder.post("types", body={"volume_type": body}, version=_ANY)
        return answer.read(lambda body: _type(body["volume_type"]))

    def delete_type(self, type_id: str) -> None:
        """Delete a type. Raises CloudNotFound, CloudConflict."""
        self._cinder.delete("types", type_id, version=_ANY, means=_NOT_NOW)

    def list_type_access(self, type_id: str) -> frozenset[str]:
        """Return the projects that may use a private type. Raises CloudNotFound."""
        answer = self._cinder.get("types", type_id, "os-volume-type-access", version=_ANY)
        return answer.read(lambda body: frozenset(each["project_id"] for each in body["volume_type_access"]))

    def add_type_access(self, type_id: str, project_id: str) -> None:
        """Allow a project to use a type. Raises CloudNotFound, CloudConflict."""
        body = {"addProjectAccess": {"project": project_id}}
        self._cinder.post("types", type_id, "action", body=body, version=_ANY)

    def remove_type_access(self, type_id: str, project_id: str) -> None:
        """Revoke a project's access. Raises CloudNotFound."""
        body = {"removeProjectAccess": {"project": project_id}}
        self._cinder.post("types", type_id, "action", body=body, version=_ANY)

    def get_quotas(self, project_id: str, type_names: Collection[str]) -> Mapping[str, TypeQuota]:
        """Return a project's quota by type; types that do not exist are omitted."""
        answer = self._cinder.get("os-quota-sets", project_id, params={"usage": "true"}, version=_ANY)
        return answer.read(lambda body: _quotas(body["quota_set"], type_names))

    def set_quotas(self, project_id: str, limits: Mapping[str, int]) -> None:
        """Set a project's quotas for types in one request. Raises CloudConflict."""
        body = {"quota_set": {_quota_key(name): limit for name, limit in limits.items()}}
        self._cinder.put("os-quota-sets", project_id, body=body, version=_ANY, means=_NOT_NOW)

    def list_volumes(self, type_id: str) -> tuple[Volume, ...]:
        """Return the volumes of a type in all projects; from all pages."""
        return self._list_volumes("volume_type_id", type_id)

    def list_volumes_in(self, pool: str) -> tuple[Volume, ...]:
        """Return the volumes in a pool, of all types and projects; from all pages."""
        return self._list_volumes("host", pool)

    def _list_volumes(self, key: str, value: str) -> tuple[Volume, ...]:
        return self._cinder.list(
            "volumes",
            "detail",
            key="volumes",
            parse=_volume,
            params={"all_tenants": "1", key: value},
            version=_WITH_GROUPS,
        )

    def list_snapshots(self, volume_id: str) -> tuple[VolumeCopy, ...]:
        """Return the snapshots of a volume; none if it does not exist."""
        return self._list_copies("snapshots", volume_id)

    def list_backups(self, volume_id: str) -> tuple[VolumeCopy, ...]:
        """Return the backups of a volume, which outlive it."""
        return self._list_copies("backups", volume_id)

    def _list_copies(self, what: str, volume_id: str) -> tuple[VolumeCopy, ...]:
        params = {"all_tenants": "1", "volume_id": volume_id}
        return self._cinder.list(what, "detail", key=what, parse=_copy, params=params, version=_ANY)

    def delete_volume(self, volume_id: str, *, force: bool = False) -> None:
        """Request the deletion of a volume with its snapshots. Raises CloudNotFound, CloudConflict."""
        params = {"cascade": "true", **({"force": "true"} if force else {})}
        self._cinder.delete("volumes", volume_id, params=params, version=_WITH_FORCE, means=_NOT_NOW)

    def force_detach(self, volume_id: str, attachment_id: str) -> None:
        """End an attachment that no server has. Raises CloudNotFound, CloudConflict."""
        self._act(volume_id, {"os-force_detach": {"attachment_id": attachment_id, "connector": None}})

    def list_transfers(self) -> Mapping[str, str]:
        """Return the ids of the pending transfers in all projects, by volume."""
        found = self._cinder.list(
            "os-volume-transfer",
            "detail",
            key="transfers",
            parse=lambda each: (str(each["volume_id"]), str(each["id"])),
            params={"all_tenants": "1"},
            version=_ANY,
        )
        return dict(found)

    def delete_transfer(self, transfer_id: str) -> None:
        """Cancel a transfer. Raises CloudNotFound."""
        self._cinder.delete("os-volume-transfer", transfer_id, version=_ANY)

    def list_groups(self) -> tuple[VolumeGroup, ...]:
        """Return the groups of volumes in all projects."""
        return self._cinder.list(
            "groups",
            "detail",
            key="groups",
            parse=_group,
            params={"all_tenants": "1"},
            version=_WITH_GROUPS,
        )

    def leave_group(self, group_id: str, volume_ids: Collection[str]) -> None:
        """Take volumes out of a group. Raises CloudNotFound, CloudConflict."""
        body = {"group": {"remove_volumes": ",".join(sorted(volume_ids))}}
        self._cinder.put("groups", group_id, body=body, version=_WITH_GROUPS, means=_NOT_NOW)

    def delete_group(self, group_id: str) -> None:
        """Delete a group. Raises CloudNotFound, CloudConflict."""
        body = {"delete": {"delete-volumes": False}}
        self._cinder.post("groups", group_id, "action", body=body, version=_WITH_GROUPS, means=_NOT_NOW)

    def list_group_snapshots(self) -> tuple[GroupSnapshot, ...]:
        """Return the group snapshots in all projects; from all pages."""
        return self._cinder.list(
            "group_snapshots",
            "detail",
            key="group_snapshots",
            parse=lambda each: GroupSnapshot(id=each["id"], group_id=each["group_id"]),
            params={"all_tenants": "1"},
            version=_WITH_ALL_GROUP_SNAPSHOTS,
        )

    def delete_group_snapshot(self, group_snapshot_id: str) -> None:
        """Request the deletion of a group snapshot. Raises CloudNotFound, CloudConflict."""
        self._cinder.delete(
            "group_snapshots", group_snapshot_id, version=_WITH_ALL_GROUP_SNAPSHOTS, means=_NOT_NOW
        )

    def retype_volume(self, volume_id: str, type_id: str) -> None:
        """Request that a volume is moved to another type. Raises CloudNotFound, CloudConflict."""
        self._act(volume_id, {"os-retype": {"new_type": type_id, "migration_policy": "on-demand"}})

    def _act(self, volume_id: str, action: Mapping[str, object]) -> None:
        self._cinder.post("volumes", volume_id, "action", body=action, version=_ANY, means=_NOT_NOW)


def _pool(body: Mapping[str, Any]) -> StoragePool:
    capabilities = body["capabilities"]
    backend, _, pool_name = body["name"].partition("@")[2].partition("#")
    return StoragePool(
        name=body["name"],
        backend_name=str(capabilities.get("volume_backend_name") or backend),
        pool_name=str(capabilities.get("pool_name") or pool_name or backend),
        total=_capacity(capabilities.get("total_capacity_gb")),
        allocated=int(capabilities.get("allocated_capacity_gb") or 0),
        capabilities={key: value for key, value in capabilities.items() if _is_fact(key, value)},
    )


def _capacity(value: object) -> int | None:
    """Return whole GiB; None for ``infinite`` and ``unknown``, which drivers also send as text."""
    try:
        amount = int(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return max(amount, 0)


def _is_fact(key: str, value: object) -> bool:
    return key not in _CAPACITY and isinstance(value, (str, int, float))


def _type(body: Mapping[str, Any]) -> VolumeType:
    return VolumeType(
        id=body["id"],
        name=body["name"],
        is_public=body.get("is_public", body.get("os-volume-type-access:is_public", True)),
        description=body.get("description") or "",
        extra_specs=body.get("extra_specs") or {},
    )


def _quota_key(type_name: str) -> str:
    return f"gigabytes_{type_name}"


def _quotas(body: Mapping[str, Any], type_names: Collection[str]) -> Mapping[str, TypeQuota]:
    found = {name: body.get(_quota_key(name)) for name in type_names}
    return {
        name: TypeQuota(limit=each["limit"], used=each["in_use"] + each["reserved"])
        for name, each in found.items()
        if each is not None
    }


def _volume(body: Mapping[str, Any]) -> Volume:
    return Volume(
        id=body["id"],
        name=body["name"] or "",
        project_id=body["os-vol-tenant-attr:tenant_id"],
        size=body["size"],
        type_name=body["volume_type"] or "",
        status=body["status"],
        pool=body.get("os-vol-host-attr:host") or "",
        attachments=tuple(
            Attachment(id=each["attachment_id"], server_id=each["server_id"] or None)
            for each in body["attachments"]
        ),
        group_id=body.get("group_id"),
        metadata=body.get("metadata") or {},
    )


def _copy(body: Mapping[str, Any]) -> VolumeCopy:
    return VolumeCopy(
        id=body["id"],
        name=body["name"] or "",
        description=body["description"] or "",
        status=body["status"],
    )


def _group(body: Mapping[str, Any]) -> VolumeGroup:
    return VolumeGroup(id=body["id"], name=body["name"] or "", type_ids=frozenset(body["volume_types"]))


if TYPE_CHECKING:

    def _witness(storage: OpenStackBlockStorage) -> BlockStorage:
        return storage
