"""Port: the licence server."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class PoolState(StrEnum):
    """The operations that a pool allows."""

    OPEN = "open"
    CLOSED = "closed"
    """No new grants; existing ones are kept."""
    REVOKED = "revoked"
    """Its grants are invalid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A number of seats of one product that were bought together."""

    name: str
    product: str
    seats: int
    state: PoolState = PoolState.OPEN
    note: str = ""
    """The reason that it is not open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Seats of a pool that one project may use until an instant."""

    id: str
    """Chosen by the client."""
    pool: str
    project_id: str
    seats: int
    until: datetime
    in_use: int = 0
    notice: datetime | None = None
    """The instant of the end of which its users are notified, or were."""


class LicenceServer(Protocol):
    """The requests that the plugin uses; each may raise CloudUnavailable or CloudRefused."""

    def list_pools(self) -> tuple[Pool, ...]:
        """Return all pools."""

    def list_grants(self, prefix: str) -> tuple[Grant, ...]:
        """Return the grants whose ids start with *prefix*."""

    def put_grant(self, grant: Grant) -> None:
        """Create a grant, or change its seats and its end; this deletes its notice.

        Raises:
            CloudNotFound: The pool does not exist.
            CloudConflict: The pool has too few seats left, or more of the grant's seats are in use.
        """

    def put_notice(self, grant_id: str, at: datetime) -> None:
        """Notify the users of a grant of its end. Raises CloudNotFound."""

    def delete_grant(self, grant_id: str) -> None:
        """Delete a grant; seats in use become free. Raises CloudNotFound."""
