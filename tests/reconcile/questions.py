"""Queries of an environment's state, and faults for it."""

from __future__ import annotations

from typing import Any

from reconcile.reconciler_env import ReconcilerEnv

from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.lease import EventStatus, EventType


def fails(operation: str, status: int = 503, **keys: Any) -> FaultRule:
    return FaultRule(kind=FaultKind.STATUS, operation=operation, status=status, **keys)


def everything(env: ReconcilerEnv) -> tuple[object, ...]:
    """Return the state that a refused request must not change."""
    rows = env.rows()
    return rows.leases, rows.allocations, rows.journal, rows.outbox, env.aggregates()


def host_id(env: ReconcilerEnv, name: str) -> str:
    return next(str(row.id) for row in env.rows().hosts if row.service_name == name)


def events(env: ReconcilerEnv, lease_id: str) -> dict[EventType, EventStatus]:
    return {each.event_type: each.status for each in env.lease(lease_id).events}
