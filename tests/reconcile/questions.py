"""Queries of a lab's state, and faults for it."""

from __future__ import annotations

from typing import Any

from reconcile.lab import Lab

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.lease import EventStatus, EventType


def fails(operation: str, status: int = 503, **keys: Any) -> FaultRule:
    return FaultRule(kind=FaultKind.STATUS, operation=operation, status=status, **keys)


def everything(lab: Lab) -> tuple[object, ...]:
    """Return the state that a refused request must not change."""
    world = lab.world()
    return world.leases, world.allocations, world.journal, world.outbox, lab.aggregates()


def host_id(lab: Lab, name: str) -> str:
    return next(str(row.id) for row in lab.world().hosts if row.service_name == name)


def events(lab: Lab, lease_id: str) -> dict[EventType, EventStatus]:
    return {each.event_type: each.status for each in lab.lease(lease_id).events}
