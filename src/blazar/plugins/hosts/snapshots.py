"""The before-end action ``snapshot``: an image of every server on the reservation's hosts.

The image has the reservation, the server and the occasion as properties. So a repeated step finds existing
images, and a lease that is extended gets new snapshots before its new end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.plugins.contract import Assignment, Done, Outcome, Refused, Result, ResultKind, Waiting
from blazar.plugins.hosts.spec import HostSpec
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Server
from blazar.ports.images import Image, ImageState

_RETRY = timedelta(seconds=5)
_RESERVATION = "blazar_reservation"
_SERVER = "blazar_server"
_OCCASION = "blazar_before_end"
_ATTEMPTS = 3
"""Maximum number of failed images of one server on one occasion."""


@dataclass(slots=True)
class _Found:
    """The progress for the servers of a reservation: texts by server id."""

    pending: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def outcome(self, images: Mapping[str, Sequence[Image]]) -> Outcome:
        """Return the outcome of the action: Waiting while any server is pending; *images* are by server."""
        reason = "; ".join(
            f"server {key}: {text}" for key, text in sorted({**self.failed, **self.pending}.items())
        )
        if self.pending:
            return Waiting(_RETRY, reason)
        saved = tuple(
            Result(ResultKind.SAVED, f"image {image.name}")
            for key in sorted(images)
            for image in images[key]
            if image.state is ImageState.ACTIVE
        )
        return Refused(reason, saved) if self.failed else Done(saved)


def take_snapshots(
    cloud: Cloud, assignment: Assignment[HostSpec], due: datetime, image_prefix: str
) -> Outcome:
    """Snapshot every server that has no image of this occasion, and check whether the images are active.

    The images belong to the lessee's project. Nova is called with the service's own credentials, because it
    lists servers by host for administrators only. A failed image is retried a few times.

    Returns:
        Waiting, while an image is pending or a server is in a state that cannot be snapshotted; Refused, with
        the reasons, if some images cannot be made; Done if all images are active.
    """
    occasion = {_RESERVATION: assignment.reservation_id, _OCCASION: due.isoformat()}
    images = _images_by_server(cloud, assignment, occasion)
    servers = [
        server
        for resource in assignment.resources
        for server in cloud.servers.list_servers(service_host=str(resource.facts["service_name"]))
        if not server.is_deleting and server.project_id == assignment.project_id
    ]
    made, found = False, _Found()
    for server in servers:
        if _needs_image(server, images.get(server.id, ()), found):
            name, properties = f"{image_prefix}{server.name}", {**occasion, _SERVER: server.id}
            made = _make_image(cloud, assignment, server, name, properties, found) or made
    if made:
        # Some clouds complete images immediately.
        images = _images_by_server(cloud, assignment, occasion)
        for server_id in list(found.pending):
            if any(each.state is ImageState.ACTIVE for each in images.get(server_id, ())):
                del found.pending[server_id]
    return found.outcome(images)


def _images_by_server(
    cloud: Cloud, assignment: Assignment[HostSpec], occasion: Mapping[str, str]
) -> Mapping[str, Sequence[Image]]:
    """Return the images of an occasion by server; change the owner of those left by an interrupted step.

    Every user can set these properties on an image, so images of other projects are ignored.
    """
    found: dict[str, list[Image]] = {}
    for image in cloud.images.list_images(occasion):
        if image.is_of_service:
            with suppress(CloudNotFound):
                cloud.images.set_image_owner(image.id, assignment.project_id)
        elif image.owner_project_id != assignment.project_id:
            continue
        found.setdefault(image.properties.get(_SERVER, ""), []).append(image)
    return found


def _needs_image(server: Server, images: Sequence[Image], found: _Found) -> bool:
    """Return whether to make an image of a server now; otherwise record its progress."""
    states = {each.state for each in images}
    if ImageState.ACTIVE in states:
        return False
    if ImageState.PENDING in states:
        found.pending[server.id] = "its image is being made"
        return False
    if len(images) >= _ATTEMPTS:
        found.failed[server.id] = f"{len(images)} images of it failed"
        return False
    return True


def _make_image(
    cloud: Cloud,
    assignment: Assignment[HostSpec],
    server: Server,
    name: str,
    properties: Mapping[str, str],
    found: _Found,
) -> bool:
    """Request an image of a server and record the answer; return whether it is pending."""
    try:
        image_id = cloud.images.create_image(server.id, name, properties)
        cloud.images.set_image_owner(image_id, assignment.project_id)
    except (CloudConflict, CloudNotFound) as error:
        # A server that is gone is not listed by the next step.
        found.pending[server.id] = f"cannot be snapshotted yet: {error.message}"
        return False
    except CloudRefused as error:
        found.failed[server.id] = error.message
        return False
    found.pending[server.id] = "its image is being made"
    return True
