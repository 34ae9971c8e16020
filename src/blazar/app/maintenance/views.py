"""Maintenance as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from blazar.booking.clearing import Affected, Clearing, Move
from blazar.booking.context import Context
from blazar.booking.views import JsonObject
from blazar.domain.formats import API
from blazar.domain.lease import Lease, ResourceId
from blazar.domain.maintenance import OPEN_END, Maintenance


def maintenance_notice(maintenance: Maintenance, names: Sequence[str]) -> JsonObject:
    """Return a maintenance as shown to the owner of an affected lease."""
    return {
        "id": maintenance.id,
        "reason": maintenance.reason,
        "start_date": API.date(maintenance.start),
        "end_date": _shown_end(maintenance),
        "resources": names,
    }


def _shown_end(maintenance: Maintenance) -> str | None:
    return None if maintenance.end >= OPEN_END else API.date(maintenance.end)


def maintenance_view(
    maintenance: Maintenance, names: Mapping[ResourceId, str], now: datetime
) -> dict[str, object]:
    """Return a maintenance, with the names of its resources."""
    return {
        "id": maintenance.id,
        "resource_type": maintenance.resource_type,
        "reason": maintenance.reason,
        "status": maintenance.status_at(now).value,
        "start_date": API.date(maintenance.start),
        "end_date": _shown_end(maintenance),
        "leave_pool": maintenance.leaves_pool,
        "user_id": maintenance.user_id,
        "created_at": API.stamp(maintenance.created_at),
        "resources": [{"id": key, "name": names.get(key, key)} for key in maintenance.resource_ids],
    }


def plan_view(context: Context, maintenance: Maintenance, clearing: Clearing) -> JsonObject:
    """Return a maintenance with its plan."""
    ids = set(maintenance.resource_ids)
    ids |= {key for move in clearing.moves for key in (*move.removed, *move.added)}
    with context.store.read() as transaction:
        names = transaction.maintenances.names_of(ids)
    return {
        **maintenance_view(maintenance, names, context.clock.now()),
        "moves": [_move_view(each, names) for each in clearing.moves],
        "active": [_affected_view(each, names) for each in clearing.active],
        "unmovable": [_affected_view(each, names) for each in clearing.unmovable],
    }


def _move_view(move: Move, names: Mapping[ResourceId, str]) -> JsonObject:
    return {
        **_lease_view(move.lease),
        "reservation_id": move.reservation.id,
        "resource_type": move.reservation.resource_type,
        "from": [{"id": key, "name": names.get(key, key)} for key in sorted(move.removed)],
        "to": [{"id": key, "name": names.get(key, key)} for key in sorted(move.added)],
    }


def _affected_view(each: Affected, names: Mapping[ResourceId, str]) -> JsonObject:
    key = each.allocation.resource_id
    return {
        **_lease_view(each.lease),
        "reservation_id": each.reservation.id,
        "resource_type": each.reservation.resource_type,
        "resource": {"id": key, "name": names.get(key, key)},
    }


def _lease_view(lease: Lease) -> JsonObject:
    return {
        "lease_id": lease.id,
        "lease_name": lease.name,
        "project_id": lease.project_id,
        "user_id": lease.user_id,
        "start_date": API.date(lease.start),
        "end_date": API.date(lease.end),
    }
