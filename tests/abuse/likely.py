"""Requests that are likely to be granted: those of the OpenAPI document, with plausible values only."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Final

from abuse.described import DOCUMENT, Json, Operation, each_operation, loaded
from abuse.target import OFFERED, UNRESERVED

from blazar.api.idempotency import KEY_HEADER
from blazar.cloud.simulated.furnishing import PHYSICAL_NETWORK, STORAGE_POOLS

VERSION_HEADER: Final = "OpenStack-API-Version"
_INSTANTS: Final = ["now", "2031-04-05 20:00", "2031-04-06 20:00", "2031-04-07 08:30"]
_VERSIONS: Final = [
    "reservation 1.0",
    "reservation latest",
    "compute 2.1",
    "reservation 9.9",
    "reservation x",
]
_NEWER: Final = ["reservation 1.1", "reservation latest"]
_TYPES: Final = ("Host", "Instance", "Flavor", "FloatingIP", "Volume", "Storage", "Network")
_PERIOD: Final = {
    "from": ["2031-04-05 20:00"],
    "to": ["2031-04-06 20:00", "2031-04-07 08:30"],
}
_QUERIES: Final[Mapping[str, Mapping[str, list[str]]]] = {
    "/v1/usage": {"by": ["project", "user", "zone", "host"], **_PERIOD, "step": ["60", "1440"]},
    "/v1/availability": {"resource_type": ["physical:host"], **_PERIOD, "group_by": ["rack"]},
    "/v1/feeds": {"project_id": ["admin"]},
    "/v1/timeline": {"resource_type": ["physical:host"], **_PERIOD, "group_by": ["rack"]},
}
"""Values of query parameters by path."""
_SEARCH: Final[Json] = {
    "type": "object",
    "properties": {
        "reservations": {"enum": [[OFFERED]]},
        "earliest_start": {"enum": ["2031-04-05 20:00"]},
        "latest_end": {"enum": ["2031-04-07 08:30"]},
        "duration_minutes": {"enum": [60, "90"]},
        "order": {"enum": ["earliest", "latest", "most"]},
        "limit": {"enum": [1, "5"]},
    },
    "required": ["reservations", "earliest_start", "duration_minutes"],
    "additionalProperties": False,
}


def likely_operations(network_id: str) -> list[Operation]:
    """Return the operations with schemas that produce only plausible values.

    Args:
        network_id: The id of a network that has floating IPs.
    """
    document = copy.deepcopy(DOCUMENT)
    _restrict_leases(document["components"]["schemas"], network_id)
    _restrict_resources(document["components"]["schemas"], network_id)
    _restrict_subscriptions(document["components"]["schemas"])
    _restrict_parameters(document)
    return loaded(document)


def _restrict_leases(schemas: Json, network_id: str) -> None:
    """Restrict the bodies of leases, offers, searches and feeds."""
    for name in ("LeaseCreate", "LeaseUpdate"):
        properties = schemas[name]["properties"]
        properties |= {key: {"enum": _INSTANTS} for key in ("start_date", "end_date", "before_end_date")}
    schemas["FloatingIPReservationCreate"]["properties"]["network_id"] = {"enum": [network_id]}
    kinds = [{"$ref": f"#/components/schemas/{each}ReservationCreate"} for each in _TYPES]
    schemas["LeaseCreate"]["properties"]["reservations"] = {"type": "array", "items": {"anyOf": kinds}}
    schemas["OfferCreate"]["properties"] = {
        "start_date": {"enum": ["2031-04-05 20:00"]},
        "end_date": {"enum": ["2031-04-06 20:00", "2031-04-07 08:30"]},
        "reservations": {"enum": [[OFFERED]]},
        "ttl_seconds": {"enum": [60, "60", None]},
    }
    schemas["LeaseOfferCreate"] = {
        "type": "object",
        "properties": {"end_date": {"enum": ["2031-01-02 06:00", "2031-01-03 00:00"]}},
        "required": ["end_date"],
    }
    schemas["TimeSlotSearch"] = _SEARCH
    schemas["FeedCreate"]["properties"] = {
        "kind": {"enum": ["user", "project"]},
        "name": {"type": ["string", "null"], "maxLength": 80},
        "alarm_minutes": {"enum": [0, 15, None]},
    }
    for each in ("Host", "Instance", "Flavor", "Volume", "Storage", "Network"):
        properties = schemas[f"{each}ReservationCreate"]["properties"]
        properties |= {
            key: {"enum": ["", '["==", "$rack", "r1"]', '[">=", "$vcpus", "1"]']}
            for key in ("hypervisor_properties", "network_properties", "resource_properties")
            if key in properties
        }


def _restrict_resources(schemas: Json, network_id: str) -> None:
    """Restrict the bodies of resources and of maintenance."""
    schemas["HostCreate"]["properties"]["name"] = {"enum": ["host-3", "host-4", "host-5"]}
    # The first pool is always registered.
    schemas["storage-pools-create"]["properties"]["name"] = {"enum": [*STORAGE_POOLS][1:]}
    schemas["MaintenanceCreate"]["properties"] = {
        "resources": {"enum": [[UNRESERVED]]},
        "start_date": {"enum": ["2031-04-05 20:00", None]},
        "end_date": {"enum": ["2031-04-06 20:00", None]},
        "leave_pool": {"type": "boolean"},
    }
    schemas["MaintenanceCreate"]["required"] = ["resources"]
    schemas["networks-create"]["properties"] |= {
        "physical_network": {"enum": [PHYSICAL_NETWORK, None]},
        "segment_id": {"enum": [201, "202", "210-212", None]},
    }
    schemas["FloatingIPCreate"]["properties"] = {
        "floating_network_id": {"enum": [network_id]},
        "floating_ip_address": {"enum": ["203.0.113.201", "203.0.113.202"]},
    }


def _restrict_parameters(document: Json) -> None:
    """Restrict the parameters of all operations."""
    for path, values in _QUERIES.items():
        _restrict_query(document["paths"][path]["get"], values)
    for operation in each_operation(document):
        is_newer = operation.get("description", "").startswith("From version 1.1")
        # Each request with the same key would be a repetition of the first one.
        operation["parameters"] = [each for each in operation["parameters"] if each["name"] != KEY_HEADER]
        for parameter in operation["parameters"]:
            if parameter["in"] == "header":
                # Without the header, a path of 1.1 is not found.
                parameter["required"] = is_newer
                parameter["schema"] = {"enum": _NEWER if is_newer else _VERSIONS}


def _restrict_subscriptions(schemas: Json) -> None:
    """Leave only webhooks to a name that has no address, so that nothing is sent."""
    common = {
        "url": {"enum": ["https://hooks.invalid/", "https://hooks.invalid:8443/leases?key=1"]},
        "events": schemas["SubscriptionCreate"]["properties"]["events"],
        "lead_minutes": {"enum": [[60], [1440, 5], None]},
        "time_zone": {"enum": ["Europe/Berlin", None]},
    }
    schemas["SubscriptionCreate"] |= {
        "properties": {"kind": {"enum": ["webhook"]}, "scope": {"enum": ["own", "project"]}, **common},
        "required": ["kind", "url"],
    }
    schemas["SubscriptionUpdate"]["properties"] = {**common, "rotate_secret": {"type": "boolean"}}


def _restrict_query(operation: Json, values: Mapping[str, list[str]]) -> None:
    """Let a request have only these parameters, with one of these values; the first one is required."""
    operation["parameters"] = [
        {**each, "required": each["name"] == next(iter(values)), "schema": {"enum": values[each["name"]]}}
        if each["name"] in values
        else each
        for each in operation["parameters"]
        if each["name"] in values or each["name"] == VERSION_HEADER
    ]
