"""Keystone's users, projects and trusts; all need an administrator's credentials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from blazar.cloud.openstack.access import Credentials
from blazar.cloud.openstack.rest import RestClient
from blazar.ports.identity import Project, Trust, User

if TYPE_CHECKING:
    from blazar.ports.identity import Projects, Trusts, Users


class OpenStackProjects:
    """The projects of all domains; needs an administrator's credentials."""

    def __init__(self, keystone: RestClient) -> None:
        self._keystone = keystone

    def list_projects(self, name: str) -> tuple[Project, ...]:
        """Return the projects with this name, at most one in each domain."""
        return self._keystone.list("projects", key="projects", parse=_project, params={"name": name})


def _project(body: Mapping[str, Any]) -> Project:
    return Project(id=body["id"], name=body["name"], domain_id=body["domain_id"])


class OpenStackUsers:
    """The users of all domains; needs an administrator's credentials."""

    def __init__(self, keystone: RestClient) -> None:
        self._keystone = keystone

    def find_user(self, user_id: str) -> User | None:
        """Return a user, or None."""
        answer = self._keystone.find("users", user_id)
        return None if answer is None else answer.read(lambda body: _user(body["user"]))


def _user(body: Mapping[str, Any]) -> User:
    return User(
        id=body["id"],
        name=body["name"],
        email=body.get("email") or None,
        is_enabled=body.get("enabled", True),
    )


class OpenStackTrusts:
    """Trusts of all users; needs an administrator's credentials."""

    def __init__(self, keystone: RestClient, credentials: Credentials) -> None:
        self._keystone = keystone
        self._credentials = credentials

    def own_user_id(self) -> str:
        """Return the id of the service's own user."""
        return self._credentials.user_id()

    def find_trust(self, trust_id: str) -> Trust | None:
        """Return a trust, or None."""
        answer = self._keystone.find("OS-TRUST", "trusts", trust_id)
        return None if answer is None else answer.read(lambda body: _trust(body["trust"]))

    def delete_trust(self, trust_id: str) -> None:
        """Delete a trust. Raises CloudNotFound."""
        self._keystone.delete("OS-TRUST", "trusts", trust_id)


def _trust(body: Mapping[str, Any]) -> Trust:
    return Trust(
        id=body["id"],
        trustor_user_id=body["trustor_user_id"],
        trustee_user_id=body["trustee_user_id"],
        project_id=body["project_id"],
    )


if TYPE_CHECKING:

    def _witness(
        projects: OpenStackProjects, trusts: OpenStackTrusts, users: OpenStackUsers
    ) -> tuple[Projects, Trusts, Users]:
        return projects, trusts, users
