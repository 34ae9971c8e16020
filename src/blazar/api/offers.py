"""Handlers for offers. The manager returns only those of the caller's project."""

from __future__ import annotations

from functools import partial
from typing import Final

from blazar.api import schemas
from blazar.api.call import Call, Response
from blazar.api.idempotency import REPLAYED
from blazar.api.leases import refuse_replacements, require_project
from blazar.api.microversions import OFFERS
from blazar.api.permissions import BY_MEMBERS, BY_READERS, PRIVATE_PROPERTIES, Rule
from blazar.api.route import Route
from blazar.api.schema_parts import wrapped, wrapped_list
from blazar.ports.manager import JsonObject

_KEYS: Final = (*schemas.NEW_LEASE, "ttl_seconds", "expiry_notice")


def list_offers(call: Call) -> object:
    """Return the open offers of the caller's project."""
    require_project(call, "blazar:offers:get")
    return {"offers": call.manager.list_offers(call.caller)}


def create_offer(call: Call) -> object:
    """Hold the resources of a possible lease, and return the offer."""
    require_project(call, "blazar:offers:post")
    return _answer(call.manager.create_offer(call.property_caller, call.idempotency_key, _body(call)))


def create_lease_offer(call: Call) -> object:
    """Hold what a change of a lease needs, and return the offer."""
    caller, lease_id = call.property_caller, call.params["lease_id"]
    refuse_replacements(call.body)
    return _answer(
        call.manager.create_lease_offer(caller, lease_id, call.owner, call.idempotency_key, _body(call))
    )


def _body(call: Call) -> dict[str, object]:
    body = {key: call.body[key] for key in _KEYS if key in call.body}
    if body.get("name") is not None:
        body["name"] = str(body["name"])
    return body


def _answer(created: JsonObject) -> object:
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


_OFFERS = "/v1/offers"
_OFFER = "/v1/offers/{offer_id}"

_offer = partial(Route, since=OFFERS)

_AN_OFFER = wrapped("offer", "Offer")

ROUTES: Final = (
    _offer(
        method="GET",
        path=_OFFERS,
        handler=list_offers,
        rules=("blazar:offers:get",),
        answer=wrapped_list("offers", "Offer"),
    ),
    _offer(
        method="POST",
        path=_OFFERS,
        handler=create_offer,
        accepts_idempotency_key=True,
        rules=("blazar:offers:post",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        status=201,
        body=schemas.OFFER_CREATE,
        answer=_AN_OFFER,
    ),
    _offer(
        method="GET",
        path=_OFFER,
        handler=get_offer,
        rules=("blazar:offers:get",),
        answer=_AN_OFFER,
    ),
    _offer(
        method="DELETE",
        path=_OFFER,
        handler=delete_offer,
        rules=("blazar:offers:get", "blazar:offers:delete"),
        status=204,
    ),
    _offer(
        method="POST",
        path="/v1/leases/{lease_id}/offers",
        handler=create_lease_offer,
        about_lease=True,
        expects_owner=True,
        accepts_idempotency_key=True,
        rules=("blazar:leases:get", "blazar:leases:put", "blazar:leases:post_offers"),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        status=201,
        body=schemas.LEASE_OFFER_CREATE,
        answer=_AN_OFFER,
    ),
)

RULES: Final = (
    Rule(
        name="blazar:leases:post_offers",
        check=BY_MEMBERS,
        description="Make an offer, which holds what a change of a lease needs for a short time. Checked "
        "after blazar:leases:put.",
    ),
    Rule(
        name="blazar:offers:get",
        check=BY_READERS,
        description="List and show offers of the caller's project. Also checked first when an offer is "
        "deleted.",
    ),
    Rule(
        name="blazar:offers:post",
        check=BY_MEMBERS,
        description="Make an offer, which holds resources for a short time. blazar:leases:post is checked "
        "when it is committed.",
    ),
    Rule(
        name="blazar:offers:delete",
        check=BY_MEMBERS,
        description="Release what an offer of the caller's project holds.",
    ),
)
