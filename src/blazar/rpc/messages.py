"""Requests and answers as JSON, the same whatever carries them.

Errors travel as their stable code, message and fields, and come out as the class they went in as.

A long list travels as text that is packed, to those who say that they can unpack it: those of a version that
does not know of that, on either side, are understood and answered as ever.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from blazar.domain.errors import BlazarError, rebuild
from blazar.ports.manager import Caller, JsonObject, Manager, WrittenObjects
from blazar.rpc.packing import packed, unpacked
from blazar.telemetry.trail import serving

METHODS = frozenset(name for name in vars(Manager) if not name.startswith("_"))
"""What can be asked for; nothing else can be called from outside."""

_ABOUT_LEASES = frozenset({"get_lease", "update_lease", "delete_lease"})
"""Their first argument is a lease's id."""
_INTERNAL_ERROR = {
    "error": {"code": BlazarError.code, "message": "Internal error in the manager", "fields": {}}
}

Carry = Callable[[dict[str, Any]], dict[str, Any]]
"""Brings a request to a manager and its answer back; raises Unavailable if it cannot."""

_logger = logging.getLogger(__name__)


def answer(manager: Manager, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manager's answer to a request, which is its result or its error."""
    try:
        caller = request["caller"]
        who = Caller(**{**caller, "roles": tuple(caller["roles"])})
        method, arguments = str(request["method"]), request["arguments"]
    except (KeyError, TypeError):
        _logger.exception("Request not understood")
        return _INTERNAL_ERROR
    with serving(who, str(arguments[0]) if method in _ABOUT_LEASES else None):
        reply = _reply(manager, who, method, request)
        level = logging.DEBUG if method.startswith(("get_", "list_")) else logging.INFO
        outcome = reply["error"]["code"] if "error" in reply else "ok"
        _logger.log(level, "Request answered: method=%s outcome=%s", method, outcome)
        return reply


def _reply(manager: Manager, who: Caller, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
    try:
        if method not in METHODS:
            raise BlazarError(f"There is no method {method}")
        result = getattr(manager, method)(who, *request["arguments"])
        if not isinstance(result, WrittenObjects):
            return {"result": result}
        return {"packed": packed(result.text)} if request.get("unpacks") else {"result": list(result)}
    except BlazarError as error:
        return {"error": {"code": error.code, "message": error.message, "fields": error.fields}}
    except Exception:
        _logger.exception("Request failed: method=%s", method)
        return _INTERNAL_ERROR


class RemoteManager:
    """A manager somewhere else: implements :class:`blazar.ports.manager.Manager`."""

    def __init__(self, carry: Carry) -> None:
        self._carry = carry

    def list_leases(self, caller: Caller, project_id: str | None) -> Sequence[JsonObject]:
        """Return the leases of a project, or of all projects for None."""
        return cast("Sequence[JsonObject]", self._ask("list_leases", caller, project_id))

    def get_lease(self, caller: Caller, lease_id: str) -> JsonObject:
        """Return a lease."""
        return cast("JsonObject", self._ask("get_lease", caller, lease_id))

    def create_lease(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Return the new lease."""
        return cast("JsonObject", self._ask("create_lease", caller, body))

    def update_lease(self, caller: Caller, lease_id: str, body: JsonObject) -> JsonObject:
        """Return the lease as it is after the change."""
        return cast("JsonObject", self._ask("update_lease", caller, lease_id, body))

    def delete_lease(self, caller: Caller, lease_id: str) -> None:
        """Have the lease deleted."""
        self._ask("delete_lease", caller, lease_id)

    def list_hosts(self, caller: Caller) -> Sequence[JsonObject]:
        """Return the registered hosts."""
        return cast("Sequence[JsonObject]", self._ask("list_hosts", caller))

    def get_host(self, caller: Caller, host_id: str) -> JsonObject:
        """Return a host."""
        return cast("JsonObject", self._ask("get_host", caller, host_id))

    def create_host(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Register a hypervisor."""
        return cast("JsonObject", self._ask("create_host", caller, body))

    def update_host(self, caller: Caller, host_id: str, body: JsonObject) -> JsonObject:
        """Set or remove extra capabilities."""
        return cast("JsonObject", self._ask("update_host", caller, host_id, body))

    def delete_host(self, caller: Caller, host_id: str) -> None:
        """Give a host back to ordinary use."""
        self._ask("delete_host", caller, host_id)

    def list_floatingips(self, caller: Caller) -> Sequence[JsonObject]:
        """Return the registered floating IPs."""
        return cast("Sequence[JsonObject]", self._ask("list_floatingips", caller))

    def get_floatingip(self, caller: Caller, floatingip_id: str) -> JsonObject:
        """Return a floating IP."""
        return cast("JsonObject", self._ask("get_floatingip", caller, floatingip_id))

    def create_floatingip(self, caller: Caller, body: JsonObject) -> JsonObject:
        """Register an address."""
        return cast("JsonObject", self._ask("create_floatingip", caller, body))

    def delete_floatingip(self, caller: Caller, floatingip_id: str) -> None:
        """Give an address back to the operator."""
        self._ask("delete_floatingip", caller, floatingip_id)

    def list_allocations(
        self, caller: Caller, lease_id: str | None, reservation_id: str | None
    ) -> Sequence[JsonObject]:
        """Return for every host who holds it when."""
        return cast("Sequence[JsonObject]", self._ask("list_allocations", caller, lease_id, reservation_id))

    def get_allocations(
        self, caller: Caller, host_id: str, lease_id: str | None, reservation_id: str | None
    ) -> JsonObject:
        """Return who holds a host when."""
        return cast("JsonObject", self._ask("get_allocations", caller, host_id, lease_id, reservation_id))

    def list_resource_properties(self, caller: Caller, include_private: bool) -> Sequence[JsonObject]:
        """Return each property that some host has."""
        return cast("Sequence[JsonObject]", self._ask("list_resource_properties", caller, include_private))

    def update_resource_property(self, caller: Caller, name: str, private: bool | None) -> JsonObject:
        """Hide or show a property."""
        return cast("JsonObject", self._ask("update_resource_property", caller, name, private))

    def _ask(self, method: str, caller: Caller, *arguments: object) -> object:
        request = {
            "method": method,
            "caller": asdict(caller),
            "arguments": list(arguments),
            "unpacks": True,
        }
        reply = self._carry(request)
        if "error" in reply:
            error = reply["error"]
            raise rebuild(error["code"], error["message"], error["fields"])
        return json.loads(unpacked(reply["packed"])) if "packed" in reply else reply["result"]


if TYPE_CHECKING:

    def _witness(manager: RemoteManager) -> Manager:
        return manager
