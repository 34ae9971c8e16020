"""Entries of the log of changes."""

from __future__ import annotations

from blazar.domain.lease import ResourceId
from blazar.ports.store import Transaction


def changes_after(transaction: Transaction, sequence: int) -> tuple[tuple[int, ResourceId, bool], ...]:
    """Return (sequence number, resource, whether facts changed) of what has been logged since, in order."""
    found = transaction.availability.changes("host", sequence)
    return tuple((each.sequence, each.resource_id, each.facts_changed) for each in found)
