"""Handlers for maintenance of resources, for operators."""

from __future__ import annotations

from functools import partial
from typing import Final

from blazar.api.call import Call, Response
from blazar.api.microversions import MAINTENANCE
from blazar.api.permissions import BY_OPERATORS, Rule
from blazar.api.route import Route
from blazar.api.schema_parts import (
    ID,
    INSTANT,
    INSTANT_OR_NULL,
    STAMP,
    TEXT_OR_NULL,
    complete,
    wrapped,
    wrapped_list,
)
from blazar.api.validation import BodySchema, JsonSchema


def list_maintenances(call: Call) -> object:
    """Return all maintenances, in the order of their starts."""
    return {"maintenances": call.manager.list_maintenances(call.caller)}


def create_maintenance(call: Call) -> object:
    """Keep leases away from resources for a period, and move those that have not started."""
    is_preview = call.is_dry_run
    made = call.manager.create_maintenance(call.caller, call.body, is_preview)
    return Response(value={"maintenance": made}, status=200 if is_preview else 201)


def get_maintenance(call: Call) -> object:
    """Return a maintenance, with the leases that hold its resources."""
    return {"maintenance": call.manager.get_maintenance(call.caller, call.params["maintenance_id"])}


def update_maintenance(call: Call) -> object:
    """Change the end or the reason of a maintenance, or remove resources from it."""
    changed = call.manager.update_maintenance(call.caller, call.params["maintenance_id"], call.body)
    return {"maintenance": changed}


def delete_maintenance(call: Call) -> object:
    """End a maintenance, and delete it."""
    call.manager.delete_maintenance(call.caller, call.params["maintenance_id"])
    return None


_DATE: JsonSchema = {
    "type": ["string", "null"],
    "maxLength": 64,
    "examples": ["2031-04-05 20:00", "now"],
}
_REASON: JsonSchema = {
    "type": ["string", "null"],
    "maxLength": 255,
    "description": "Owners of leases that keep a resource read it.",
}
_NAMES: JsonSchema = {
    "type": ["array", "null"],
    "minItems": 1,
    "items": {"type": "string", "minLength": 1, "maxLength": 255},
}
_END: JsonSchema = {**_DATE, "description": "UTC, or null for a maintenance that lasts until it is ended."}

_CREATE: Final = BodySchema(
    name="MaintenanceCreate",
    definition={
        "type": "object",
        "description": "The resources that satisfy all of `resources`, `filter` and `aggregate`, of which at "
        "least one is required.",
        "additionalProperties": False,
        "properties": {
            "resource_type": {
                "type": ["string", "null"],
                "maxLength": 66,
                "description": "By default the first type that is enabled, usually that of hosts.",
            },
            "resources": {**_NAMES, "description": "Names or ids."},
            "filter": {
                "type": ["string", "null"],
                "maxLength": 4096,
                "description": "A requirement, also on facts such as `availability_zone`.",
                "examples": ["rack=r3"],
            },
            "aggregate": {
                "type": ["string", "null"],
                "minLength": 1,
                "maxLength": 255,
                "description": "The name of an aggregate of Nova.",
            },
            "start_date": {**_DATE, "description": "UTC; now by default."},
            "end_date": _END,
            "reason": _REASON,
            "leave_pool": {
                "type": ["boolean", "null"],
                "description": "Whether resources that no lease holds leave their pool for this time: hosts "
                "leave the freepool. They stay by default.",
            },
        },
    },
)
_UPDATE: Final = BodySchema(
    name="MaintenanceUpdate",
    definition={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "end_date": _END,
            "reason": _REASON,
            "remove_resources": {**_NAMES, "description": "Names or ids."},
        },
    },
)

_RESOURCE: JsonSchema = complete("A resource.", id=ID, name={"type": "string"})
_RESOURCES: JsonSchema = {"type": "array", "items": _RESOURCE}
_OF_LEASE: Final[dict[str, JsonSchema]] = {
    "lease_id": ID,
    "lease_name": {"type": "string"},
    "project_id": TEXT_OR_NULL,
    "user_id": TEXT_OR_NULL,
    "start_date": INSTANT,
    "end_date": INSTANT,
    "reservation_id": ID,
    "resource_type": {"type": "string"},
}
_KEPT: JsonSchema = complete("A resource that a lease keeps.", **_OF_LEASE, resource=_RESOURCE)

COMPONENTS: Final[dict[str, JsonSchema]] = {
    "Maintenance": {
        **complete(
            "Resources that no new lease gets for a period.",
            id=ID,
            resource_type={"type": "string"},
            reason={"type": "string"},
            status={"enum": ["PLANNED", "ACTIVE", "ENDED"]},
            start_date=INSTANT,
            end_date={**INSTANT_OR_NULL, "description": "Null until an end is set."},
            leave_pool={"type": "boolean"},
            user_id=TEXT_OR_NULL,
            created_at=STAMP,
            resources=_RESOURCES,
        ),
    },
    "MaintenancePlan": {
        "allOf": [
            {"$ref": "#/components/schemas/Maintenance"},
            complete(
                "A maintenance with the leases that hold its resources in its period.",
                moves={
                    "type": "array",
                    "description": "Reservations that have not started and get, or got, other resources.",
                    "items": complete(
                        "A move.",
                        **_OF_LEASE,
                        **{"from": _RESOURCES, "to": _RESOURCES},
                    ),
                },
                active={
                    "type": "array",
                    "description": "Those that have started; they keep the resource.",
                    "items": _KEPT,
                },
                unmovable={
                    "type": "array",
                    "description": "Those that have not started, and for which no other resource is free.",
                    "items": _KEPT,
                },
            ),
        ]
    },
}

_ALL: Final = "/v1/maintenance"
_ONE: Final = "/v1/maintenance/{maintenance_id}"
_route = partial(Route, since=MAINTENANCE)
_A_PLAN: Final = wrapped("maintenance", "MaintenancePlan")

ROUTES: Final = (
    _route(
        method="GET",
        path=_ALL,
        handler=list_maintenances,
        rules=("blazar:maintenance:get",),
        answer=wrapped_list("maintenances", "Maintenance"),
    ),
    _route(
        method="POST",
        path=_ALL,
        handler=create_maintenance,
        rules=("blazar:maintenance:post",),
        status=201,
        body=_CREATE,
        answer=_A_PLAN,
        preview=_A_PLAN,
    ),
    _route(
        method="GET",
        path=_ONE,
        handler=get_maintenance,
        rules=("blazar:maintenance:get",),
        answer=_A_PLAN,
    ),
    _route(
        method="PUT",
        path=_ONE,
        handler=update_maintenance,
        rules=("blazar:maintenance:get", "blazar:maintenance:put"),
        body=_UPDATE,
        answer=_A_PLAN,
    ),
    _route(
        method="DELETE",
        path=_ONE,
        handler=delete_maintenance,
        rules=("blazar:maintenance:get", "blazar:maintenance:delete"),
        status=204,
    ),
)

RULES: Final = (
    Rule(
        name="blazar:maintenance:get",
        check=BY_OPERATORS,
        description="List and show maintenance, with the leases of all projects that it affects. Also "
        "checked first when a maintenance is changed or deleted.",
    ),
    Rule(
        name="blazar:maintenance:post",
        check=BY_OPERATORS,
        description="Keep leases away from resources for a period.",
    ),
    Rule(name="blazar:maintenance:put", check=BY_OPERATORS, description="Change a maintenance."),
    Rule(name="blazar:maintenance:delete", check=BY_OPERATORS, description="End and delete a maintenance."),
)
