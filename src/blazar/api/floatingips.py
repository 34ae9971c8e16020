"""Handlers for floating IPs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from blazar.api import lists
from blazar.api.call import Call
from blazar.ports.manager import JsonObject


def list_floatingips(call: Call) -> object:
    """Return all registered floating IPs."""
    return lists.respond_with(lists.FLOATINGIPS, call, partial(_list_floatingips, call))


def _list_floatingips(call: Call, page: JsonObject | None) -> Sequence[JsonObject]:
    if page is None:
        return call.manager.list_floatingips(call.caller)
    return call.manager.list_floatingips(call.caller, page)


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
