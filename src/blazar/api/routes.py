"""The route table: every path and method, with its handler and policy rules.

To add an endpoint, add its schemas to ``schemas``, its rule to ``policies``, a handler, and a route here.
Then write the output of ``python -m blazar.api.openapi`` to ``doc/openapi.json``. Tests fail if a part is
missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from blazar.api import availability, floatingips, hosts, leases, lists, offers, schemas, versions
from blazar.api.call import Handler
from blazar.api.lists import PagedList
from blazar.api.microversions import (
    AVAILABILITY,
    LEASE_ALLOCATIONS,
    LEASE_HISTORY,
    MIN_VERSION,
    OFFERS,
    Version,
)
from blazar.api.policies import PRIVATE_PROPERTIES, RESOURCE_IDS
from blazar.api.validation import BodySchema, JsonSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One method on one path. HEAD is added to GET, and OPTIONS to every path."""

    method: str
    path: str
    """Variable parts in braces."""
    handler: Handler
    rules: tuple[str, ...]
    """The policy rules to check, in order; empty for the version documents, which are public."""
    since: Version = MIN_VERSION
    """First microversion in which the path exists."""
    asked_by_handler: tuple[str, ...] = ()
    """Policy rules that refuse no request, but on which the response depends."""
    status: int = 200
    body: BodySchema | None = None
    body_at_1_0: BodySchema | None = None
    """The schema at version 1.0, if it is another one."""
    answer: JsonSchema | None = None
    preview: JsonSchema | None = None
    """The response with status 200 to a request with ``dry_run``, from 1.1 on; None if it cannot have it."""
    query: tuple[str, ...] = ()
    pages: PagedList | None = None
    """The list's pages and parameters from 1.1 on."""
    resource_type: str | None = None
    """Resource type that must be enabled for the route to be served; None if it is always served."""
    looked_up_by: Handler | None = None
    """Handler called after the first rule, so that callers who may read get a 404 before any other error."""
    about_lease: bool = False
    """Whether to check the rules against the owner of ``{lease_id}``; the handler then gets the lease."""
    accepts_idempotency_key: bool = False
    """Whether the handler honours ``Call.idempotency_key``."""
    has_tag: bool = False
    """Whether answers have an ``ETag``, and the handler honours ``Call.known_tags``."""
    expects_owner: bool = False
    """Whether the handler passes ``Call.owner`` to the manager, so that the lease need not be read first."""

    @property
    def is_public(self) -> bool:
        """Return whether the route is served without authentication, microversion and policy."""
        return not self.rules


def _document(path: str, handler: Handler, status: int, answer: JsonSchema) -> Route:
    return Route(method="GET", path=path, handler=handler, rules=(), status=status, answer=answer)


_LEASES = "/v1/leases"
_LEASE = "/v1/leases/{lease_id}"
_HOSTS = "/v1/os-hosts"
_HOST = "/v1/os-hosts/{host_id}"

_OFFERS = "/v1/offers"
_OFFER = "/v1/offers/{offer_id}"

_FLOATINGIPS = "/v1/floatingips"
_FLOATINGIP = "/v1/floatingips/{floatingip_id}"

_lease = partial(Route, path=_LEASE, about_lease=True)
_offer = partial(Route, since=OFFERS)
_host = partial(Route, resource_type="physical:host")
_floatingip = partial(Route, resource_type="virtual:floatingip")

_A_LEASE = schemas.wrapped("lease", "Lease")
_A_CHANGED_LEASE = {
    **_A_LEASE,
    "properties": {
        "lease": schemas.ref("Lease"),
        "changes": {
            "type": "array",
            "description": "From version 1.1 on, if dates or reservations were changed.",
            "items": schemas.ref("ReservationChange"),
        },
    },
}
_AN_OFFER = schemas.wrapped("offer", "Offer")
_A_HOST = schemas.wrapped("host", "Host")
_A_FLOATINGIP = schemas.wrapped("floatingip", "FloatingIP")
_VERSIONS = schemas.wrapped_list("versions", "Version")
_A_VERSION = schemas.wrapped("version", "Version")
_ALLOCATION_FILTERS = ("lease_id", "reservation_id")

ROUTES: tuple[Route, ...] = (
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
        answer=schemas.page("leases", "Lease"),
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
        preview=schemas.wrapped("preview", "LeasePreview"),
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
        preview=schemas.wrapped("preview", "LeasePreview"),
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
        answer=schemas.wrapped_list("allocations", "LeaseAllocation"),
    ),
    _lease(
        method="GET",
        path="/v1/leases/{lease_id}/resources",
        handler=leases.list_lease_resources,
        rules=("blazar:leases:get", "blazar:leases:get_allocations"),
        since=LEASE_ALLOCATIONS,
        answer=schemas.wrapped_list("resources", "ReservationResources"),
    ),
    Route(
        method="GET",
        path="/v1/catalogue",
        handler=availability.get_catalogue,
        rules=("blazar:catalogue:get",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        since=AVAILABILITY,
        answer=schemas.wrapped("catalogue", "Catalogue"),
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
        answer={"oneOf": [schemas.ref("TimeSlots"), schemas.ref("PossibleChanges")]},
    ),
    _lease(
        method="GET",
        path="/v1/leases/{lease_id}/history",
        handler=leases.list_lease_history,
        rules=("blazar:leases:get", "blazar:leases:get_history"),
        since=LEASE_HISTORY,
        answer=schemas.wrapped_list("history", "HistoryEntry"),
    ),
    _offer(
        method="GET",
        path=_OFFERS,
        handler=offers.list_offers,
        rules=("blazar:offers:get",),
        answer=schemas.wrapped_list("offers", "Offer"),
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
    _host(
        method="GET",
        path=_HOSTS,
        handler=hosts.list_hosts,
        rules=("blazar:oshosts:get",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        pages=lists.HOSTS,
        answer=schemas.page("hosts", "Host"),
    ),
    _host(
        method="POST",
        path=_HOSTS,
        handler=hosts.create_host,
        rules=("blazar:oshosts:post",),
        status=201,
        body=schemas.HOST_CREATE,
        answer=_A_HOST,
    ),
    _host(
        method="GET",
        path=_HOST,
        handler=hosts.get_host,
        rules=("blazar:oshosts:get",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        answer=_A_HOST,
    ),
    _host(
        method="PUT",
        path=_HOST,
        handler=hosts.update_host,
        rules=("blazar:oshosts:get", "blazar:oshosts:put"),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        body=schemas.HOST_UPDATE,
        answer=_A_HOST,
    ),
    _host(
        method="DELETE",
        path=_HOST,
        handler=hosts.delete_host,
        rules=("blazar:oshosts:get", "blazar:oshosts:delete"),
        status=204,
    ),
    _host(
        method="GET",
        path="/v1/os-hosts/allocations",
        handler=hosts.list_allocations,
        rules=("blazar:oshosts:get_allocations",),
        query=_ALLOCATION_FILTERS,
        pages=lists.ALLOCATIONS,
        answer=schemas.page("allocations", "HostAllocations"),
    ),
    _host(
        method="GET",
        path="/v1/os-hosts/{host_id}/allocation",
        handler=hosts.get_allocations,
        rules=("blazar:oshosts:get", "blazar:oshosts:get_allocations"),
        query=_ALLOCATION_FILTERS,
        answer=schemas.wrapped("allocation", "HostAllocations"),
    ),
    _host(
        method="GET",
        path="/v1/os-hosts/properties",
        handler=hosts.list_resource_properties,
        rules=("blazar:oshosts:get_resource_properties",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        query=("detail", "all"),
        answer=schemas.wrapped_list("resource_properties", "ResourcePropertyListed"),
    ),
    _host(
        method="PATCH",
        path="/v1/os-hosts/properties/{property_name}",
        handler=hosts.update_resource_property,
        rules=("blazar:oshosts:update_resource_properties",),
        body=schemas.PROPERTY_UPDATE,
        answer=schemas.wrapped("resource_property", "ResourceProperty"),
    ),
    _floatingip(
        method="GET",
        path=_FLOATINGIPS,
        handler=floatingips.list_floatingips,
        rules=("blazar:floatingips:get",),
        pages=lists.FLOATINGIPS,
        answer=schemas.page("floatingips", "FloatingIP"),
    ),
    _floatingip(
        method="POST",
        path=_FLOATINGIPS,
        handler=floatingips.create_floatingip,
        rules=("blazar:floatingips:post",),
        status=201,
        body=schemas.FLOATINGIP_CREATE,
        answer=schemas.wrapped("floatingip", "NewFloatingIP"),
    ),
    _floatingip(
        method="GET",
        path=_FLOATINGIP,
        handler=floatingips.get_floatingip,
        rules=("blazar:floatingips:get",),
        answer=_A_FLOATINGIP,
    ),
    _floatingip(
        method="DELETE",
        path=_FLOATINGIP,
        handler=floatingips.delete_floatingip,
        rules=("blazar:floatingips:get", "blazar:floatingips:delete"),
        looked_up_by=floatingips.get_floatingip,
        status=204,
    ),
)


def by_path(resource_types: Iterable[str], more: Iterable[Route] = ()) -> dict[str, tuple[Route, ...]]:
    """Return the routes to serve for the enabled resource types, and *more*, grouped by path."""
    types = {None, *resource_types}
    grouped: dict[str, tuple[Route, ...]] = {}
    for route in (*ROUTES, *more):
        if route.resource_type in types:
            grouped[route.path] = (*grouped.get(route.path, ()), route)
    return grouped
