"""Handlers for leases."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from typing import Final, cast

from blazar.api import lists, schemas
from blazar.api.call import Call, Response
from blazar.api.idempotency import KEY_HEADER, REPLAYED
from blazar.api.lists import RANGES, PagedList
from blazar.api.microversions import LEASE_ALLOCATIONS, LEASE_HISTORY, MAINTENANCE, OFFERS
from blazar.api.permissions import BY_MEMBERS, BY_READERS, PRIVATE_PROPERTIES, Rule
from blazar.api.route import Route
from blazar.api.schema_parts import page, ref, wrapped, wrapped_list
from blazar.domain.errors import Forbidden, InvalidParameter, Unavailable, UnknownMethod
from blazar.ports.manager import JsonObject

_logger = logging.getLogger(__name__)

LEASES: Final = PagedList(
    path="/v1/leases",
    key="leases",
    filters=("status", "name", "project_id", "user_id", "resource_type", *RANGES),
    sort_keys=("created_at", "start_date", "end_date", "name", "id"),
)


def list_leases(call: Call) -> object:
    """Return the leases of the caller's project; for operators, those of all projects."""
    require_project(call, "blazar:leases:get")
    return lists.respond_with(LEASES, call, partial(_list_leases, call))


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
    if call.is_dry_run:
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
    if call.version >= MAINTENANCE:
        refuse_replacements(body)
    offer_id = call.body.get("offer_id") if call.version >= OFFERS else None
    if offer_id is not None:
        return _changed(call.manager.commit_lease_offer(caller, lease_id, call.owner, _only(call, offer_id)))
    if call.is_dry_run:
        return {"preview": call.manager.preview_update(caller, lease_id, call.owner, body)}
    return _update(call, body)


def _update(call: Call, body: JsonObject) -> object:
    """Send a change of the lease to the manager, and return the answer to it."""
    caller, lease_id = call.property_caller, call.params["lease_id"]
    if call.owner is None:
        return _changed(call.manager.update_lease(caller, lease_id, body))
    return _changed(call.manager.update_owned_lease(caller, lease_id, call.owner, body))


def replace_resources(call: Call) -> object:
    """Replace broken resources of a reservation by others, which the lessee reports; return the lease.

    If no others are free, only the report is recorded, and the refusal says why.
    """
    resources = cast("Sequence[str]", call.body["resources"])
    asked = {"id": call.body["reservation_id"], "replace": resources}
    reason = call.body.get("reason") or ""
    _logger.warning(
        "lessee reports broken resources: lease_id=%s resources=%s reason=%s",
        call.params["lease_id"],
        ",".join(resources),
        repr(reason),
    )
    # Beside the reservations, where managers that do not know the key ignore it.
    return _update(call, {"reservations": [asked], "reason": reason})


def refuse_replacements(body: JsonObject) -> None:
    """Raise InvalidParameter if a change replaces resources, which has a separate policy rule."""
    items = body.get("reservations")
    if isinstance(items, list) and any(isinstance(each, dict) and "replace" in each for each in items):
        raise InvalidParameter("replace", "send POST /v1/leases/{lease_id}/replacements instead")


def _only(call: Call, offer_id: object) -> str:
    """Return the id of the offer that a request for a change names. Raises InvalidParameter."""
    if call.is_dry_run:
        raise InvalidParameter("offer_id", "cannot be given in a dry run")
    for key in call.body:
        if key != "offer_id":
            raise InvalidParameter(key, "must not be given together with offer_id: the offer decides it")
    return str(offer_id)


def _changed(changed: JsonObject) -> object:
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
    known = {key: body[key] for key in schemas.NEW_LEASE if key in body}
    if "name" in known:
        known["name"] = str(known["name"])
    if known.get("reservations") == {}:
        known["reservations"] = []
    return known


_LEASES = "/v1/leases"
_LEASE = "/v1/leases/{lease_id}"

_lease = partial(Route, path=_LEASE, about_lease=True)

_A_LEASE = wrapped("lease", "Lease")
_A_CHANGED_LEASE = {
    **_A_LEASE,
    "properties": {
        "lease": ref("Lease"),
        "changes": {
            "type": "array",
            "description": "From version 1.1 on, if dates or reservations were changed.",
            "items": ref("ReservationChange"),
        },
    },
}
ROUTES: Final = (
    Route(
        method="GET",
        path=_LEASES,
        handler=list_leases,
        rules=("blazar:leases:get",),
        pages=LEASES,
        answer=page("leases", "Lease"),
    ),
    Route(
        method="POST",
        path=_LEASES,
        handler=create_lease,
        accepts_idempotency_key=True,
        rules=("blazar:leases:post",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        status=201,
        body=schemas.LEASE_CREATE,
        body_at_1_0=schemas.LEASE_CREATE_1_0,
        answer=_A_LEASE,
        preview=wrapped("preview", "LeasePreview"),
    ),
    _lease(method="GET", handler=get_lease, rules=("blazar:leases:get",), answer=_A_LEASE),
    _lease(
        method="PUT",
        handler=update_lease,
        expects_owner=True,
        rules=("blazar:leases:get", "blazar:leases:put"),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        body=schemas.LEASE_UPDATE,
        body_at_1_0=schemas.LEASE_UPDATE_1_0,
        answer=_A_CHANGED_LEASE,
        preview=wrapped("preview", "LeasePreview"),
    ),
    _lease(
        method="POST",
        path="/v1/leases/{lease_id}/replacements",
        handler=replace_resources,
        since=MAINTENANCE,
        expects_owner=True,
        rules=("blazar:leases:get", "blazar:leases:put", "blazar:leases:replace"),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        body=schemas.REPLACEMENT,
        answer=_A_CHANGED_LEASE,
    ),
    _lease(
        method="DELETE",
        handler=delete_lease,
        expects_owner=True,
        rules=("blazar:leases:get", "blazar:leases:delete"),
        status=204,
    ),
    _lease(
        method="GET",
        path="/v1/leases/{lease_id}/allocations",
        handler=list_lease_allocations,
        rules=("blazar:leases:get", "blazar:leases:get_allocations"),
        since=LEASE_ALLOCATIONS,
        answer=wrapped_list("allocations", "LeaseAllocation"),
    ),
    _lease(
        method="GET",
        path="/v1/leases/{lease_id}/resources",
        handler=list_lease_resources,
        rules=("blazar:leases:get", "blazar:leases:get_allocations"),
        since=LEASE_ALLOCATIONS,
        answer=wrapped_list("resources", "ReservationResources"),
    ),
    _lease(
        method="GET",
        path="/v1/leases/{lease_id}/history",
        handler=list_lease_history,
        rules=("blazar:leases:get", "blazar:leases:get_history"),
        since=LEASE_HISTORY,
        answer=wrapped_list("history", "HistoryEntry"),
    ),
)

RULES: Final = (
    Rule(
        name="blazar:leases:get",
        check=BY_READERS,
        description="List and show leases. Also checked first when a lease is changed or deleted.",
    ),
    Rule(
        name="blazar:leases:get_allocations",
        check=BY_READERS,
        description="List the resources that a lease holds, with host names. "
        "Checked after blazar:leases:get.",
    ),
    Rule(
        name="blazar:leases:get_history",
        check=BY_READERS,
        description="Read what happened to a lease, without names of other users. "
        "Checked after blazar:leases:get.",
    ),
    Rule(
        name="blazar:leases:post",
        check=BY_MEMBERS,
        description="Create a lease.",
    ),
    Rule(
        name="blazar:leases:put",
        check=BY_MEMBERS,
        description="Change a lease. Also checked before an offer for a lease is made.",
    ),
    Rule(
        name="blazar:leases:replace",
        check=BY_MEMBERS,
        description="Report broken resources of a lease, which are replaced by others. Checked after "
        "blazar:leases:put.",
    ),
    Rule(
        name="blazar:leases:delete",
        check=BY_MEMBERS,
        description="Delete a lease.",
    ),
)
