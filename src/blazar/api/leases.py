"""Handlers for leases."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from blazar.api import lists
from blazar.api.call import Call, Response
from blazar.api.idempotency import KEY_HEADER, REPLAYED
from blazar.api.microversions import DRY_RUN, OFFERS
from blazar.domain.errors import Forbidden, InvalidParameter, Unavailable, UnknownMethod
from blazar.ports.manager import JsonObject

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_KEYS = ("name", "start_date", "end_date", "before_end_date", "reservations")


def list_leases(call: Call) -> object:
    """Return the leases of the caller's project; for operators, those of all projects."""
    require_project(call, "blazar:leases:get")
    return lists.respond_with(lists.LEASES, call, partial(_list_leases, call))


def _list_leases(call: Call, page: JsonObject | None) -> Sequence[JsonObject]:
    project_id = None if call.is_admin else call.caller.project_id
    if page is None:
        return call.manager.list_leases(call.caller, project_id)
    asked = page.get("project_id")
    if asked is not None and not call.is_admin and asked != project_id:
        raise Forbidden("project_id: only operators may list the leases of other projects")
    return call.manager.list_leases(call.caller, project_id if asked is None else str(asked), page)


def create_lease(call: Call) -> object:
    """Create a lease and return it; with `dry_run`, return only what it would reserve."""
    require_project(call, "blazar:leases:post")
    caller, body = call.property_caller, _documented(call.body)
    is_offer = call.version >= OFFERS and "offer_id" in call.body
    if _is_dry_run(call):
        if is_offer:
            raise InvalidParameter("offer_id", "cannot be given in a dry run")
        return Response(value={"preview": call.manager.preview_lease(caller, body)}, status=200)
    if is_offer:
        body["offer_id"] = call.body["offer_id"]
    if call.idempotency_key is None:
        return {"lease": call.manager.create_lease(caller, body)}
    try:
        created = call.manager.create_lease_once(caller, call.idempotency_key, body)
    except UnknownMethod as error:
        raise Unavailable(
            f"A manager has an older version, which does not know {KEY_HEADER}; nothing was created"
        ) from error
    answer = {"lease": created["lease"]}
    return Response(value=answer, headers=REPLAYED) if created["is_replayed"] else answer


def _is_dry_run(call: Call) -> bool:
    """Return whether the request must have no effect; API 1.0 ignores all parameters.

    Raises:
        InvalidParameter: The value is neither true nor false. A request that was meant as a dry run must not
            take effect because of a typing error.
    """
    if call.version < DRY_RUN or "dry_run" not in call.query:
        return False
    value = _BOOLEANS.get(call.query["dry_run"].lower())
    if value is None:
        raise InvalidParameter("dry_run", "must be true or false")
    return value


def get_lease(call: Call) -> object:
    """Return a lease."""
    return {"lease": call.lease}


def list_lease_allocations(call: Call) -> object:
    """Return the resources that the reservations of a lease hold now, with names."""
    found = call.manager.list_lease_allocations(call.caller, call.params["lease_id"])
    return {"allocations": found}


def list_lease_resources(call: Call) -> object:
    """Return what each reservation of a lease holds, and how to use it while the reservation is active."""
    return {"resources": call.manager.list_lease_resources(call.caller, call.params["lease_id"])}


def list_lease_history(call: Call) -> object:
    """Return what happened to a lease, oldest first, in plain words."""
    return {"history": call.manager.list_lease_history(call.caller, call.params["lease_id"])}


def update_lease(call: Call) -> object:
    """Change a lease and return the result; with `dry_run`, return only what it would be.

    An empty change returns the lease unchanged.
    """
    caller, lease_id, body = call.property_caller, call.params["lease_id"], _documented(call.body)
    if _is_dry_run(call):
        return {"preview": call.manager.preview_update(caller, lease_id, call.owner, body)}
    if call.owner is None:
        changed = call.manager.update_lease(caller, lease_id, body)
    else:
        changed = call.manager.update_owned_lease(caller, lease_id, call.owner, body)
    lease = dict(changed)
    changes = lease.pop("changes", None)
    return {"lease": lease} if changes is None else {"lease": lease, "changes": changes}


def delete_lease(call: Call) -> object:
    """Delete a lease; the teardown of an active one may continue after the response."""
    if call.owner is None:
        call.manager.delete_lease(call.caller, call.params["lease_id"])
    else:
        call.manager.delete_owned_lease(call.caller, call.params["lease_id"], call.owner)
    return None


def require_project(call: Call, rule: str) -> None:
    """Refuse members and readers whose token is not for a project.

    Policy rules compare the projects of the token and the lease. A lease without a project would have no
    quota, and every token without a project would match it.

    Raises:
        Forbidden: The caller has no project and is not an operator.
    """
    if not call.caller.project_id and not call.is_admin:
        raise Forbidden(f"{rule} needs a token for a project")


def _documented(body: JsonObject) -> dict[str, object]:
    """Return only the documented keys of a body.

    ``events`` is not one of them: the events of a lease follow from its dates.
    """
    known = {key: body[key] for key in _KEYS if key in body}
    if "name" in known:
        known["name"] = str(known["name"])
    if known.get("reservations") == {}:
        known["reservations"] = []
    return known
