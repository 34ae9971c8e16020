"""What is wanted of a licence server."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class PoolState(StrEnum):
    """What may be done with a pool."""

    OPEN = "open"
    CLOSED = "closed"
    """No new grants; who has one keeps it."""
    REVOKED = "revoked"
    """Its grants are worth nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """So many seats of one product, as they were bought."""

    name: str
    product: str
    seats: int
    state: PoolState = PoolState.OPEN
    note: str = ""
    """Why it is not open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Seats of a pool that one project may use until an instant."""

    id: str
    """Chosen by whoever makes it."""
    pool: str
    project_id: str
    seats: int
    until: datetime
    in_use: int = 0
    notice: datetime | None = None
    """When its users are told, or were told, that it ends."""


class LicenceServer(Protocol):
    """One request each; any of them may raise CloudUnavailable or CloudRefused."""

    def list_pools(self) -> tuple[Pool, ...]:
        """Return all pools."""

    def list_grants(self, prefix: str) -> tuple[Grant, ...]:
        """Return the grants whose ids begin so."""

    def put_grant(self, grant: Grant) -> None:
        """Make a grant, or change its seats and its end; a notice is forgotten.

        Raises:
            CloudNotFound: There is no such pool.
            CloudConflict: It has not so many seats left, or more of the grant's seats are in use.
        """

    def put_notice(self, grant_id: str, at: datetime) -> None:
        """Have a grant's users told that it ends. Raises CloudNotFound."""

    def delete_grant(self, grant_id: str) -> None:
        """End a grant; seats in use come back. Raises CloudNotFound."""
