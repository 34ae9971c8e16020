"""Port: the journal of all transitions, and the findings of checks.

Errors of the database are those of :mod:`blazar.ports.store`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from blazar.domain.lease import LeaseId, ReservationId

DELETE: Final = "delete"
"""The event name of the journal entry for a request to delete a lease."""

LONGEST_REASON: Final = 8_000
"""The most characters of a reason that has what a request asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """A transition and its reason. ``actor`` is a user's id or a manager's name.

    A transaction with a second entry of the same lease and ``executed_request_id`` raises AlreadyExecuted.
    """

    at: datetime
    lease_id: LeaseId | None
    event: str
    reason: str = ""
    reservation_id: ReservationId | None = None
    actor: str = ""
    request_id: str | None = None
    executed_request_id: str | None = None


class Journal(Protocol):
    """The record of all transitions; entries outlive their lease."""

    def append(self, entries: Sequence[JournalEntry]) -> None:
        """Add entries."""

    def knows_leases(self) -> bool:
        """Return whether the journal has an entry for any lease."""

    def known_reservations(self, reservation_ids: Collection[str]) -> frozenset[str]:
        """Return those of the ids that name reservations with journal entries."""

    def has_delete(self, lease_id: str) -> bool:
        """Return whether a request to delete the lease was recorded."""

    def list_event(
        self, event: str, lease_ids: Collection[LeaseId] | None = None
    ) -> tuple[JournalEntry, ...]:
        """Return the entries with this event, of these leases or of all; of each, oldest first."""

    def list_latest(self, lease_id: str, events: Collection[str], limit: int) -> tuple[JournalEntry, ...]:
        """Return a lease's latest entries with these events, oldest first.

        Reasons that are longer than :data:`LONGEST_REASON`, of entries of older releases, are cut.
        """

    def list(self, lease_id: str) -> tuple[JournalEntry, ...]:
        """Return a lease's entries, oldest first."""


class Findings(Protocol):
    """Possible faults that count only if they are seen twice, since they may be transient."""

    def note(self, finder: str, keys: Collection[str], at: datetime) -> Mapping[str, datetime]:
        """Replace a finder's findings by these; return when each was first seen.

        Args:
            finder: The name of the check; one word.
            keys: The findings of this check.
            at: The time of this check.
        """
