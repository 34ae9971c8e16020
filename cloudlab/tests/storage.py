"""The storage pools that end-to-end tests reserve, and what lessees do with their volumes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from keystoneauth1.adapter import Adapter

from cloudlab import cinder
from cloudlab.tests.actors import Actor, Json
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.tests.registered import deregister_all
from cloudlab.waiting import wait_until

POOL: Final = ("fast", "ssd")
"""The pool that most tests reserve."""
SIZE: Final = cinder.POOLS["fast"]["ssd"]
_API: Final = "3.27"
_SECONDS: Final = 90


@dataclass(frozen=True, slots=True)
class Storage:
    """The registered pools, and Cinder as an administrator sees it."""

    lab: EndToEndLab

    @property
    def _cinder(self) -> Adapter:
        return self.lab.openstack.api("block-storage")

    def register(self, *pools: tuple[str, str], **keys: object) -> None:
        """Register pools, each given by its back end and its name there, with further keys."""
        for backend, pool in pools:
            self.lab.operator.blazar.storage_pool.create(cinder.pool_name(backend, pool), **keys)

    def deregister(self) -> None:
        """Remove all pools, after waiting for the leases that hold them."""
        deregister_all(self.lab.operator.blazar.storage_pool)

    def serve_all_projects(self) -> None:
        """Let the service act in all projects of the domain, as the guide for operators says."""
        self._keystone("put")

    def serve_no_project(self) -> None:
        """Undo :meth:`serve_all_projects`."""
        self._keystone("delete")

    def _keystone(self, method: str) -> None:
        keystone = self.lab.openstack.api("identity")
        (role,) = keystone.get("/roles", params={"name": "member"}).json()["roles"]
        user = self.lab.openstack.details.accounts["blazar"].user_id
        path = f"/OS-INHERIT/domains/default/users/{user}/roles/{role['id']}/inherited_to_projects"
        keystone.request(path, method)

    def types(self) -> dict[str, Json]:
        """Return the volume types of reservations, by name."""
        found = self._cinder.get("/types?is_public=None").json()["volume_types"]
        return {each["name"]: each for each in found if each["name"].startswith("reservation:")}

    def only_type(self) -> str:
        """Return the name of the volume type of the only reservation."""
        (name,) = self.types()
        return name

    def volumes(self) -> dict[str, Json]:
        """Return the volumes of all projects, by id."""
        found = self._cinder.get("/volumes/detail?all_tenants=1", microversion=_API).json()["volumes"]
        return {each["id"]: each for each in found}

    def pool_of(self, volume_id: str) -> str:
        """Return the pool in which a volume is."""
        return str(self.volumes()[volume_id]["os-vol-host-attr:host"])

    def wait_until_reported_free(self, backend: str, pool: str) -> None:
        """Return when Cinder's scheduler knows that a pool is empty, which takes up to a minute."""
        name = cinder.pool_name(backend, pool)

        def is_free() -> bool:
            found = self._cinder.get("/scheduler-stats/get_pools?detail=true").json()["pools"]
            free = {each["name"]: each["capabilities"]["free_capacity_gb"] for each in found}
            return bool(free[name] == cinder.POOLS[backend][pool])

        wait_until(is_free, f"{pool} is empty", seconds=_SECONDS)

    def delete_volume(self, volume_id: str) -> None:
        """Delete a volume and wait until it is gone."""
        self._cinder.delete(f"/volumes/{volume_id}?cascade=true")
        wait_until(lambda: volume_id not in self.volumes(), f"volume {volume_id} goes", seconds=_SECONDS)

    def delete_backups(self) -> None:
        """Delete all backups and wait until they are gone."""

        def found() -> Sequence[Json]:
            backups: list[Json] = self._cinder.get("/backups/detail?all_tenants=1").json()["backups"]
            return backups

        for each in found():
            self._cinder.delete(f"/backups/{each['id']}")
        wait_until(lambda: not found(), "backups go", seconds=_SECONDS)

    def file(self, volume_id: str) -> Path:
        """Return the file in which the data of a volume is."""
        backend, _, pool = self.pool_of(volume_id).partition("@")[2].partition("#")
        name_id = self.volumes()[volume_id].get("os-vol-mig-status-attr:name_id") or volume_id
        return cinder.pool_folder(self.lab.openstack.folder, backend, pool) / f"volume-{name_id}"


@dataclass(frozen=True, slots=True)
class VolumeUser:
    """A lessee and his volumes."""

    lessee: Actor
    account: str

    @property
    def cinder(self) -> Adapter:
        """Return the client of the lessee."""
        return self.lessee.openstack.api("block-storage", self.account)

    def reserve(
        self,
        gibibytes: int = 4,
        *,
        start: str | datetime = "now",
        end: datetime | None = None,
        before_end_date: datetime | None = None,
        **keys: object,
    ) -> Json:
        """Return a new lease for capacity, for an hour from now."""
        reservation = {"resource_type": "virtual:volume", "gibibytes": gibibytes, **keys}
        return self.lessee.create_lease(reservation, start, end, before_end_date)

    def reserve_whole(self, pools: int = 1, *, start: str | datetime = "now", **keys: object) -> Json:
        """Return a new lease for whole pools, for an hour from now."""
        reservation = {"resource_type": "physical:storage", "min": pools, "max": pools, **keys}
        return self.lessee.create_lease(reservation, start)

    def request(self, size: int, type_name: str, **keys: Any) -> int | str:
        """Request a volume; return its id, or the status of the refusal."""
        body = {"name": "mine", "size": size, "volume_type": type_name, **keys}
        answer = self.cinder.post("/volumes", json={"volume": body}, raise_exc=False)
        return str(answer.json()["volume"]["id"]) if answer.ok else int(answer.status_code)

    def add_until_gone(self, type_name: str) -> int:
        """Request volumes of 1 GiB until the type does not exist for the lessee; return how many were made.

        Raises:
            LabError: The type still exists after a timeout.
        """
        api, made = self.cinder, 0
        body = {"volume": {"name": "late", "size": 1, "volume_type": type_name}}

        def is_gone() -> bool:
            nonlocal made
            answer = api.post("/volumes", json=body, raise_exc=False)
            made += answer.ok
            return bool(answer.status_code == 404)

        wait_until(is_gone, f"type {type_name} cannot be used", seconds=_SECONDS, every_seconds=0)
        return made

    def create(self, size: int, type_name: str) -> str:
        """Return the id of a new volume that is available."""
        made = self.request(size, type_name)
        assert isinstance(made, str), made
        self.wait_for(made, "available")
        return made

    def wait_for(self, volume_id: str, status: str) -> None:
        """Return when a volume has a status."""
        wait_until(
            lambda: self.cinder.get(f"/volumes/{volume_id}").json()["volume"]["status"] == status,
            f"volume {volume_id} is {status}",
            seconds=_SECONDS,
        )

    def act(self, volume_id: str, **action: object) -> int:
        """Send an action of a volume, and return the status of the answer."""
        name, content = next(iter(action.items()))
        body = {name.replace("_", "-"): content}
        answer = self.cinder.post(f"/volumes/{volume_id}/action", json=body, raise_exc=False)
        return int(answer.status_code)

    def post(self, path: str, body: Json, version: str = _API) -> Json:
        """Send a request that creates something, and return the answer."""
        made: Json = self.cinder.post(path, json=body, microversion=version).json()
        return made

    def attach(self, volume_id: str) -> str:
        """Return the id of a new server to which the volume is attached."""
        server_id = self.lessee.boot()
        assert self.lessee.wait_for_server(server_id) == "ACTIVE"
        body = {"volumeAttachment": {"volumeId": volume_id}}
        self.lessee.compute.post(f"/servers/{server_id}/os-volume_attachments", json=body)
        self.wait_for(volume_id, "in-use")
        return server_id
