"""Nova's server groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from blazar.cloud.openstack.rest import RestClient
from blazar.ports.compute import ServerGroup

if TYPE_CHECKING:
    from blazar.ports.compute import ServerGroups

_VERSION = "2.64"
"""From this version on, a group has one policy instead of a list of policies."""


class OpenStackServerGroups:
    """Server groups of all projects."""

    def __init__(self, nova: RestClient) -> None:
        self._nova = nova

    def list_server_groups(self) -> tuple[ServerGroup, ...]:
        """Return the server groups of all projects.

        Nova's pages have offsets, and the last one is not marked. If a group is deleted during the call,
        another one may be missing from the result.
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
    """Return a new group in the project of the client's user."""
    body = {"server_group": {"name": name, "policy": policy}}
    answer = nova.post("os-server-groups", body=body, version=_VERSION)
    return answer.read(lambda body: _group(body["server_group"]))


def _group(body: Mapping[str, Any]) -> ServerGroup:
    return ServerGroup(id=body["id"], name=body["name"], policy=body["policy"], project_id=body["project_id"])


if TYPE_CHECKING:

    def _witness(server_groups: OpenStackServerGroups) -> ServerGroups:
        return server_groups
