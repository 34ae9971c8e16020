"""Storage of the cloudlab's Cinder for the contract suite, as its users and an administrator see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, ClassVar, Protocol

from cloud.waiting import wait_until
from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions import BadRequest, HttpError, NotFound
from requests import Response

from blazar.domain.errors import CloudNotFound, CloudRefused
from cloudlab.cinder import ORDINARY_TYPE, pool_name

PATIENCE_SECONDS = 90
_WITH_GROUPS = "3.13"
_WITH_GROUP_SNAPSHOTS = "3.29"
_WITH_ATTACHMENTS = "3.27"
_PARTS = {"volumes": "volume", "snapshots": "snapshot", "backups": "backup"}


class Users(Protocol):
    """The users of a contract lab."""

    def member_api(self, project_id: str, service_type: str) -> Adapter:
        """Return the client of a member of a project."""

    def serve(self, project_id: str) -> None:
        """Give the service's account the role of a member in a project."""

    def attach_to_server(self, server_id: str, volume_id: str) -> None:
        """Request the attachment of a volume to a server."""

    def boot_from(self, volume_id: str) -> str:
        """Return the id of an active server that was booted from a bootable volume."""

    def suspend(self, server_id: str) -> None:
        """Suspend a server."""

    def wait_until_active(self, server_id: str) -> None:
        """Return when a server is active."""


class CinderStorage:
    """Two pools that only reservations use, and what a test makes in them."""

    pools: ClassVar[tuple[str, str]] = (pool_name("fast", "ssd"), pool_name("slow", "disk"))

    def __init__(self, cinder: Adapter, users: Users, prefix: str, project_ids: tuple[str, str]) -> None:
        """Create it for projects whose objects are removed at the end, with types whose names have a prefix.

        Args:
            cinder: The client of an administrator.
            users: The users of the lab.
            prefix: What the names of all objects begin with.
            project_ids: The projects.
        """
        self._cinder = cinder
        self._users = users
        self._prefix = prefix
        self._project_ids = project_ids

    @property
    def ordinary_type_id(self) -> str:
        found: dict[str, str] = {each["name"]: each["id"] for each in self._types()}
        return found[ORDINARY_TYPE]

    def create_volume(self, project_id: str, size: int, type_name: str) -> str:
        body = {"name": f"{self._prefix}-volume", "size": size, "volume_type": type_name}
        member = self._users.member_api(project_id, "block-storage")
        try:
            made = _post(member, "/volumes", {"volume": body})["volume"]
        except NotFound as error:
            raise CloudNotFound(str(error)) from error
        except HttpError as error:
            raise CloudRefused(str(error)) from error
        self.wait_until_available(made["id"])
        return str(made["id"])

    def snapshot(self, volume_id: str) -> None:
        body = {"volume_id": volume_id, "name": f"{self._prefix}-snapshot"}
        made = _post(self._owner(volume_id), "/snapshots", {"snapshot": body})["snapshot"]
        _wait_until(lambda: self._find("snapshots", made["id"])["status"] == "available")

    def begin_transfer(self, volume_id: str) -> str:
        body = {"transfer": {"volume_id": volume_id, "name": f"{self._prefix}-transfer"}}
        return str(_post(self._owner(volume_id), "/os-volume-transfer", body)["transfer"]["id"])

    def reserve(self, volume_id: str, *, server_id: str | None) -> None:
        owner = self._owner(volume_id)
        if server_id is None:
            owner.post(f"/volumes/{volume_id}/action", json={"os-reserve": None})
        else:
            body = {"attachment": {"volume_uuid": volume_id, "instance_uuid": server_id}}
            owner.post("/attachments", json=body, microversion=_WITH_ATTACHMENTS)

    def group(self, name: str, type_ids: frozenset[str], volume_ids: tuple[str, ...]) -> str:
        kind = _post(self._cinder, "/group_types", {"group_type": {"name": name}})["group_type"]["id"]
        member = self._users.member_api(self._project_ids[0], "block-storage")
        body = {"name": name, "group_type": kind, "volume_types": sorted(type_ids)}
        group_id = str(_post(member, "/groups", {"group": body})["group"]["id"])
        self.wait_until_group_is_available(group_id)
        change = {"group": {"add_volumes": ",".join(volume_ids)}}
        member.put(f"/groups/{group_id}", json=change, microversion=_WITH_GROUPS)
        self.wait_until_group_is_available(group_id)
        return group_id

    def snapshot_group(self, group_id: str) -> str:
        member = self._users.member_api(self._project_ids[0], "block-storage")
        body = {"group_snapshot": {"group_id": group_id, "name": f"{self._prefix}-group-snapshot"}}
        answer = member.post("/group_snapshots", json=body, microversion=_WITH_GROUP_SNAPSHOTS)
        made = str(answer.json()["group_snapshot"]["id"])
        _wait_until(lambda: self._group_snapshots().get(made) == "available")
        return made

    def wait_until_group_snapshot_is_gone(self, group_snapshot_id: str) -> None:
        _wait_until(lambda: group_snapshot_id not in self._group_snapshots())

    def attach(self, volume_id: str, server_id: str | None) -> str:
        if server_id is None:
            action = {"os-attach": {"host_name": "elsewhere", "mountpoint": "/dev/vdx", "mode": "rw"}}
            self._cinder.post(f"/volumes/{volume_id}/action", json=action)
        else:
            self._users.attach_to_server(server_id, volume_id)
        _wait_until(lambda: self._find("volumes", volume_id)["status"] == "in-use")
        (attachment,) = self._find("volumes", volume_id)["attachments"]
        return str(attachment["attachment_id"])

    def boot_from(self, volume_id: str) -> str:
        action = {"os-set_bootable": {"bootable": True}}
        self._cinder.post(f"/volumes/{volume_id}/action", json=action)
        return self._users.boot_from(volume_id)

    def suspend(self, server_id: str) -> None:
        self._users.suspend(server_id)

    def wait_until_active(self, server_id: str) -> None:
        self._users.wait_until_active(server_id)

    def wait_until_gone(self, type_id: str) -> None:
        query = {"all_tenants": "1", "volume_type_id": type_id}
        _wait_until(lambda: not self._cinder.get("/volumes/detail", params=query).json()["volumes"])

    def wait_until_reported(self) -> None:
        asked_at = datetime.now(UTC).replace(tzinfo=None)  # noqa: TID251 - that of the services, too

        def is_new(pool: Mapping[str, Any]) -> bool:
            return datetime.fromisoformat(pool["capabilities"]["timestamp"]) > asked_at

        path = "/scheduler-stats/get_pools?detail=true"
        _wait_until(lambda: all(is_new(each) for each in self._cinder.get(path).json()["pools"]))

    def wait_until_group_is_available(self, group_id: str) -> None:
        def is_available() -> bool:
            answer: Response = self._cinder.get(f"/groups/{group_id}", microversion=_WITH_GROUPS)
            return bool(answer.json()["group"]["status"] == "available")

        _wait_until(is_available)

    def wait_until_group_is_gone(self, group_id: str) -> None:
        _wait_until(lambda: group_id not in {each["id"] for each in self._of_projects("groups", "groups")})

    def serve(self, project_id: str) -> None:
        self._users.serve(project_id)

    def wait_until_available(self, volume_id: str) -> None:
        _wait_until(lambda: self._find("volumes", volume_id)["status"] == "available")

    def remove_everything(self) -> None:
        """Remove what the projects have and the types that a test made; servers must be gone."""
        for transfer in self._of_projects("os-volume-transfer", "transfers"):
            self._delete(f"/os-volume-transfer/{transfer['id']}")
        self._remove_group_snapshots()
        for group in self._of_projects("groups", "groups"):
            self._remove_group(group)
        for volume in self._of_projects("volumes", "volumes"):
            for attachment in volume["attachments"]:
                action = {"os-force_detach": {"attachment_id": attachment["attachment_id"]}}
                self._cinder.post(f"/volumes/{volume['id']}/action", json=action, raise_exc=False)
        for what in ("backups", "volumes"):
            self._remove_all(what)
        for kind in self._types():
            if kind["name"].startswith(self._prefix):
                self._cinder.delete(f"/types/{kind['id']}")

    def _remove_all(self, what: str) -> None:
        def are_gone() -> bool:
            left = self._of_projects(what, what)
            for each in left:
                query = {"cascade": "true"} if what == "volumes" else {}
                # Refused while a copy is made; it is repeated until nothing is left.
                with suppress(NotFound, BadRequest):
                    self._cinder.delete(f"/{what}/{each['id']}", params=query)
            return not left

        _wait_until(are_gone)

    def _group_snapshots(self) -> dict[str, str]:
        """Return the status of each group snapshot, by id."""
        answer: Response = self._cinder.get(
            "/group_snapshots/detail", params={"all_tenants": "1"}, microversion=_WITH_GROUP_SNAPSHOTS
        )
        found: list[dict[str, Any]] = answer.json()["group_snapshots"]
        return {each["id"]: each["status"] for each in found if each["name"].startswith(self._prefix)}

    def _remove_group_snapshots(self) -> None:
        left = self._group_snapshots()
        for each in left:
            path = f"/group_snapshots/{each}"
            self._cinder.delete(path, microversion=_WITH_GROUP_SNAPSHOTS, raise_exc=False)
        for each in left:
            self.wait_until_group_snapshot_is_gone(each)

    def _remove_group(self, group: Mapping[str, Any]) -> None:
        path = f"/groups/{group['id']}/action"
        body = {"delete": {"delete-volumes": True}}
        self._cinder.post(path, json=body, microversion=_WITH_GROUPS, raise_exc=False)
        self.wait_until_group_is_gone(group["id"])
        self._cinder.delete(f"/group_types/{group['group_type']}", microversion=_WITH_GROUPS, raise_exc=False)

    def _delete(self, path: str) -> None:
        with suppress(NotFound):
            self._cinder.delete(path)

    def _types(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._cinder.get("/types?is_public=None").json()["volume_types"]
        return found

    def _of_projects(self, path: str, key: str) -> list[dict[str, Any]]:
        answer: Response = self._cinder.get(
            f"/{path}/detail", params={"all_tenants": "1"}, microversion=_WITH_GROUPS
        )
        found: list[dict[str, Any]] = answer.json()[key]
        return [each for each in found if (each["name"] or "").startswith(self._prefix)]

    def _find(self, what: str, object_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self._cinder.get(f"/{what}/{object_id}").json()[_PARTS[what]]
        return found

    def _owner(self, volume_id: str) -> Adapter:
        """Return the client of a member of the project that has a volume."""
        project_id = self._find("volumes", volume_id)["os-vol-tenant-attr:tenant_id"]
        return self._users.member_api(project_id, "block-storage")


def _post(api: Adapter, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = api.post(path, json=body, microversion=_WITH_GROUPS).json()
    return made


def _wait_until(is_so: Callable[[], bool]) -> None:
    wait_until(is_so, PATIENCE_SECONDS)
