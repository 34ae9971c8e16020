"""Nova's servers and server groups, and Glance's images of servers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from blazar.cloud.simulated.calls import Calls, Service, reads, writes
from blazar.cloud.simulated.state import known
from blazar.domain.errors import CloudConflict, CloudRefused
from blazar.ports.compute import Image, Server, ServerGroup

POLICIES = frozenset({"affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"})


class SimulatedServers(Service):
    """Servers of all projects. A server takes *deletion_time* to go once its deletion is asked for."""

    def __init__(self, calls: Calls, *, deletion_time: timedelta) -> None:
        super().__init__(calls)
        self.deletion_time = deletion_time

    @reads("compute.list_servers")
    def list_servers(
        self, *, service_host: str | None = None, flavor_id: str | None = None
    ) -> tuple[Server, ...]:
        """Return the servers on that host, or of that flavor, oldest first."""
        return tuple(
            each
            for each in self._state.servers.values()
            if service_host in (None, each.service_host) and flavor_id in (None, each.flavor_id)
        )

    @writes("compute.delete_server")
    def delete_server(self, server_id: str) -> None:
        """Ask for a server's deletion; asking again changes nothing. Raises CloudNotFound."""
        server = known(self._state.servers, server_id, "server")
        if server.is_deleting:
            return
        now = self._calls.now()
        self._state.servers[server_id] = replace(server, is_deleting=True)
        self._state.deletions[server_id] = now + self.deletion_time
        self._state.forget_deleted_servers(now)

    @writes("compute.create_image")
    def create_image(
        self, server_id: str, name: str, owner_project_id: str, properties: Mapping[str, str]
    ) -> str:
        """Return the id of a new snapshot.

        Raises:
            CloudNotFound: The server does not exist.
            CloudConflict: The server is being deleted.
        """
        if known(self._state.servers, server_id, "server").is_deleting:
            raise CloudConflict(f"server {server_id} is being deleted")
        image = Image(
            id=self._state.new_id(),
            name=name,
            owner_project_id=owner_project_id,
            properties=dict(properties),
        )
        self._state.images[image.id] = image
        return image.id

    @reads("compute.list_images")
    def list_images(self, properties: Mapping[str, str]) -> tuple[Image, ...]:
        """Return the images that bear all of these properties, oldest first."""
        return tuple(
            each for each in self._state.images.values() if properties.items() <= each.properties.items()
        )

    @writes("compute.create_server_group")
    def create_server_group(self, name: str, policy: str, project_id: str) -> ServerGroup:
        """Return a new server group. Raises CloudRefused for a policy that Nova does not know."""
        if policy not in POLICIES:
            raise CloudRefused(f"{policy} is no policy of server groups")
        group = ServerGroup(id=self._state.new_id(), name=name, policy=policy, project_id=project_id)
        self._state.server_groups[group.id] = group
        return group

    @reads("compute.list_server_groups")
    def list_server_groups(self) -> tuple[ServerGroup, ...]:
        """Return the server groups of all projects, oldest first."""
        return tuple(self._state.server_groups.values())

    @writes("compute.delete_server_group")
    def delete_server_group(self, group_id: str) -> None:
        """Delete a server group. Raises CloudNotFound."""
        known(self._state.server_groups, group_id, "server group")
        del self._state.server_groups[group_id]
