"""Snapshots of servers: Nova makes them, Glance keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blazar.cloud.openstack.nova import NovaPart
from blazar.cloud.openstack.rest import RestClient
from blazar.ports.compute import Image

_WITH_IMAGE_ID = "2.45"
_PATCH = "application/openstack-images-v2.1-json-patch"
_GLANCES_OWN = frozenset(
    {
        "checksum",
        "container_format",
        "created_at",
        "direct_url",
        "disk_format",
        "file",
        "id",
        "name",
        "os_hash_algo",
        "os_hash_value",
        "owner",
        "schema",
        "self",
        "status",
        "stores",
        "updated_at",
        "visibility",
    }
)
"""What is text in Glance's description of an image, and no property of it."""


class Images(NovaPart):
    """Images of servers. Glance sees the service as an administrator, so images of all projects."""

    @property
    def _glance(self) -> RestClient:
        return self._services.glance

    def create_image(self, server_id: str, name: str, properties: Mapping[str, str]) -> str:
        """Return the id of a snapshot that is being made. Raises as the port says."""
        body = {"createImage": {"name": name, "metadata": dict(properties)}}
        answer = self._nova.post("servers", server_id, "action", body=body, version=_WITH_IMAGE_ID)
        return answer.read(lambda body: str(body["image_id"]))

    def set_image_owner(self, image_id: str, project_id: str) -> None:
        """Give an image to a project. Raises CloudNotFound."""
        change = [{"op": "replace", "path": "/owner", "value": project_id}]
        self._glance.patch("images", image_id, body=change, content_type=_PATCH)

    def list_images(self, properties: Mapping[str, str]) -> tuple[Image, ...]:
        """Return the images that bear all of these properties."""
        found = self._glance.list("images", key="images", parse=_image, params=properties)
        return tuple(each for each in found if properties.items() <= each.properties.items())


def _image(body: Mapping[str, Any]) -> Image:
    return Image(
        id=body["id"],
        name=body["name"] or "",
        owner_project_id=body["owner"] or "",
        properties={
            key: value for key, value in body.items() if isinstance(value, str) and key not in _GLANCES_OWN
        },
    )
