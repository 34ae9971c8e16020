"""Nova's servers of all projects."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from blazar.cloud.openstack.rest import RestClient
from blazar.domain.errors import CloudConflict, CloudRefused
from blazar.ports.compute import Resize, Server

if TYPE_CHECKING:
    from blazar.ports.compute import Servers

_WITH_FLAVOR = "2.47"
"""From this version on, a server includes its flavor's extra specs."""
_MIGRATIONS_OF_PROJECT = "2.80"
"""From this version on, migrations can be listed by project."""
_ANY = "2.1"
_GOING = frozenset({"deleting", "soft-deleting"})
_MOVES = frozenset({"resize", "migration"})
"""Types of migrations that must be confirmed; an administrator's cold migration is one, too."""
_UNFINISHED = frozenset({"pre-migrating", "migrating", "post-migrating", "reverting"})
_ATTACHMENTS: Final = "os-volume_attachments"
_TO_ACTIVE: Final[Mapping[str, object]] = {
    "SUSPENDED": {"resume": None},
    "RESCUE": {"unrescue": None},
    "ERROR": {"os-resetState": {"state": "active"}},
}
"""The actions that make servers active, by status."""


class OpenStackServers:
    """Servers of all projects, including soft-deleted ones, which still occupy their hosts."""

    def __init__(self, nova: RestClient) -> None:
        self._nova = nova

    def list_servers(
        self, *, service_host: str | None = None, flavor_id: str | None = None, zone: str | None = None
    ) -> tuple[Server, ...]:
        """Return the servers of all projects on that host, with that flavor, in that zone; from all pages.

        No server has a flavor that was deleted.
        """
        return self._nova.list(
            "servers",
            "detail",
            key="servers",
            parse=_server,
            params={
                "all_tenants": "1",
                "deleted": "false",
                # Together with ``deleted=false``, this does not restrict the list; it adds soft-deleted
                # servers.
                "soft_deleted": "true",
                "host": service_host,
                "flavor": flavor_id,
                "availability_zone": zone,
            },
            version=_WITH_FLAVOR,
        )

    def delete_server(self, server_id: str) -> None:
        """Request a server's deletion, which is not immediate. Raises CloudNotFound.

        The deletion is forced: a soft-deleted server would occupy its host until Nova reclaims it.
        """
        self._nova.post("servers", server_id, "action", body={"forceDelete": None}, version=_ANY)

    def list_resizes(self, project_id: str, since: datetime) -> tuple[Resize, ...]:
        """Return the resizes of a project's servers that changed since an instant and can be reverted."""
        found = self._nova.list(
            "os-migrations",
            key="migrations",
            parse=_resize,
            params={"project_id": project_id, "changes-since": since.isoformat()},
            version=_MIGRATIONS_OF_PROJECT,
        )
        return tuple(each for each in found if each is not None)

    def confirm_resize(self, server_id: str) -> None:
        """Request that a finished resize is confirmed. Raises CloudNotFound and CloudConflict."""
        self._nova.post("servers", server_id, "action", body={"confirmResize": None}, version=_ANY)

    def detach_volume(self, server_id: str, volume_id: str) -> None:
        """Request that a volume is detached. Raises as in the port.

        Nova responds with 400 both if the server was booted from the volume and if the volume is already
        being detached.
        """
        try:
            self._nova.delete("servers", server_id, _ATTACHMENTS, volume_id, version=_ANY)
        except CloudRefused as error:
            if self._is_root(server_id, volume_id):
                raise
            raise CloudConflict(error.message) from error

    def _is_root(self, server_id: str, volume_id: str) -> bool:
        """Return whether a server was booted from a volume. Raises CloudNotFound."""
        attachment = self._nova.get("servers", server_id, _ATTACHMENTS, volume_id, version=_ANY)
        device = attachment.read(lambda body: body["volumeAttachment"]["device"])
        server = self._nova.get("servers", server_id, version=_WITH_FLAVOR)
        return server.read(lambda body: bool(body["server"]["OS-EXT-SRV-ATTR:root_device_name"] == device))

    def reactivate_server(self, server_id: str) -> None:
        """Request that a server becomes active. Raises as in the port."""
        server = self._nova.get("servers", server_id, version=_ANY)
        if action := server.read(lambda body: _TO_ACTIVE.get(body["server"]["status"])):
            self._nova.post("servers", server_id, "action", body=action, version=_ANY)

    def set_server_metadata(self, server_id: str, metadata: Mapping[str, str]) -> None:
        """Set these keys and leave others alone. Raises CloudNotFound and CloudConflict as in the port."""
        self._nova.post("servers", server_id, "metadata", body={"metadata": dict(metadata)}, version=_ANY)


def _resize(body: Mapping[str, Any]) -> Resize | None:
    """Return a resize that can be reverted, now or when it is finished; None for other migrations."""
    is_finished = body["status"] == "finished"
    if body["migration_type"] not in _MOVES or not (is_finished or body["status"] in _UNFINISHED):
        return None
    return Resize(
        server_id=body["instance_uuid"], former_host=body["source_compute"], is_finished=is_finished
    )


def _server(body: Mapping[str, Any]) -> Server:
    return Server(
        id=body["id"],
        name=body["name"],
        project_id=body["tenant_id"],
        # None until it is scheduled.
        service_host=body["OS-EXT-SRV-ATTR:host"] or "",
        flavor_extra_specs=body["flavor"]["extra_specs"],
        metadata=body["metadata"],
        is_deleting=body["OS-EXT-STS:task_state"] in _GOING or body["OS-EXT-STS:vm_state"] == "deleted",
    )


if TYPE_CHECKING:

    def _witness(servers: OpenStackServers) -> Servers:
        return servers
