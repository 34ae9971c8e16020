"""Nova's servers and server groups, and Glance's images of servers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from blazar.cloud.simulated import SimulatedCloud
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.compute import Lessee, Server, ServerGroup
from blazar.ports.images import Image
from rig.cloud.messages import LARGEST_PAGE, Call, Reply, Route
from rig.cloud.paging import links, page_of

_ROOT_DEVICE = "/dev/vda"
_NO_PROPERTIES = frozenset({"marker", "limit"})


def _list_servers(cloud: SimulatedCloud, call: Call) -> Reply:
    servers = cloud.servers.list_servers(
        service_host=call.value("host"),
        flavor_id=call.value("flavor"),
        zone=call.value("availability_zone"),
    )
    page, has_next = page_of(servers, [each.id for each in servers], call)
    bodies = [_server(each) for each in page]
    return Reply(body={"servers": bodies, **links("servers", call, has_next=has_next)})


def _find_server(cloud: SimulatedCloud, call: Call) -> Reply:
    found = [each for each in cloud.servers.list_servers() if each.id == call["id"]]
    if not found:
        raise CloudNotFound(f"no server has the id {call['id']}")
    status = "SUSPENDED" if cloud.is_suspended(call["id"]) else "ACTIVE"
    more = {"status": status, "OS-EXT-SRV-ATTR:root_device_name": _ROOT_DEVICE}
    return Reply(body={"server": {**_server(found[0]), **more}})


def _act_on_server(cloud: SimulatedCloud, call: Call) -> Reply:
    ((action, detail),) = call.body.items()
    match action:
        case "forceDelete":
            cloud.servers.delete_server(call["id"])
            return Reply(status=202)
        case "confirmResize":
            cloud.servers.confirm_resize(call["id"])
            return Reply(status=204)
        case "resume":
            cloud.servers.reactivate_server(call["id"])
            return Reply(status=202)
        case "createImage":
            image_id = cloud.images.create_image(call["id"], detail["name"], detail["metadata"])
            return Reply(status=202, body={"image_id": image_id})
        case _:
            raise CloudRefused(f"there is no such action: {action}")


def _list_migrations(cloud: SimulatedCloud, call: Call) -> Reply:
    since = datetime.fromisoformat(call.value("changes-since") or "")
    resizes = cloud.servers.list_resizes(call.value("project_id") or "", since)
    return Reply(
        body={
            "migrations": [
                {
                    "instance_uuid": each.server_id,
                    "source_compute": each.former_host,
                    "migration_type": "resize",
                    "status": "finished" if each.is_finished else "post-migrating",
                }
                for each in resizes
            ]
        }
    )


def _set_metadata(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.servers.set_server_metadata(call["id"], call.body["metadata"])
    return Reply(body=call.body)


def _detach_volume(cloud: SimulatedCloud, call: Call) -> Reply:
    server_id, volume_id = call["id"], call["volume_id"]
    try:
        cloud.servers.detach_volume(server_id, volume_id)
    except CloudConflict as error:
        # Nova's response to a state of the volume is that to the detachment of a root volume.
        if cloud.is_suspended(server_id):
            raise
        raise CloudRefused(error.message) from error
    return Reply(status=202)


def _find_attachment(cloud: SimulatedCloud, call: Call) -> Reply:
    device = _ROOT_DEVICE if cloud.is_root_volume(call["volume_id"]) else "/dev/vdb"
    return Reply(body={"volumeAttachment": {"volumeId": call["volume_id"], "device": device}})


def _server(server: Server) -> Mapping[str, object]:
    return {
        "id": server.id,
        "name": server.name,
        "tenant_id": server.project_id,
        "OS-EXT-SRV-ATTR:host": server.service_host,
        "flavor": {"extra_specs": dict(server.flavor_extra_specs)},
        "metadata": dict(server.metadata),
        "OS-EXT-STS:task_state": "deleting" if server.is_deleting else None,
        "OS-EXT-STS:vm_state": "active",
    }


def _list_groups(cloud: SimulatedCloud, call: Call) -> Reply:
    start = int(call.value("offset") or 0)
    page = cloud.server_groups.list_server_groups()[start : start + LARGEST_PAGE]
    return Reply(body={"server_groups": [_group(each) for each in page]})


def _create_group(cloud: SimulatedCloud, call: Call) -> Reply:
    body = call.body["server_group"]
    compute = cloud.compute_for(Lessee(project_id=call.caller.project_id or ""))
    return Reply(body={"server_group": _group(compute.create_server_group(body["name"], body["policy"]))})


def _delete_group(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.server_groups.delete_server_group(call["id"])
    return Reply(status=204)


def _group(group: ServerGroup) -> object:
    return {"id": group.id, "name": group.name, "policy": group.policy, "project_id": group.project_id}


def _list_images(cloud: SimulatedCloud, call: Call) -> Reply:
    wanted = {key: values[-1] for key, values in call.query.items() if key not in _NO_PROPERTIES}
    images = cloud.images.list_images(wanted)
    page, has_next = page_of(images, [each.id for each in images], call)
    more = {"next": "/v2/images"} if has_next else {}
    return Reply(body={"images": [_image(each) for each in page], **more})


def _change_image(cloud: SimulatedCloud, call: Call) -> Reply:
    (change,) = call.body
    if (change["op"], change["path"]) != ("replace", "/owner"):
        raise CloudRefused("only the owner can be replaced here")
    cloud.images.set_image_owner(call["id"], change["value"])
    return Reply(body={"id": call["id"], "owner": change["value"]})


def _image(image: Image) -> Mapping[str, object]:
    return {
        "id": image.id,
        "name": image.name,
        "owner": image.owner_project_id,
        "status": image.state.value,
        **image.properties,
    }


ROUTES = (
    Route("GET", "/servers/detail", _list_servers),
    Route("GET", "/servers/{id}", _find_server),
    Route("GET", "/os-migrations", _list_migrations),
    Route("POST", "/servers/{id}/action", _act_on_server),
    Route("POST", "/servers/{id}/metadata", _set_metadata),
    Route("GET", "/servers/{id}/os-volume_attachments/{volume_id}", _find_attachment),
    Route("DELETE", "/servers/{id}/os-volume_attachments/{volume_id}", _detach_volume),
    Route("GET", "/os-server-groups", _list_groups),
    Route("POST", "/os-server-groups", _create_group, is_open=True),
    Route("DELETE", "/os-server-groups/{id}", _delete_group),
)
IMAGE_ROUTES = (
    Route("GET", "/v2/images", _list_images),
    Route("PATCH", "/v2/images/{id}", _change_image),
)
