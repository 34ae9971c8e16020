"""Cinder: pools, volume types, quotas and volumes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict

from blazar.cloud.simulated import SimulatedCloud
from blazar.domain.errors import CloudConflict, CloudRefused
from blazar.ports.block_storage import (
    NewVolume,
    StoragePool,
    Volume,
    VolumeCopy,
    VolumeGroup,
    VolumeType,
)
from rig.cloud.messages import Call, Reply, Route, Service
from rig.cloud.paging import page_of


def _list_pools(cloud: SimulatedCloud, call: Call) -> Reply:
    return Reply(body={"pools": [_pool(each) for each in cloud.block_storage.list_pools()]})


def _pool(pool: StoragePool) -> object:
    total = "infinite" if pool.total is None else float(pool.total)
    own = {
        "volume_backend_name": pool.backend_name,
        "pool_name": pool.pool_name,
        "total_capacity_gb": total,
        "free_capacity_gb": total if pool.total is None else float(pool.total - pool.allocated),
        "allocated_capacity_gb": pool.allocated,
        "timestamp": "2026-01-01T00:00:00.000000",
    }
    return {"name": pool.name, "capabilities": {**pool.capabilities, **own}}


def _list_types(cloud: SimulatedCloud, call: Call) -> Reply:
    found = cloud.block_storage.list_types()
    some, has_next = page_of(found, [each.id for each in found], call)
    return Reply(body={"volume_types": [_type(each) for each in some], **_links("volume_type", has_next)})


def _links(name: str, has_next: bool) -> dict[str, object]:
    return {f"{name}_links": [{"rel": "next", "href": "/volume"}]} if has_next else {}


def _create_type(cloud: SimulatedCloud, call: Call) -> Reply:
    body = call.body["volume_type"]
    if body["os-volume-type-access:is_public"]:
        raise CloudRefused("only private types can be created here")
    made = cloud.block_storage.create_type(body["name"], body["description"], body["extra_specs"])
    return Reply(body={"volume_type": _type(made)})


def _type(volume_type: VolumeType) -> object:
    return {
        "id": volume_type.id,
        "name": volume_type.name,
        "is_public": volume_type.is_public,
        "os-volume-type-access:is_public": volume_type.is_public,
        "description": volume_type.description,
        "extra_specs": dict(volume_type.extra_specs),
    }


def _delete_type(cloud: SimulatedCloud, call: Call) -> Reply:
    return _refused_with_400(lambda: cloud.block_storage.delete_type(call["id"]))


def _list_access(cloud: SimulatedCloud, call: Call) -> Reply:
    found = cloud.block_storage.list_type_access(call["id"])
    access = [{"volume_type_id": call["id"], "project_id": each} for each in sorted(found)]
    return Reply(body={"volume_type_access": access})


def _change_type(cloud: SimulatedCloud, call: Call) -> Reply:
    ((action, what),) = call.body.items()
    storage = cloud.block_storage
    changes = {"addProjectAccess": storage.add_type_access, "removeProjectAccess": storage.remove_type_access}
    changes[action](call["id"], what["project"])
    return Reply(status=202)


def _show_quotas(cloud: SimulatedCloud, call: Call) -> Reply:
    storage = cloud.block_storage
    found = storage.get_quotas(call["id"], [each.name for each in storage.list_types()])
    quotas = {
        f"gigabytes_{name}": {"limit": each.limit, "in_use": each.used, "reserved": 0, "allocated": 0}
        for name, each in found.items()
    }
    return Reply(body={"quota_set": {"id": call["id"], **quotas}})


def _set_quotas(cloud: SimulatedCloud, call: Call) -> Reply:
    limits = {key.removeprefix("gigabytes_"): limit for key, limit in call.body["quota_set"].items()}
    change = cloud.block_storage.set_quotas
    return _refused_with_400(lambda: change(call["id"], limits), 200)


def _list_volumes(cloud: SimulatedCloud, call: Call) -> Reply:
    storage, pool = cloud.block_storage, call.value("host")
    found = (
        storage.list_volumes_in(pool) if pool else storage.list_volumes(call.value("volume_type_id") or "")
    )
    some, has_next = page_of(found, [each.id for each in found], call)
    return Reply(body={"volumes": [_volume(each) for each in some], **_links("volumes", has_next)})


def _volume(volume: Volume) -> object:
    return {
        "id": volume.id,
        "name": volume.name,
        "os-vol-tenant-attr:tenant_id": volume.project_id,
        "size": volume.size,
        "volume_type": volume.type_name,
        "status": volume.status,
        "os-vol-host-attr:host": volume.pool,
        "group_id": volume.group_id,
        "metadata": dict(volume.metadata),
        "attachments": [
            {"attachment_id": each.id, "server_id": each.server_id or ""} for each in volume.attachments
        ],
    }


def _list_snapshots(cloud: SimulatedCloud, call: Call) -> Reply:
    return _list_copies("snapshots", cloud.block_storage.list_snapshots, call)


def _list_backups(cloud: SimulatedCloud, call: Call) -> Reply:
    return _list_copies("backups", cloud.block_storage.list_backups, call)


def _list_copies(key: str, read: Callable[[str], Sequence[VolumeCopy]], call: Call) -> Reply:
    volume_id = call.value("volume_id")
    if volume_id is None or call.value("all_tenants") != "1":
        raise CloudRefused(f"{key} are only listed of one volume, for all projects here")
    found = read(volume_id)
    some, has_next = page_of(found, [each.id for each in found], call)
    return Reply(body={key: [asdict(each) for each in some], **_links(key, has_next)})


def _create_volume(cloud: SimulatedCloud, call: Call) -> Reply:
    body = call.body["volume"]
    new = NewVolume(
        name=body["name"],
        size=body["size"],
        type_name=body["volume_type"],
        image_id=body.get("imageRef"),
        metadata=body["metadata"],
    )
    try:
        made = cloud.storage_in(call.caller.project_id or "").create_volume(new)
    except CloudConflict as error:
        return Reply(status=413, body=_error(413, error.message))
    return Reply(status=202, body={"volume": {"id": made}})


def _create_snapshot(cloud: SimulatedCloud, call: Call) -> Reply:
    return _create_copy("snapshot", cloud.storage_in(call.caller.project_id or "").create_snapshot, call)


def _create_backup(cloud: SimulatedCloud, call: Call) -> Reply:
    return _create_copy("backup", cloud.storage_in(call.caller.project_id or "").create_backup, call)


def _create_copy(key: str, create: Callable[[str, str, str], str], call: Call) -> Reply:
    body = call.body[key]
    if body["force"] is not True:
        raise CloudRefused("attached volumes are only copied by force")
    try:
        made = create(body["volume_id"], body["name"], body["description"])
    except CloudConflict as error:
        raise CloudRefused(error.message) from error
    return Reply(status=202, body={key: {"id": made}})


def _delete_volume(cloud: SimulatedCloud, call: Call) -> Reply:
    if call.value("cascade") != "true":
        raise CloudRefused("volumes are only deleted with their snapshots here")
    force = call.value("force") == "true"
    return _refused_with_400(lambda: cloud.block_storage.delete_volume(call["id"], force=force))


def _act_on_volume(cloud: SimulatedCloud, call: Call) -> Reply:
    ((action, what),) = call.body.items()
    storage = cloud.block_storage
    if action == "os-force_detach":
        storage.force_detach(call["id"], what["attachment_id"])
        return Reply(status=202)
    if action == "os-retype" and what["migration_policy"] == "on-demand":
        return _refused_with_400(lambda: storage.retype_volume(call["id"], what["new_type"]))
    raise CloudRefused(f"{action} is not an action of volumes here")


def _list_transfers(cloud: SimulatedCloud, call: Call) -> Reply:
    found = cloud.block_storage.list_transfers()
    return Reply(body={"transfers": [{"id": key, "volume_id": each} for each, key in found.items()]})


def _delete_transfer(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.block_storage.delete_transfer(call["id"])
    return Reply(status=202)


def _list_groups(cloud: SimulatedCloud, call: Call) -> Reply:
    return Reply(body={"groups": [_group(each) for each in cloud.block_storage.list_groups()]})


def _group(group: VolumeGroup) -> object:
    return {"id": group.id, "name": group.name, "volume_types": sorted(group.type_ids), "status": "available"}


def _change_group(cloud: SimulatedCloud, call: Call) -> Reply:
    ids = call.body["group"]["remove_volumes"].split(",")
    return _refused_with_400(lambda: cloud.block_storage.leave_group(call["id"], ids))


def _act_on_group(cloud: SimulatedCloud, call: Call) -> Reply:
    if call.body != {"delete": {"delete-volumes": False}}:
        raise CloudRefused("groups are only deleted without their volumes here")
    return _refused_with_400(lambda: cloud.block_storage.delete_group(call["id"]))


def _list_group_snapshots(cloud: SimulatedCloud, call: Call) -> Reply:
    found = cloud.block_storage.list_group_snapshots() if call.value("all_tenants") == "1" else ()
    some, has_next = page_of(found, [each.id for each in found], call)
    body = [{"id": each.id, "group_id": each.group_id, "status": "available"} for each in some]
    return Reply(body={"group_snapshots": body, **_links("group_snapshot", has_next)})


def _delete_group_snapshot(cloud: SimulatedCloud, call: Call) -> Reply:
    return _refused_with_400(lambda: cloud.block_storage.delete_group_snapshot(call["id"]))


def _refused_with_400(change: Callable[[], None], status: int = 202) -> Reply:
    """Return the reply to a change for which Cinder answers 400 where an object's state forbids it."""
    try:
        change()
    except CloudConflict as error:
        raise CloudRefused(error.message) from error
    return Reply(status=status, body={} if status == 200 else None)


def _error(status: int, message: str) -> object:
    return {"itemNotFound" if status == 404 else "badRequest": {"code": status, "message": message}}


CINDER = Service(
    name="block-storage",
    path="/volume",
    error_body=_error,
    routes=(
        Route("GET", "/v3/scheduler-stats/get_pools", _list_pools),
        Route("GET", "/v3/types", _list_types),
        Route("POST", "/v3/types", _create_type),
        Route("DELETE", "/v3/types/{id}", _delete_type),
        Route("GET", "/v3/types/{id}/os-volume-type-access", _list_access),
        Route("POST", "/v3/types/{id}/action", _change_type),
        Route("GET", "/v3/os-quota-sets/{id}", _show_quotas),
        Route("PUT", "/v3/os-quota-sets/{id}", _set_quotas),
        Route("GET", "/v3/volumes/detail", _list_volumes),
        Route("DELETE", "/v3/volumes/{id}", _delete_volume),
        Route("POST", "/v3/volumes", _create_volume, is_open=True),
        Route("GET", "/v3/snapshots/detail", _list_snapshots),
        Route("POST", "/v3/snapshots", _create_snapshot, is_open=True),
        Route("GET", "/v3/backups/detail", _list_backups),
        Route("POST", "/v3/backups", _create_backup, is_open=True),
        Route("POST", "/v3/volumes/{id}/action", _act_on_volume),
        Route("GET", "/v3/os-volume-transfer/detail", _list_transfers),
        Route("DELETE", "/v3/os-volume-transfer/{id}", _delete_transfer),
        Route("GET", "/v3/groups/detail", _list_groups),
        Route("PUT", "/v3/groups/{id}", _change_group),
        Route("POST", "/v3/groups/{id}/action", _act_on_group),
        Route("GET", "/v3/group_snapshots/detail", _list_group_snapshots),
        Route("DELETE", "/v3/group_snapshots/{id}", _delete_group_snapshot),
    ),
)
