"""Keystone's projects, simulated; the service itself creates none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blazar.cloud.simulated.calls import Service, reads
from blazar.ports.identity import Project

if TYPE_CHECKING:
    from blazar.ports.identity import Projects


class SimulatedProjects(Service):
    """The projects of all domains."""

    @reads("projects.list_projects")
    def list_projects(self, name: str) -> tuple[Project, ...]:
        """Return the projects with this name, at most one in each domain."""
        return tuple(each for each in self._state.projects.values() if each.name == name)


if TYPE_CHECKING:

    def _witness(projects: SimulatedProjects) -> Projects:
        return projects
