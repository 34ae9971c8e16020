"""Handlers for questions about what can be reserved, and when."""

from __future__ import annotations

from blazar.api.call import Call
from blazar.api.leases import require_project


def search_time_slots(call: Call) -> object:
    """Return time slots in which the reservations of the body could be made."""
    require_project(call, "blazar:availability:search")
    return call.manager.search_time_slots(call.property_caller, call.body)


def get_catalogue(call: Call) -> object:
    """Return what the caller can reserve, and within which limits."""
    require_project(call, "blazar:catalogue:get")
    found = call.manager.get_catalogue(call.property_caller)
    return {"catalogue": {**found, "longest_page": call.max_limit}}
