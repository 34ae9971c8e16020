"""Cinder as a member of one project uses it, with the service's own account."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from blazar.cloud.openstack.rest import RestClient
from blazar.domain.errors import CloudConflict
from blazar.ports.block_storage import NewVolume

if TYPE_CHECKING:
    from blazar.domain.errors import CloudError
    from blazar.ports.block_storage import ProjectStorage

_ANY: Final = "3.0"
_OVER_QUOTA: Final[Mapping[int, type[CloudError]]] = {413: CloudConflict}
_NOT_NOW: Final[Mapping[int, type[CloudError]]] = {400: CloudConflict, 413: CloudConflict}
"""Cinder answers 400 where the present status of a volume forbids the request."""


class OpenStackProjectStorage:
    """Volumes, snapshots and backups of one project."""

    def __init__(self, cinder: RestClient) -> None:
        """Use a client whose token is for the project."""
        self._cinder = cinder

    def create_volume(self, new: NewVolume) -> str:
        """Request a new volume, and return its id. Raises as the port does."""
        body: dict[str, object] = {
            "name": new.name,
            "size": new.size,
            "volume_type": new.type_name,
            "metadata": dict(new.metadata),
        }
        if new.image_id is not None:
            body["imageRef"] = new.image_id
        answer = self._cinder.post("volumes", body={"volume": body}, version=_ANY, means=_OVER_QUOTA)
        return answer.read(lambda body: str(body["volume"]["id"]))

    def create_snapshot(self, volume_id: str, name: str, description: str) -> str:
        """Request a snapshot, and return its id. Raises as the port does."""
        return self._copy("snapshot", volume_id, name, description)

    def create_backup(self, volume_id: str, name: str, description: str) -> str:
        """Request a backup, and return its id. Raises as the port does."""
        return self._copy("backup", volume_id, name, description)

    def _copy(self, what: str, volume_id: str, name: str, description: str) -> str:
        body = {"volume_id": volume_id, "name": name, "description": description, "force": True}
        answer = self._cinder.post(f"{what}s", body={what: body}, version=_ANY, means=_NOT_NOW)
        return answer.read(lambda body: str(body[what]["id"]))


if TYPE_CHECKING:

    def _witness(storage: OpenStackProjectStorage) -> ProjectStorage:
        return storage
