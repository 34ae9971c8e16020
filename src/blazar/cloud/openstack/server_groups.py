"""Nova's server groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blazar.cloud.openstack.nova import NovaPart
from blazar.cloud.openstack.rest import RestClient
from blazar.ports.compute import ServerGroup

_VERSION = "2.64"
"""Since then a group has one policy instead of a list of them."""


class ServerGroups(NovaPart):
    """Server groups of all projects."""

    def list_server_groups(self) -> tuple[ServerGroup, ...]:
        """Return the server groups of all projects.

        Nova's pages are counted here, and it does not say which is the last one; a group that goes
        meanwhile may hide another one, until the next time.
        """
        found: dict[str, ServerGroup] = {}
        offset = 0
        while True:
            answer = self._nova.get(
                "os-server-groups",
                params={"all_projects": "true", "offset": offset},
                version=_VERSION,
            )
            page = answer.read(lambda body: [_group(each) for each in body["server_groups"]])
            if not page:
                return tuple(found.values())
            found |= {each.id: each for each in page}
            offset += len(page)

    def delete_server_group(self, group_id: str) -> None:
        """Delete the group. Raises CloudNotFound."""
        self._nova.delete("os-server-groups", group_id, version=_VERSION)


def create_server_group(nova: RestClient, name: str, policy: str) -> ServerGroup:
    """Return a new group in the project of whoever asks."""
    body = {"server_group": {"name": name, "policy": policy}}
    answer = nova.post("os-server-groups", body=body, version=_VERSION)
    return answer.read(lambda body: _group(body["server_group"]))


def _group(body: Mapping[str, Any]) -> ServerGroup:
    return ServerGroup(id=body["id"], name=body["name"], policy=body["policy"], project_id=body["project_id"])
