"""Handlers for questions about what can be reserved, and when."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, cast

from blazar.api import schemas
from blazar.api.call import Call, Response
from blazar.api.lease_rights import authorized_lease
from blazar.api.leases import require_project
from blazar.api.lists import refuse_unknown
from blazar.api.microversions import AVAILABILITY
from blazar.api.permissions import BY_OPERATORS, BY_READERS, PRIVATE_PROPERTIES, RESOURCE_IDS, Rule
from blazar.api.route import Route
from blazar.api.schema_parts import ref, wrapped
from blazar.ports.manager import JsonObject

_PERIOD_QUERY: Final = ("resource_type", "from", "to", "filter", "group_by", "resolution")
FREE_AMOUNTS_QUERY: Final = (*_PERIOD_QUERY, "unit")
CATALOGUE_QUERY: Final = ("choices",)
TIMELINE_QUERY: Final = (*_PERIOD_QUERY, "resources")


def search_time_slots(call: Call) -> object:
    """Return time slots in which the reservations of the body could be made.

    With `lease_id`, return the changes of that lease that are possible: how far it can be extended, by how
    much its reservations can grow, and to which times it can be moved.
    """
    require_project(call, "blazar:availability:search")
    if call.body.get("lease_id") is not None:
        authorized_lease(call, str(call.body["lease_id"]), ("blazar:leases:get", "blazar:leases:put"))
    return call.manager.search_time_slots(call.property_caller, call.body)


def get_catalogue(call: Call) -> object:
    """Return what the caller can reserve, and within which limits."""
    require_project(call, "blazar:catalogue:get")
    refuse_unknown(call, CATALOGUE_QUERY)
    found = call.manager.get_catalogue(call.property_caller, call.is_true("choices"))
    types = cast("Iterable[JsonObject]", found["resource_types"])
    described = [
        {**each, "schema": call.reservation_schemas.get(str(each["resource_type"]))} for each in types
    ]
    return {
        "catalogue": {
            **found,
            "resource_types": described,
            "collections": list(call.collections),
            "longest_page": call.max_limit,
        }
    }


def list_free_amounts(call: Call) -> object:
    """Return the numbers of free resources over time, in groups."""
    require_project(call, "blazar:availability:get")
    refuse_unknown(call, FREE_AMOUNTS_QUERY)
    found = dict(call.manager.list_free_amounts(call.property_caller, call.query, call.known_tags))
    # Other callers may not see the same: a cache that several of them use must not keep the answer.
    headers = {"ETag": f'"{found.pop("etag")}"', "Cache-Control": "private, no-cache"}
    if not found:
        return Response(value=None, headers=headers, status=304)
    return Response(value=found, headers=headers)


def get_timeline(call: Call) -> object:
    """Return in which state resources are over time, for calendars."""
    require_project(call, "blazar:timeline:get")
    refuse_unknown(call, TIMELINE_QUERY)
    with_ids = call.policy.allows(call.identity, RESOURCE_IDS, call.own_target)
    return call.manager.get_timeline(call.property_caller, call.query, with_ids)


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/catalogue",
        handler=get_catalogue,
        rules=("blazar:catalogue:get",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        since=AVAILABILITY,
        query=CATALOGUE_QUERY,
        answer=wrapped("catalogue", "Catalogue"),
    ),
    Route(
        method="GET",
        path="/v1/availability",
        handler=list_free_amounts,
        rules=("blazar:availability:get",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        since=AVAILABILITY,
        query=FREE_AMOUNTS_QUERY,
        has_tag=True,
        answer={"$ref": "#/components/schemas/FreeAmounts"},
    ),
    Route(
        method="GET",
        path="/v1/timeline",
        handler=get_timeline,
        rules=("blazar:timeline:get",),
        asked_by_handler=(PRIVATE_PROPERTIES, RESOURCE_IDS),
        since=AVAILABILITY,
        query=TIMELINE_QUERY,
        answer={"$ref": "#/components/schemas/Timeline"},
    ),
    Route(
        method="POST",
        path="/v1/availability/search",
        handler=search_time_slots,
        rules=("blazar:availability:search",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        since=AVAILABILITY,
        body=schemas.TIME_SLOT_SEARCH,
        answer={"oneOf": [ref("TimeSlots"), ref("PossibleChanges")]},
    ),
)

RULES: Final = (
    Rule(
        name="blazar:catalogue:get",
        check=BY_READERS,
        description="Read what can be reserved: resource types, public properties, and the limits of the "
        "project.",
    ),
    Rule(
        name="blazar:availability:get",
        check=BY_READERS,
        description="Read the numbers of free resources over time.",
    ),
    Rule(
        name="blazar:timeline:get",
        check=BY_READERS,
        description="Read over time which resources are taken, by the caller, by the project, or by others.",
    ),
    Rule(
        name=RESOURCE_IDS,
        check=BY_OPERATORS,
        description="Read the ids of the resources in a timeline. For other callers, its rows have only "
        "numbers.",
    ),
    Rule(
        name="blazar:availability:search",
        check=BY_READERS,
        description="Search for the times at which reservations can be made.",
    ),
)
