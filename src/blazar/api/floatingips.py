"""Handlers for floating IPs."""

from __future__ import annotations

from blazar.api.call import Call


def list_floatingips(call: Call) -> object:
    """Return all registered floating IPs."""
    return {"floatingips": call.manager.list_floatingips(call.caller)}


def create_floatingip(call: Call) -> object:
    """Register an address of an external network as a floating IP and return it."""
    return {"floatingip": call.manager.create_floatingip(call.caller, call.body)}


def get_floatingip(call: Call) -> object:
    """Return a floating IP."""
    found = call.manager.get_floatingip(call.caller, call.params["floatingip_id"])
    return {"floatingip": found}


def delete_floatingip(call: Call) -> object:
    """Remove a floating IP."""
    call.manager.delete_floatingip(call.caller, call.params["floatingip_id"])
    return None
