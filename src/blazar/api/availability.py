"""Handlers for questions about free times."""

from __future__ import annotations

from blazar.api.call import Call
from blazar.api.leases import require_project


def search_time_slots(call: Call) -> object:
    """Return time slots in which the reservations of the body could be made."""
    require_project(call, "blazar:availability:search")
    return call.manager.search_time_slots(call.property_caller, call.body)
