"""Keystone's users, projects and trusts, simulated; the service itself creates none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blazar.cloud.simulated.calls import Service, reads, writes
from blazar.cloud.simulated.state import known
from blazar.ports.identity import Project, Trust, User

if TYPE_CHECKING:
    from blazar.ports.identity import Projects, Trusts, Users

SERVICE_USER = "blazar"
"""The id of the service's own user."""


class SimulatedProjects(Service):
    """The projects of all domains."""

    @reads("projects.list_projects")
    def list_projects(self, name: str) -> tuple[Project, ...]:
        """Return the projects with this name, at most one in each domain."""
        return tuple(each for each in self._state.projects.values() if each.name == name)


class SimulatedUsers(Service):
    """The users of all domains."""

    @reads("users.find_user")
    def find_user(self, user_id: str) -> User | None:
        """Return a user, or None."""
        return self._state.users.get(user_id)


class SimulatedTrusts(Service):
    """The trusts of all users."""

    @reads("trusts.own_user_id")
    def own_user_id(self) -> str:
        """Return the id of the service's own user."""
        return SERVICE_USER

    @reads("trusts.find_trust")
    def find_trust(self, trust_id: str) -> Trust | None:
        """Return a trust, or None."""
        return self._state.trusts.get(trust_id)

    @writes("trusts.delete_trust")
    def delete_trust(self, trust_id: str) -> None:
        """Delete a trust. Raises CloudNotFound."""
        known(self._state.trusts, trust_id, "trust")
        del self._state.trusts[trust_id]


if TYPE_CHECKING:

    def _witness(
        projects: SimulatedProjects, trusts: SimulatedTrusts, users: SimulatedUsers
    ) -> tuple[Projects, Trusts, Users]:
        return projects, trusts, users
