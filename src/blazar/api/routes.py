"""The route table: every path and method of the core, with its handler and policy rules.

To add an endpoint, add its schemas to ``schemas``, its rule to ``policies``, a handler, and a route here; for
one of a resource type, add all of them to ``api.py`` of its folder. Then write the output of
``python -m blazar.api.openapi`` to ``doc/openapi.json``. Tests fail if a part is missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from blazar.api import availability, leases, lists, offers, schemas, versions
from blazar.api.call import Handler
from blazar.api.microversions import AVAILABILITY, LEASE_ALLOCATIONS, LEASE_HISTORY, OFFERS
from blazar.api.permissions import PRIVATE_PROPERTIES, RESOURCE_IDS
from blazar.api.route import Route
from blazar.api.schema_parts import page, ref, wrapped, wrapped_list
from blazar.api.type_api import TypeApi
from blazar.api.validation import JsonSchema
from blazar.resource_types import load_parts


def _document(path: str, handler: Handler, status: int, answer: JsonSchema) -> Route:
    return Route(method="GET", path=path, handler=handler, rules=(), status=status, answer=answer)


_LEASES = "/v1/leases"
_LEASE = "/v1/leases/{lease_id}"

_OFFERS = "/v1/offers"
_OFFER = "/v1/offers/{offer_id}"


_lease = partial(Route, path=_LEASE, about_lease=True)
_offer = partial(Route, since=OFFERS)

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
_AN_OFFER = wrapped("offer", "Offer")
_VERSIONS = wrapped_list("versions", "Version")
_A_VERSION = wrapped("version", "Version")

CORE_ROUTES: tuple[Route, ...] = (
    _document("/", versions.list_versions, 300, _VERSIONS),
    _document("/versions", versions.list_versions, 300, _VERSIONS),
    _document("/v1", versions.get_version, 200, _A_VERSION),
    _document("/v1/", versions.get_version, 200, _A_VERSION),
    Route(
        method="GET",
        path=_LEASES,
        handler=leases.list_leases,
        rules=("blazar:leases:get",),
        pages=lists.LEASES,
        answer=page("leases", "Lease"),
    ),
    Route(
        method="POST",
        path=_LEASES,
        handler=leases.create_lease,
        accepts_idempotency_key=True,
        rules=("blazar:leases:post",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        status=201,
        body=schemas.LEASE_CREATE,
        body_at_1_0=schemas.LEASE_CREATE_1_0,
        answer=_A_LEASE,
        preview=wrapped("preview", "LeasePreview"),
    ),
    _lease(method="GET", handler=leases.get_lease, rules=("blazar:leases:get",), answer=_A_LEASE),
    _lease(
        method="PUT",
        handler=leases.update_lease,
        expects_owner=True,
        rules=("blazar:leases:get", "blazar:leases:put"),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        body=schemas.LEASE_UPDATE,
        body_at_1_0=schemas.LEASE_UPDATE_1_0,
        answer=_A_CHANGED_LEASE,
        preview=wrapped("preview", "LeasePreview"),
    ),
    _lease(
        method="DELETE",
        handler=leases.delete_lease,
        expects_owner=True,
        rules=("blazar:leases:get", "blazar:leases:delete"),
        status=204,
    ),
    _lease(
        method="GET",
        path="/v1/leases/{lease_id}/allocations",
        handler=leases.list_lease_allocations,
        rules=("blazar:leases:get", "blazar:leases:get_allocations"),
        since=LEASE_ALLOCATIONS,
        answer=wrapped_list("allocations", "LeaseAllocation"),
    ),
    _lease(
        method="GET",
        path="/v1/leases/{lease_id}/resources",
        handler=leases.list_lease_resources,
        rules=("blazar:leases:get", "blazar:leases:get_allocations"),
        since=LEASE_ALLOCATIONS,
        answer=wrapped_list("resources", "ReservationResources"),
    ),
    Route(
        method="GET",
        path="/v1/catalogue",
        handler=availability.get_catalogue,
        rules=("blazar:catalogue:get",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        since=AVAILABILITY,
        answer=wrapped("catalogue", "Catalogue"),
    ),
    Route(
        method="GET",
        path="/v1/availability",
        handler=availability.list_free_amounts,
        rules=("blazar:availability:get",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        since=AVAILABILITY,
        query=availability.FREE_AMOUNTS_QUERY,
        has_tag=True,
        answer={"$ref": "#/components/schemas/FreeAmounts"},
    ),
    Route(
        method="GET",
        path="/v1/timeline",
        handler=availability.get_timeline,
        rules=("blazar:timeline:get",),
        asked_by_handler=(PRIVATE_PROPERTIES, RESOURCE_IDS),
        since=AVAILABILITY,
        query=availability.TIMELINE_QUERY,
        answer={"$ref": "#/components/schemas/Timeline"},
    ),
    Route(
        method="POST",
        path="/v1/availability/search",
        handler=availability.search_time_slots,
        rules=("blazar:availability:search",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        since=AVAILABILITY,
        body=schemas.TIME_SLOT_SEARCH,
        answer={"oneOf": [ref("TimeSlots"), ref("PossibleChanges")]},
    ),
    _lease(
        method="GET",
        path="/v1/leases/{lease_id}/history",
        handler=leases.list_lease_history,
        rules=("blazar:leases:get", "blazar:leases:get_history"),
        since=LEASE_HISTORY,
        answer=wrapped_list("history", "HistoryEntry"),
    ),
    _offer(
        method="GET",
        path=_OFFERS,
        handler=offers.list_offers,
        rules=("blazar:offers:get",),
        answer=wrapped_list("offers", "Offer"),
    ),
    _offer(
        method="POST",
        path=_OFFERS,
        handler=offers.create_offer,
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
        handler=offers.get_offer,
        rules=("blazar:offers:get",),
        answer=_AN_OFFER,
    ),
    _offer(
        method="DELETE",
        path=_OFFER,
        handler=offers.delete_offer,
        rules=("blazar:offers:get", "blazar:offers:delete"),
        status=204,
    ),
)


TYPE_APIS: tuple[TypeApi, ...] = load_parts("api", TypeApi)
"""The APIs of the resource types of this distribution."""

ROUTES: tuple[Route, ...] = (*CORE_ROUTES, *(route for each in TYPE_APIS for route in each.routes))
"""The routes of this distribution."""


def by_path(types: Iterable[TypeApi]) -> dict[str, tuple[Route, ...]]:
    """Return the routes of the core and of these resource types, grouped by path."""
    grouped: dict[str, tuple[Route, ...]] = {}
    for route in (*CORE_ROUTES, *(route for each in types for route in each.routes)):
        grouped[route.path] = (*grouped.get(route.path, ()), route)
    return grouped
