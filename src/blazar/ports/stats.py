"""Port: a few numbers about the whole service, read from the database for monitoring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Leases that wait."""

    leases: int
    longest: timedelta
    """Time since the start or the end of the one that waits longest was due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Statistics of the service at one instant. Zero counts may be omitted from mappings."""

    leases: Mapping[str, int] = field(default_factory=dict)
    """By status."""
    waiting: Mapping[str, Wait] = field(default_factory=dict)
    """By status: leases in transition that wait for something but time."""
    reservations: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By resource type and status; finished reservations are omitted."""
    missing_resources: int = 0
    """Reservations that hold failed resources without a replacement."""
    work_due: int = 0
    work_claimed: int = 0
    work_failing: int = 0
    work_overdue: timedelta = timedelta(0)
    """Time since the oldest due and unclaimed work became due."""
    offers_open: int = 0
    """Offers that are neither committed nor expired."""
    outbox: int = 0
    outbox_age: timedelta = timedelta(0)
    """Age of the oldest message whose delivery is still tried."""
    outbox_failed: int = 0
    """Messages whose delivery was given up."""
    notices: int = 0
    """Notices that are not delivered yet, to all subscribers."""
    notices_age: timedelta = timedelta(0)
    """Age of the oldest of them."""
    notices_overdue: timedelta = timedelta(0)
    """Time since the oldest attempt to deliver one was due."""
    notices_failed: int = 0
    """Notices whose delivery was given up."""
    resources: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By collection and health."""
    maintenances: Mapping[str, int] = field(default_factory=dict)
    """Planned and active ones; those that ended are omitted."""
    under_maintenance: Mapping[str, int] = field(default_factory=dict)
    """By collection: resources under maintenance now."""
    maintenance_leases: Mapping[str, int] = field(default_factory=dict)
    """Leases that hold resources during a maintenance of these: those ``ahead``, and ``active`` ones."""
    reserved: Mapping[str, int] = field(default_factory=dict)
    """By collection: resources that reservations hold now."""
    free: Mapping[str, int] = field(default_factory=dict)
    """By collection: healthy resources that no reservation holds now, and that are not under maintenance."""


class StatsReader(Protocol):
    """Reader of the statistics."""

    def read(self, now: datetime) -> Stats:
        """Return the statistics; the number of statements is fixed.

        Raises:
            Unavailable: The database does not answer.
        """
