"""Handlers for leases."""

from __future__ import annotations

from blazar.api import render
from blazar.api.call import Call
from blazar.domain.errors import Forbidden
from blazar.ports.manager import JsonObject

_KEYS = ("name", "start_date", "end_date", "before_end_date", "reservations")


def list_leases(call: Call) -> object:
    """Return the leases of all projects to operators, and of the caller's own to others."""
    project_id = None if call.is_admin else call.caller.project_id
    if not project_id and not call.is_admin:
        raise Forbidden("blazar:leases:get needs a token for a project")
    return {"leases": render.leases(call.manager.list_leases(call.caller, project_id))}


def create_lease(call: Call) -> object:
    """Create a lease and return it."""
    return {"lease": render.lease(call.manager.create_lease(call.caller, _documented(call.body)))}


def get_lease(call: Call) -> object:
    """Return a lease."""
    return {"lease": render.lease(call.lease)}


def update_lease(call: Call) -> object:
    """Change a lease and return it as it is then; an empty change returns it as it is."""
    lease_id = call.params["lease_id"]
    return {"lease": render.lease(call.manager.update_lease(call.caller, lease_id, _documented(call.body)))}


def delete_lease(call: Call) -> object:
    """Delete a lease; an active one is wound down, which may outlast the answer."""
    call.manager.delete_lease(call.caller, call.params["lease_id"])
    return None


def _documented(body: JsonObject) -> JsonObject:
    """Return the documented keys of a body, and nothing else.

    Client-supplied ``events`` are not among them, on creation neither: events follow from the dates.

    Source: rest-api 10.1 (1, 2, 3).
    """
    known = {key: body[key] for key in _KEYS if key in body}
    if "name" in known:
        known["name"] = str(known["name"])
    if known.get("reservations") == {}:
        known["reservations"] = []
    return known
