"""Keystone's projects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from blazar.cloud.openstack.rest import RestClient
from blazar.ports.identity import Project

if TYPE_CHECKING:
    from blazar.ports.identity import Projects


class OpenStackProjects:
    """The projects of all domains; needs an administrator's credentials."""

    def __init__(self, keystone: RestClient) -> None:
        self._keystone = keystone

    def list_projects(self, name: str) -> tuple[Project, ...]:
        """Return the projects with this name, at most one in each domain."""
        return self._keystone.list("projects", key="projects", parse=_project, params={"name": name})


def _project(body: Mapping[str, Any]) -> Project:
    return Project(id=body["id"], name=body["name"], domain_id=body["domain_id"])


if TYPE_CHECKING:

    def _witness(projects: OpenStackProjects) -> Projects:
        return projects
