"""What is wanted from the database for whoever watches the service: a few numbers about everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How things stand at one instant. What there is none of may be missing in a mapping."""

    leases: Mapping[str, int] = field(default_factory=dict)
    """By status."""
    reservations: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By resource type and status; those that are over are left out."""
    missing_resources: int = 0
    """Reservations that hold failed resources in whose place nothing could be put."""
    work_due: int = 0
    work_claimed: int = 0
    work_failing: int = 0
    work_overdue: timedelta = timedelta(0)
    """For how long the oldest of what is due and unclaimed has been so."""
    outbox: int = 0
    outbox_age: timedelta = timedelta(0)
    """Of the oldest message."""
    resources: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By collection and health."""
    promised: Mapping[str, int] = field(default_factory=dict)
    """By collection: resources that reservations hold now."""
    free: Mapping[str, int] = field(default_factory=dict)
    """By collection: sound resources that nobody holds now."""


class FiguresReader(Protocol):
    """The database, as far as it is watched."""

    def read(self, now: datetime) -> Figures:
        """Return the figures; the number of statements is fixed.

        Raises:
            Unavailable: The database does not answer.
        """
