"""Handler for usage: how reserved resources were used."""

from __future__ import annotations

from typing import Final

from blazar.api.call import Call
from blazar.api.leases import require_project
from blazar.api.lists import refuse_unknown
from blazar.api.microversions import USAGE
from blazar.api.permissions import BY_OPERATORS, BY_READERS, PRIVATE_PROPERTIES, Rule
from blazar.api.route import Route
from blazar.api.schema_parts import complete, wrapped
from blazar.api.validation import JsonSchema
from blazar.domain.errors import Forbidden

QUERY: Final = ("by", "property", "from", "to", "step", "resource_type", "project_id")
_OF_ALL: Final = "blazar:usage:get_all"
_NAMES: Final = "blazar:leases:get_allocations"


def get_usage(call: Call) -> object:
    """Return how reserved resources were used in a period, in groups.

    Operators get the usage of all projects or of one; others that of their own project.
    """
    require_project(call, "blazar:usage:get")
    refuse_unknown(call, QUERY)
    is_operator = call.policy.allows(call.identity, _OF_ALL, call.own_target)
    asked, own = call.query.get("project_id"), call.caller.project_id
    if not is_operator and asked not in (None, own):
        raise Forbidden("project_id: only operators may read the usage of other projects")
    if call.query.get("by") == "host":
        call.policy.require(call.identity, _NAMES, call.own_target)
    project_id = asked if is_operator else own
    return {"usage": call.manager.get_usage(call.property_caller, call.query, project_id, is_operator)}


_DATE: Final[JsonSchema] = {"type": "string", "examples": ["2031-04-05 20:00"]}
_NUMBER: Final[JsonSchema] = {"type": "number", "minimum": 0}
_HOURS: Final[JsonSchema] = complete(
    "Hours of units, or of amounts of a resource class. `reserved` is the sum of the others.",
    reserved={**_NUMBER, "description": "Held by reservations."},
    in_use={**_NUMBER, "description": "Seen in use, such as hosts with servers."},
    idle={**_NUMBER, "description": "Seen unused, by reservations that were used at other times."},
    no_show={**_NUMBER, "description": "Seen unused, by reservations that were never used."},
    lost={
        **_NUMBER,
        "description": "Not usable: not handed over yet, in error, or failed without a replacement.",
    },
    unknown={**_NUMBER, "description": "Not observed, or in the future."},
)
_AMOUNT: Final[JsonSchema] = {
    "type": "object",
    "description": "A unit, or a resource class in these units.",
    "required": ["unit", "resource_class", "hours"],
    "properties": {
        "unit": {"type": "string", "examples": ["hosts", "instances"]},
        "resource_class": {"type": ["string", "null"], "examples": ["VCPU"]},
        "hours": _HOURS,
        "steps": {
            "type": "array",
            "description": "The hours of each step; missing without `step`.",
            "items": _HOURS,
        },
    },
}

COMPONENTS: Final[dict[str, JsonSchema]] = {
    "Usage": complete(
        "How reserved resources were used in a period.",
        by={"enum": ["project", "user", "property", "zone", "host"]},
        property={"type": ["string", "null"]},
        **{"from": _DATE},
        to=_DATE,
        complete_since={
            **_DATE,
            "type": ["string", "null"],
            "description": "Before that, leases that have ended since are missing. Null if none is.",
        },
        steps={
            "type": "array",
            "description": "The steps of the period; empty without `step`.",
            "items": complete("A step.", start_date=_DATE, end_date=_DATE),
        },
        groups={
            "type": "array",
            "items": complete(
                "The usage of a project, a user, a host, or resources with the same value of a property.",
                value={"type": ["string", "number", "boolean", "null"]},
                amounts={
                    "type": "array",
                    "items": _AMOUNT,
                },
            ),
        },
    ),
}

_DESCRIBED: Final = {
    "by": "Required. The groups: `project`, `user`, `zone`, `host` (the name of the resource) or `property`.",
    "property": "The name of the property whose values are the groups; required with `by=property`.",
    "from": "Start of the period: `%Y-%m-%d %H:%M` in UTC, or `now`. The default is 30 days before `to`.",
    "to": "End of the period, at most 1830 days after `from`; the default is `now`. The future counts as "
    "reserved only.",
    "step": "Length of a step in minutes, for figures of each step. At most 1,000 steps are possible.",
    "resource_type": "Count only reservations of this type.",
    "project_id": "Count only this project; operators only, others get 403 for another project.",
}

ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/usage",
        handler=get_usage,
        rules=("blazar:usage:get",),
        asked_by_handler=(_OF_ALL, _NAMES, PRIVATE_PROPERTIES),
        since=USAGE,
        query=QUERY,
        described=_DESCRIBED,
        answer=wrapped("usage", "Usage"),
    ),
)

RULES: Final = (
    Rule(
        name="blazar:usage:get",
        check=BY_READERS,
        description="Read how the resources that the project has reserved were used. To group by host, "
        "blazar:leases:get_allocations is also needed.",
    ),
    Rule(
        name=_OF_ALL,
        check=BY_OPERATORS,
        description="Read the usage of all projects, and group it by any property.",
    ),
)
