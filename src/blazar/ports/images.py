"""Port: images of servers, which Nova creates and Glance stores. Calls may fail as those of Nova."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class ImageState(StrEnum):
    """The progress of an image. The values are Glance's; Glance has more states than these."""

    PENDING = "queued"
    ACTIVE = "active"
    """The image's data are complete, so that it can be used."""
    FAILED = "killed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image or a snapshot of a server, with its free-form properties."""

    id: str
    name: str
    owner_project_id: str
    properties: Mapping[str, str] = field(default_factory=dict)
    state: ImageState = ImageState.ACTIVE
    is_of_service: bool = False
    """True if it belongs to the service's own project, as newly created images do."""


class Images(Protocol):
    """Images of servers, in all projects."""

    def create_image(self, server_id: str, name: str, properties: Mapping[str, str]) -> str:
        """Start a snapshot of the server and return the image's id; the service owns the image.

        Raises:
            CloudNotFound: The server does not exist.
            CloudConflict: The server's present state does not allow a snapshot.
        """

    def set_image_owner(self, image_id: str, project_id: str) -> None:
        """Transfer an image to a project. Raises CloudNotFound."""

    def list_images(self, properties: Mapping[str, str]) -> tuple[Image, ...]:
        """Return the images that have all of these properties."""
