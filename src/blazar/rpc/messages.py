"""Requests and answers as JSON, independent of the transport.

An error is sent as its stable code, message and fields, and is raised as the same class on the other side.

A long list is sent as packed text if the caller states that it can unpack it. Older versions on either side,
which do not know packed text, are served as before. A manager that does not have a method does nothing; the
caller gets UnknownMethod.
"""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from functools import partial
from typing import Any, Final, cast

from blazar.domain.errors import BlazarError, UnknownMethod, rebuild
from blazar.domain.written_objects import WrittenObjects
from blazar.ports.manager import OLDEST_API, Caller, Manager, RequestsKey, list_methods
from blazar.resource_types import import_parts, load_parts
from blazar.rpc.older_answers import in_present_form
from blazar.rpc.packing import packed, unpacked
from blazar.telemetry.log_context import serving


def _without_self(signature: inspect.Signature) -> inspect.Signature:
    return signature.replace(parameters=list(signature.parameters.values())[1:])


_PROTOCOLS = (Manager, *(each.protocol for each in load_parts("requests", RequestsKey)))
DECLARED = {name: getattr(each, name) for each in _PROTOCOLS for name in list_methods(each)}
"""The declarations of the methods that can be called; no other method is reachable from outside."""

_SIGNATURES = {name: _without_self(inspect.signature(method)) for name, method in DECLARED.items()}

# An error of a manager is raised as the same class here, even if this process loads no plugin.
import_parts("errors")

_ABOUT_LEASES = frozenset(
    {
        "get_lease",
        "update_lease",
        "update_owned_lease",
        "delete_lease",
        "delete_owned_lease",
        "list_lease_allocations",
        "list_lease_history",
        "list_lease_resources",
    }
)
"""Methods whose first argument is a lease's id."""
_INTERNAL_ERROR = {
    "error": {"code": BlazarError.code, "message": "Internal error in the manager", "fields": {}}
}

VERSION: Final = "1.1"
"""The version of the managers' interface. 1.1 has more keys in callers, and this in results."""
_PRESENT: Final = {"version": VERSION}
"""A result with this has the instants of API v1; older managers send others."""
_UNKNOWN_METHOD: Final = ("There is no method %s", "Unknown method %s")
"""Texts of older managers for a method that they do not have."""
_NEWER_KEYS: Final[Mapping[str, object]] = {"sees_private_properties": False, "api_version": OLDEST_API}
"""Keys of a caller that managers of version 1.0 of the interface do not know, with their defaults."""

Carry = Callable[[dict[str, Any]], dict[str, Any]]
"""Carries a request to a manager and returns its answer; raises Unavailable if it cannot."""

_logger = logging.getLogger(__name__)


def answer(manager: Manager, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manager's answer to a request: its result or its error."""
    try:
        who = _received_caller(request["caller"])
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


def _sent_caller(caller: Caller) -> dict[str, Any]:
    """Return a caller as JSON, without defaults that managers of older versions do not know."""
    return {
        key: value
        for key, value in asdict(caller).items()
        if key not in _NEWER_KEYS or value != _NEWER_KEYS[key]
    }


def needs_newer_manager(request: Mapping[str, Any]) -> bool:
    """Return whether managers of version 1.0 of the interface do not understand a request."""
    return not request["caller"].keys().isdisjoint(_NEWER_KEYS)


def older_form(request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the request as managers of version 1.0 understand it; None if it would not mean the same.

    Without the right to see private properties, a request sees less. A request of a newer version of the API
    may have keys that an older manager ignores.
    """
    caller = request["caller"]
    if "api_version" in caller:
        return None
    return {**request, "caller": {key: each for key, each in caller.items() if key not in _NEWER_KEYS}}


def _received_caller(sent: Mapping[str, Any]) -> Caller:
    """Return a caller from JSON; keys that newer versions of the API add are ignored."""
    known: dict[str, Any] = {each.name: sent[each.name] for each in fields(Caller) if each.name in sent}
    lists = {key: tuple(each) for key, each in known.items() if isinstance(each, list)}
    return Caller(**{**known, **lists})


def _reply(manager: Manager, who: Caller, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
    try:
        if method not in DECLARED:
            raise UnknownMethod(method)
        result = getattr(manager, method)(who, *request["arguments"])
        if isinstance(result, WrittenObjects) and request.get("unpacks"):
            return {**_PRESENT, "packed": packed(result.text)}
        return {**_PRESENT, "result": list(result) if isinstance(result, WrittenObjects) else result}
    except BlazarError as error:
        return error_reply(error)
    except Exception:
        _logger.exception("Request failed: method=%s", method)
        return _INTERNAL_ERROR


def error_reply(error: BlazarError) -> dict[str, Any]:
    """Return the answer to a request that failed with *error*."""
    return {"error": {"code": error.code, "message": error.message, "fields": error.fields}}


class _RemoteManager:
    """A manager in another process. Each method of the interface sends a request."""

    def __init__(self, carry: Carry) -> None:
        self._carry = carry

    def __getattr__(self, name: str) -> Callable[..., object]:
        """Return a method of the interface. Raises AttributeError for any other name."""
        if name not in DECLARED:
            raise AttributeError(name)
        return partial(self._ask, name)

    def _ask(self, method: str, *arguments: object, **named: object) -> object:
        caller, *values = _SIGNATURES[method].bind(*arguments, **named).args
        request = {
            "method": method,
            "caller": _sent_caller(caller),
            "arguments": values,
            "unpacks": True,
        }
        reply = self._carry(request)
        if "error" in reply:
            raise _rebuilt(reply["error"], method)
        result = WrittenObjects(unpacked(reply["packed"])) if "packed" in reply else reply["result"]
        return result if _PRESENT.items() <= reply.items() else in_present_form(method, result)


def _rebuilt(error: Mapping[str, Any], method: str) -> BlazarError:
    """Return the error of a manager, which may be older than this process."""
    if error["code"] == BlazarError.code and error["message"] in (each % method for each in _UNKNOWN_METHOD):
        return UnknownMethod(method)
    return rebuild(error["code"], error["message"], error["fields"])


def remote_manager(carry: Carry) -> Manager:
    """Return a manager in another process; *carry* sends it the requests.

    Its methods raise TypeError for arguments that the interface does not have.
    """
    return cast("Manager", _RemoteManager(carry))


def local_manager(manager: Manager) -> Manager:
    """Return *manager* as seen by an API in the same process; everything passes through JSON, as on a bus."""

    def carry(request: dict[str, Any]) -> dict[str, Any]:
        reply = answer(manager, json.loads(json.dumps(request)))
        return json.loads(json.dumps(reply))  # type: ignore[no-any-return]

    return remote_manager(carry)
