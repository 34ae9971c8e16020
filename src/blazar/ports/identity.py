"""Port: Keystone. Any call may raise ``CloudUnavailable`` or ``CloudRefused``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """A delegation of one user's roles in a project to another user."""

    id: str
    trustor_user_id: str
    trustee_user_id: str
    project_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project of any domain."""

    id: str
    name: str
    domain_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A user of any domain."""

    id: str
    name: str
    email: str | None
    is_enabled: bool


class Users(Protocol):
    """The users of all domains. Reading them requires an administrator."""

    def find_user(self, user_id: str) -> User | None:
        """Return a user, or None."""


class Projects(Protocol):
    """The projects of all domains. Listing them requires an administrator."""

    def list_projects(self, name: str) -> tuple[Project, ...]:
        """Return the projects with this name, at most one per domain."""


class Trusts(Protocol):
    """Trusts. Keystone lets only the trustor and administrators delete a trust."""

    def own_user_id(self) -> str:
        """Return the id of the user whose credentials these calls use."""

    def find_trust(self, trust_id: str) -> Trust | None:
        """Return a trust, or None."""

    def delete_trust(self, trust_id: str) -> None:
        """Delete a trust. Raises CloudNotFound."""
