"""Requests generated from the OpenAPI document, both valid and invalid ones."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import schemathesis
from abuse.target import OFFERED, UNRESERVED
from schemathesis import APIOperation, CheckFunction, GenerationMode
from schemathesis import Case as AnyCase
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from blazar.api.idempotency import KEY_HEADER
from blazar.cloud.simulated.furnishing import PHYSICAL_NETWORK, STORAGE_POOLS

Json = dict[str, Any]
Operation = APIOperation[Any, Any, Any, Any]
Case = AnyCase[Any]

DOCUMENT: Final[Json] = json.loads((Path(__file__).parents[2] / "doc" / "openapi.json").read_text())
SECONDS: Final = 60
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
# Unknown parameters are ignored, which a schema cannot express.
# Nor can it express all rules of leases, such as the order of dates and the syntax of requirements.
_NOT_ASKED: Final[list[CheckFunction]] = [positive_data_acceptance]


def operations(without: str = "") -> list[Operation]:
    """Return the operations of the document, without the responses of a status if one is given."""
    document = copy.deepcopy(DOCUMENT)
    for operation in _each(document):
        operation["responses"].pop(without, None)
    return _operations(document)


def likely_operations(network_id: str) -> list[Operation]:
    """Return the operations with schemas that produce only plausible values.

    Args:
        network_id: The id of a network that has floating IPs.
    """
    document = copy.deepcopy(DOCUMENT)
    schemas = document["components"]["schemas"]
    for name in ("LeaseCreate", "LeaseUpdate", "OfferCreate", "LeaseOfferCreate"):
        properties = schemas[name]["properties"]
        properties |= {key: {"enum": _INSTANTS} for key in ("start_date", "end_date", "before_end_date")}
    schemas["FloatingIPReservationCreate"]["properties"]["network_id"] = {"enum": [network_id]}
    kinds = [{"$ref": f"#/components/schemas/{each}ReservationCreate"} for each in _TYPES]
    schemas["LeaseCreate"]["properties"]["reservations"] = {"type": "array", "items": {"anyOf": kinds}}
    schemas["OfferCreate"]["properties"]["reservations"] = {"enum": [[OFFERED]]}
    for each in ("Host", "Instance", "Flavor", "Volume", "Storage", "Network"):
        properties = schemas[f"{each}ReservationCreate"]["properties"]
        properties |= {
            key: {"enum": ["", '["==", "$rack", "r1"]', '[">=", "$vcpus", "1"]']}
            for key in ("hypervisor_properties", "network_properties", "resource_properties")
            if key in properties
        }
    schemas["HostCreate"]["properties"]["name"] = {"enum": ["host-3", "host-4", "host-5"]}
    schemas["storage-pools-create"]["properties"]["name"] = {"enum": list(STORAGE_POOLS)}
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
    _make_usage_likely(document)
    for operation in _each(document):
        is_newer = operation.get("description", "").startswith("From version 1.1")
        # Each request with the same key would be a repetition of the first one.
        operation["parameters"] = [each for each in operation["parameters"] if each["name"] != KEY_HEADER]
        for parameter in operation["parameters"]:
            if parameter["in"] == "header":
                # Without the header, a path of 1.1 is not found.
                parameter["required"] = is_newer
                parameter["schema"] = {"enum": _NEWER if is_newer else _VERSIONS}
    return _operations(document)


def _make_usage_likely(document: Json) -> None:
    """Let questions about usage name a kind of groups and a period, and no properties or projects."""
    values = {
        "by": ["project", "user", "zone", "host"],
        "from": ["2031-04-05 20:00"],
        "to": ["2031-04-06 20:00", "2031-04-07 08:30"],
        "step": ["60", "1440"],
    }
    operation = document["paths"]["/v1/usage"]["get"]
    operation["parameters"] = [
        {**each, "required": each["name"] == "by", "schema": {"enum": values[each["name"]]}}
        if each["name"] in values
        else each
        for each in operation["parameters"]
        if each["in"] == "header" or each["name"] in values
    ]


def boundary_cases(operation: Operation) -> Iterator[Case]:
    """Yield cases just inside and just outside each constraint of an operation, deterministically."""
    schema = operation.schema
    yield from schema.iter_coverage_cases(
        operation,
        generation_modes=list(GenerationMode),
        generation_config=schema.config.generation_for(operation=operation),
    )


def ask(case: Case, url: str) -> int:
    """Send a request, assert that the document describes the response, and return its status.

    Args:
        case: The request.
        url: The URL of the service, without a path.
    """
    answer = case.call(base_url=url, timeout=SECONDS)
    unasked = [*_NOT_ASKED, negative_data_rejection] if case.operation.query else _NOT_ASKED
    case.validate_response(answer, excluded_checks=unasked)
    return answer.status_code


def _each(document: Json) -> Iterator[Json]:
    return (operation for path in document["paths"].values() for operation in path.values())


def _operations(document: Json) -> list[Operation]:
    # Authentication is not tested here: a wrong password takes a quarter of a second by design.
    known = {**document, "security": []}
    found = schemathesis.openapi.from_dict(known).get_all_operations()
    return [each.ok() for each in found]  # type: ignore[union-attr]  # Invalid operations have no ok().
