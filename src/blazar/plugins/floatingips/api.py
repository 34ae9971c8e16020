"""The API of floating IPs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from blazar.api import lists
from blazar.api.call import Call
from blazar.api.lists import PagedList
from blazar.api.permissions import BY_OPERATORS, BY_READERS, PRIVATE_PROPERTIES, Rule
from blazar.api.route import Route
from blazar.api.schema_parts import (
    HEALTH_REASON,
    ID,
    INSTANT_OR_NULL,
    STAMP,
    complete,
    page,
    with_optional,
    wrapped,
)
from blazar.api.type_api import RegisteredCollection, TypeApi
from blazar.api.validation import BodySchema, JsonSchema
from blazar.plugins.floatingips.errors import NotEnoughFloatingIPs
from blazar.plugins.floatingips.requests import REQUESTS
from blazar.ports.manager import JsonObject

_FLOATINGIPS = "/v1/floatingips"
_FLOATINGIP = "/v1/floatingips/{floatingip_id}"
_A_FLOATINGIP = wrapped("floatingip", "FloatingIP")
FLOATINGIPS: Final = PagedList(
    path="/v1/floatingips",
    key="floatingips",
    filters=("floating_network_id", "floating_ip_address", "reservable"),
    sort_keys=("created_at", "floating_ip_address", "id"),
)


_SHOWN: dict[str, JsonSchema] = {
    "id": ID,
    "floating_network_id": ID,
    "subnet_id": ID,
    "floating_ip_address": {"type": "string", "description": "In its canonical form."},
    "reservable": {"type": "boolean", "description": "Whether the address can be reserved now."},
}


FLOATINGIP_CREATE = BodySchema(
    name="FloatingIPCreate",
    definition={
        "type": "object",
        "description": "Other keys are ignored.",
        "examples": [
            {
                "floating_ip_address": "203.0.113.200",
                "floating_network_id": "0b8f0a5e-6c1d-4f7e-9a43-5d2e7c9b1f60",
            }
        ],
        "required": ["floating_network_id", "floating_ip_address"],
        "properties": {
            "floating_network_id": {
                "type": "string",
                "maxLength": 255,
                "description": "The id of an external network; otherwise the status is 400.",
            },
            "floating_ip_address": {
                "type": "string",
                "maxLength": 255,
                "description": "An address in a subnet of the network, outside all allocation pools of the "
                "subnet; otherwise the status is 400.",
                "examples": ["203.0.113.200"],
            },
        },
    },
)


def list_floatingips(call: Call) -> object:
    """Return all registered floating IPs."""
    return lists.respond_with(FLOATINGIPS, call, partial(_list_floatingips, call))


def _list_floatingips(call: Call, page: JsonObject | None) -> Sequence[JsonObject]:
    if page is None:
        return REQUESTS.on(call.manager).list_floatingips(call.property_caller)
    return REQUESTS.on(call.manager).list_floatingips(call.property_caller, page)


def create_floatingip(call: Call) -> object:
    """Register an address of an external network as a floating IP and return it."""
    return {"floatingip": REQUESTS.on(call.manager).create_floatingip(call.caller, call.body)}


def get_floatingip(call: Call) -> object:
    """Return a floating IP."""
    found = REQUESTS.on(call.manager).get_floatingip(call.property_caller, call.params["floatingip_id"])
    return {"floatingip": found}


def delete_floatingip(call: Call) -> object:
    """Remove a floating IP."""
    REQUESTS.on(call.manager).delete_floatingip(call.caller, call.params["floatingip_id"])
    return None


_ROUTES: Final = (
    Route(
        method="GET",
        path=_FLOATINGIPS,
        handler=list_floatingips,
        rules=("blazar:floatingips:get",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        pages=FLOATINGIPS,
        answer=page("floatingips", "FloatingIP"),
    ),
    Route(
        method="POST",
        path=_FLOATINGIPS,
        handler=create_floatingip,
        rules=("blazar:floatingips:post",),
        status=201,
        body=FLOATINGIP_CREATE,
        answer=wrapped("floatingip", "NewFloatingIP"),
    ),
    Route(
        method="GET",
        path=_FLOATINGIP,
        handler=get_floatingip,
        rules=("blazar:floatingips:get",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        answer=_A_FLOATINGIP,
    ),
    Route(
        method="DELETE",
        path=_FLOATINGIP,
        handler=delete_floatingip,
        rules=("blazar:floatingips:get", "blazar:floatingips:delete"),
        looked_up_by=get_floatingip,
        status=204,
    ),
)


_SCHEMAS: Final[dict[str, JsonSchema]] = {
    "FloatingIPReservationCreate": {
        "type": "object",
        "description": "Request for a reservation of floating IPs, `virtual:floatingip`.",
        "required": ["resource_type", "network_id", "amount"],
        "properties": {
            "resource_type": {"const": "virtual:floatingip"},
            "network_id": {
                "type": "string",
                "description": "Id of a network with registered floating IPs; otherwise 400.",
            },
            "amount": {
                "type": ["integer", "string"],
                "minimum": 0,
                "maximum": 2**31 - 1,
                "description": "Number of floating IPs. May be a numeric string.",
            },
            "required_floatingips": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Addresses that the reservation must include, at most `amount`.",
            },
        },
    },
    "FloatingIP": with_optional(
        complete(**_SHOWN, created_at=STAMP, updated_at=STAMP), health_reason=HEALTH_REASON
    ),
    "NewFloatingIP": complete(**_SHOWN, created_at=INSTANT_OR_NULL, updated_at=INSTANT_OR_NULL),
}

_RULES: Final = (
    Rule(
        name="blazar:floatingips:get",
        check=BY_READERS,
        description="List and show floating IPs. Also checked first when a floating IP is removed.",
    ),
    Rule(
        name="blazar:floatingips:post",
        check=BY_OPERATORS,
        description="Register a floating IP.",
    ),
    Rule(
        name="blazar:floatingips:delete",
        check=BY_OPERATORS,
        description="Remove a floating IP.",
    ),
)

API: Final = TypeApi(
    plugin="virtual.floatingip.plugin",
    routes=_ROUTES,
    collection=RegisteredCollection(
        path="floatingips", name_key="floating_ip_address", create_name_key="floating_ip_address"
    ),
    rules=_RULES,
    schemas=_SCHEMAS,
    parameters={
        "floating_network_id": "Return only floating IPs of this network.",
        "floating_ip_address": "Return only floating IPs with this address.",
    },
    # In the existing service, too, a shortage of floating IPs is a 400.
    shortages_at_1_0={500: {NotEnoughFloatingIPs: 400}},
)
