"""Nova's servers and server groups, and Glance's images of servers, simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from blazar.cloud.simulated.calls import Calls, Service, reads, writes
from blazar.cloud.simulated.state import known
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.compute import Resize, Server, ServerGroup
from blazar.ports.images import Image, ImageState

if TYPE_CHECKING:
    from blazar.ports.compute import ServerGroups, Servers
    from blazar.ports.images import Images

SERVICE_PROJECT = "service"
"""The project of the service itself."""


class SimulatedServers(Service):
    """Servers of all projects.

    The deletion of a server takes *deletion_time*, the detachment of a volume *detachment_time*.
    """

    def __init__(self, calls: Calls, *, deletion_time: timedelta) -> None:
        super().__init__(calls)
        self.deletion_time = deletion_time
        self.detachment_time = timedelta(0)

    @reads("compute.list_servers")
    def list_servers(
        self, *, service_host: str | None = None, flavor_id: str | None = None, zone: str | None = None
    ) -> tuple[Server, ...]:
        """Return the servers on that host, with that flavor, and in that zone, oldest first.

        No server has a flavor that was deleted. No host with servers changes its zone.
        """
        return tuple(
            each
            for each in self._state.servers.values()
            if service_host in (None, each.service_host)
            and flavor_id in (None, self._state.server_flavors.get(each.id))
            and (zone is None or zone == self._state.zone_of(each.service_host))
        )

    @writes("compute.delete_server")
    def delete_server(self, server_id: str) -> None:
        """Request a server's deletion; repeated requests have no effect. Raises CloudNotFound."""
        server = known(self._state.servers, server_id, "server")
        if server.is_deleting:
            return
        now = self._calls.now()
        self._state.servers[server_id] = replace(server, is_deleting=True)
        self._state.deletions[server_id] = now + self.deletion_time
        self._state.forget_deleted_servers(now)

    @reads("compute.list_resizes")
    def list_resizes(self, project_id: str, since: datetime) -> tuple[Resize, ...]:
        """Return the resizes of a project's servers that changed since an instant and can be reverted."""
        return tuple(
            Resize(server_id=server_id, former_host=each.former_host, is_finished=each.is_finished)
            for server_id, each in self._state.resizes.items()
            if self._state.servers[server_id].project_id == project_id and each.at >= since
        )

    @writes("compute.confirm_resize")
    def confirm_resize(self, server_id: str) -> None:
        """Confirm a resize, at once. Raises CloudNotFound, and CloudConflict if there is no finished one."""
        known(self._state.servers, server_id, "server")
        resize = self._state.resizes.get(server_id)
        if resize is None or not resize.is_finished:
            raise CloudConflict(f"server {server_id} has no finished resize")
        self._state.forget_resize(server_id)

    @writes("compute.detach_volume")
    def detach_volume(self, server_id: str, volume_id: str) -> None:
        """Request that a volume is detached.

        Raises:
            CloudNotFound: The server does not exist, or does not have the volume.
            CloudConflict: The server is suspended, or the volume is being detached from it or another one.
            CloudRefused: The server was booted from the volume.
        """
        state = self._state
        known(state.servers, server_id, "server")
        volume = known(state.volumes, volume_id, "volume")
        attachment = next((each for each in volume.attachments if each.server_id == server_id), None)
        if attachment is None:
            raise CloudNotFound(f"server {server_id} does not have volume {volume_id}")
        if volume_id in state.root_volumes:
            raise CloudRefused(f"server {server_id} was booted from volume {volume_id}")
        if server_id in state.suspended_servers:
            raise CloudConflict(f"server {server_id} is suspended")
        if volume.status != "in-use":
            raise CloudConflict(f"volume {volume_id} is {volume.status}")
        now = self._calls.now()
        state.volumes[volume_id] = replace(volume, status="detaching")
        state.detachments[attachment.id] = now + self.detachment_time
        state.finish_volume_work(now)

    @writes("compute.reactivate_server")
    def reactivate_server(self, server_id: str) -> None:
        """Resume a suspended server. Raises CloudNotFound."""
        known(self._state.servers, server_id, "server")
        self._state.suspended_servers -= {server_id}

    @writes("compute.set_server_metadata")
    def set_server_metadata(self, server_id: str, metadata: Mapping[str, str]) -> None:
        """Set these keys and leave others alone.

        Raises:
            CloudNotFound: The server does not exist.
            CloudConflict: The server is being deleted.
        """
        server = known(self._state.servers, server_id, "server")
        if server.is_deleting:
            raise CloudConflict(f"server {server_id} is being deleted")
        self._state.servers[server_id] = replace(server, metadata={**server.metadata, **metadata})


class SimulatedImages(Service):
    """Images of servers."""

    def __init__(self, calls: Calls) -> None:
        super().__init__(calls)
        self.image_state = ImageState.ACTIVE
        """The state of new images."""

    @writes("compute.create_image")
    def create_image(self, server_id: str, name: str, properties: Mapping[str, str]) -> str:
        """Return the id of a new snapshot, which belongs to :data:`SERVICE_PROJECT`.

        Raises:
            CloudNotFound: The server does not exist.
            CloudConflict: The server is being deleted.
        """
        if known(self._state.servers, server_id, "server").is_deleting:
            raise CloudConflict(f"server {server_id} is being deleted")
        image = Image(
            id=self._state.new_id(),
            name=name,
            owner_project_id=SERVICE_PROJECT,
            properties=dict(properties),
            state=self.image_state,
        )
        self._state.images[image.id] = image
        return image.id

    @writes("compute.set_image_owner")
    def set_image_owner(self, image_id: str, project_id: str) -> None:
        """Give an image to a project. Raises CloudNotFound."""
        image = known(self._state.images, image_id, "image")
        self._state.images[image_id] = replace(image, owner_project_id=project_id)

    def settle_images(self, state: ImageState) -> None:
        """Set this state for pending images, and for all new ones."""
        self.image_state = state
        for image in self._state.images.values():
            if image.state is ImageState.PENDING:
                self._state.images[image.id] = replace(image, state=state)

    @reads("compute.list_images")
    def list_images(self, properties: Mapping[str, str]) -> tuple[Image, ...]:
        """Return the images that have all of these properties, oldest first."""
        return tuple(
            replace(each, is_of_service=each.owner_project_id == SERVICE_PROJECT)
            for each in self._state.images.values()
            if properties.items() <= each.properties.items()
        )


class SimulatedServerGroups(Service):
    """Server groups of all projects."""

    @reads("compute.list_server_groups")
    def list_server_groups(self) -> tuple[ServerGroup, ...]:
        """Return the server groups of all projects, oldest first."""
        return tuple(self._state.server_groups.values())

    @writes("compute.delete_server_group")
    def delete_server_group(self, group_id: str) -> None:
        """Delete a server group. Raises CloudNotFound."""
        known(self._state.server_groups, group_id, "server group")
        del self._state.server_groups[group_id]


if TYPE_CHECKING:

    def _witness(
        servers: SimulatedServers, images: SimulatedImages, groups: SimulatedServerGroups
    ) -> tuple[Servers, Images, ServerGroups]:
        return servers, images, groups
