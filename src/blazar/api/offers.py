"""Handlers for offers. The manager returns only those of the caller's project."""

from __future__ import annotations

from blazar.api.call import Call, Response
from blazar.api.idempotency import REPLAYED
from blazar.api.leases import require_project

_KEYS = ("name", "start_date", "end_date", "before_end_date", "reservations", "ttl_seconds")


def list_offers(call: Call) -> object:
    """Return the open offers of the caller's project."""
    require_project(call, "blazar:offers:get")
    return {"offers": call.manager.list_offers(call.caller)}


def create_offer(call: Call) -> object:
    """Hold the resources of a possible lease, and return the offer."""
    require_project(call, "blazar:offers:post")
    body = {key: call.body[key] for key in _KEYS if key in call.body}
    if body.get("name") is not None:
        body["name"] = str(body["name"])
    created = call.manager.create_offer(call.property_caller, call.idempotency_key, body)
    answer = {"offer": created["offer"]}
    return Response(value=answer, headers=REPLAYED) if created["is_replayed"] else answer


def get_offer(call: Call) -> object:
    """Return an offer."""
    require_project(call, "blazar:offers:get")
    return {"offer": call.manager.get_offer(call.caller, call.params["offer_id"])}


def delete_offer(call: Call) -> object:
    """Release what an offer holds."""
    require_project(call, "blazar:offers:delete")
    call.manager.delete_offer(call.caller, call.params["offer_id"])
    return None
