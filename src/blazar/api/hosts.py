"""Handlers for hosts, their allocations and their resource properties."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from blazar.api import lists
from blazar.api.call import Call
from blazar.ports.manager import JsonObject

_NO_WORDS = frozenset({"", "false", "0", "no", "off"})


def list_hosts(call: Call) -> object:
    """Return all registered hosts."""
    return lists.respond_with(lists.HOSTS, call, partial(_list_hosts, call))


def _list_hosts(call: Call, page: JsonObject | None) -> Sequence[JsonObject]:
    if page is None:
        return call.manager.list_hosts(call.property_caller)
    return call.manager.list_hosts(call.property_caller, page)


def create_host(call: Call) -> object:
    """Register a hypervisor as a host and return it; keys except `id` and `name` are extra capabilities."""
    return {"host": call.manager.create_host(call.caller, call.body)}


def get_host(call: Call) -> object:
    """Return a host by id; its name is not accepted."""
    return {"host": call.manager.get_host(call.property_caller, call.params["host_id"])}


def update_host(call: Call) -> object:
    """Set extra capabilities, or remove those that are null, and return the host."""
    host_id = call.params["host_id"]
    return {"host": call.manager.update_host(call.property_caller, host_id, call.body)}


def delete_host(call: Call) -> object:
    """Remove a host, which returns it to ordinary use."""
    call.manager.delete_host(call.caller, call.params["host_id"])
    return None


def list_allocations(call: Call) -> object:
    """Return the allocations of every host; a host without matching allocations has an empty list."""
    return lists.respond_with(lists.ALLOCATIONS, call, partial(_list_allocations, call))


def _list_allocations(call: Call, page: JsonObject | None) -> Sequence[JsonObject]:
    lease_id, reservation_id = call.query.get("lease_id") or None, call.query.get("reservation_id") or None
    if page is None:
        return call.manager.list_allocations(call.caller, lease_id, reservation_id)
    return call.manager.list_allocations(call.caller, lease_id, reservation_id, page)


def get_allocations(call: Call) -> object:
    """Return the allocations of one host."""
    found = call.manager.get_allocations(
        call.caller,
        call.params["host_id"],
        call.query.get("lease_id") or None,
        call.query.get("reservation_id") or None,
    )
    return {"allocation": found}


def list_resource_properties(call: Call) -> object:
    """Return the properties of all hosts; private ones only if an operator requests all."""
    include_private = _is_set(call, "all") and call.property_caller.sees_private_properties
    found = call.manager.list_resource_properties(call.caller, include_private)
    keys = ("property", "private", "values") if _is_set(call, "detail") else ("property",)
    return {"resource_properties": [{key: each[key] for key in keys} for each in found]}


def update_resource_property(call: Call) -> object:
    """Make a resource property private or public and return it."""
    private = bool(call.body["private"]) if "private" in call.body else None
    changed = call.manager.update_resource_property(call.caller, call.params["property_name"], private)
    return {"resource_property": changed}


def _is_set(call: Call, flag: str) -> bool:
    """Return whether a flag of the query is set to a word other than those in `_NO_WORDS`."""
    return call.query.get(flag, "").strip().lower() not in _NO_WORDS
