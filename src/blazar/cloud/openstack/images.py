"""Snapshots of servers, created by Nova and stored in Glance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from blazar.cloud.openstack.rest import RestClient
from blazar.ports.images import Image, ImageState

if TYPE_CHECKING:
    from blazar.ports.images import Images

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
"""Text keys of an image in Glance's format that are not properties."""


_STATES = {
    "active": ImageState.ACTIVE,
    "killed": ImageState.FAILED,
    "deleted": ImageState.FAILED,
    "pending_delete": ImageState.FAILED,
    "deactivated": ImageState.FAILED,
}
"""Image states by Glance's status; any other status means that the data is not complete yet."""


class OpenStackImages:
    """Images of servers. The service is an administrator in Glance and sees the images of all projects."""

    def __init__(self, nova: RestClient, glance: RestClient, project_id: Callable[[], str]) -> None:
        """Create the adapter; makes no call.

        Args:
            nova: The client that creates images.
            glance: The client that lists and changes them.
            project_id: Returns the id of the service's own project, in which Glance creates images.
        """
        self._nova = nova
        self._glance = glance
        self._project_id = project_id

    def create_image(self, server_id: str, name: str, properties: Mapping[str, str]) -> str:
        """Return the id of a new, pending snapshot. Raises as in the port."""
        body = {"createImage": {"name": name, "metadata": dict(properties)}}
        answer = self._nova.post("servers", server_id, "action", body=body, version=_WITH_IMAGE_ID)
        return answer.read(lambda body: str(body["image_id"]))

    def set_image_owner(self, image_id: str, project_id: str) -> None:
        """Give an image to a project. Raises CloudNotFound."""
        change = [{"op": "replace", "path": "/owner", "value": project_id}]
        self._glance.patch("images", image_id, body=change, content_type=_PATCH)

    def list_images(self, properties: Mapping[str, str]) -> tuple[Image, ...]:
        """Return the images that have all of these properties."""
        found = self._glance.list("images", key="images", parse=_image, params=properties)
        own_project = self._project_id() if found else ""
        return tuple(
            replace(each, is_of_service=each.owner_project_id == own_project)
            for each in found
            if properties.items() <= each.properties.items()
        )


def _image(body: Mapping[str, Any]) -> Image:
    return Image(
        id=body["id"],
        name=body["name"] or "",
        owner_project_id=body["owner"] or "",
        properties={
            key: value for key, value in body.items() if isinstance(value, str) and key not in _GLANCES_OWN
        },
        state=_STATES.get(body["status"], ImageState.PENDING),
    )


if TYPE_CHECKING:

    def _witness(images: OpenStackImages) -> Images:
        return images
