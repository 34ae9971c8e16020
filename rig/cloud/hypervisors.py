"""Nova's hypervisors, compute services and aggregates."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from blazar.cloud.simulated import SimulatedCloud
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.compute import Aggregate, Hypervisor
from rig.cloud.messages import Call, Reply, Route
from rig.cloud.paging import links, page_of

_WITH_OBJECTS = (2, 28)
_WITH_PAGES = (2, 33)
_WITH_UUIDS = (2, 53)
_FIRST_UUID = UUID("5f1f2c0e-7a64-4c9e-9a0b-000000000000").int
_ZONE = "availability_zone"


def _list_hypervisors(cloud: SimulatedCloud, call: Call) -> Reply:
    found = sorted(cloud.hypervisors.list_hypervisors(), key=lambda each: int(each.id))
    pattern = call.value("hypervisor_hostname_pattern")
    if pattern is not None:
        found = _named(found, pattern)
    if call.version < _WITH_PAGES:
        return Reply(body={"hypervisors": [_hypervisor(each, call.version) for each in found]})
    page, has_next = page_of(found, [_id(each, call.version) for each in found], call)
    bodies = [_hypervisor(each, call.version) for each in page]
    return Reply(body={"hypervisors": bodies, **links("hypervisors", call, has_next=has_next)})


def _search_hypervisors(cloud: SimulatedCloud, call: Call) -> Reply:
    found = _named(cloud.hypervisors.list_hypervisors(), call["name"])
    return Reply(
        body={
            "hypervisors": [
                {"id": int(each.id), "hypervisor_hostname": each.hypervisor_hostname} for each in found
            ]
        }
    )


def _named(hypervisors: Iterable[Hypervisor], part: str) -> list[Hypervisor]:
    found = [each for each in hypervisors if part in each.hypervisor_hostname]
    if not found:
        raise CloudNotFound(f"no hypervisor matching '{part}' could be found")
    return found


def _show_hypervisor(cloud: SimulatedCloud, call: Call) -> Reply:
    number = call["id"] if call.version < _WITH_UUIDS else _number(call["id"])
    found = cloud.hypervisors.find_hypervisor(number)
    if found is None or found.id != number:
        raise CloudNotFound(f"hypervisor with ID '{call['id']}' could not be found")
    return Reply(body={"hypervisor": _hypervisor(found, call.version)})


def _id(hypervisor: Hypervisor, version: tuple[int, int]) -> str:
    """Return the id: a number, or since 2.53 the UUID that represents it here."""
    return hypervisor.id if version < _WITH_UUIDS else str(UUID(int=_FIRST_UUID + int(hypervisor.id)))


def _number(text: str) -> str:
    try:
        return str(UUID(text).int - _FIRST_UUID)
    except ValueError as error:
        raise CloudRefused(f"invalid uuid {text}") from error


def _hypervisor(hypervisor: Hypervisor, version: tuple[int, int]) -> object:
    has_objects = version >= _WITH_OBJECTS
    shown_id = _id(hypervisor, version)
    return {
        "id": shown_id if version >= _WITH_UUIDS else int(shown_id),
        "hypervisor_hostname": hypervisor.hypervisor_hostname,
        "hypervisor_type": hypervisor.hypervisor_type,
        "hypervisor_version": hypervisor.hypervisor_version,
        "vcpus": hypervisor.vcpus,
        "memory_mb": hypervisor.memory_mb,
        "local_gb": hypervisor.local_gb,
        "cpu_info": json.loads(hypervisor.cpu_info) if has_objects else hypervisor.cpu_info,
        "state": "up" if hypervisor.is_up else "down",
        "status": "enabled" if hypervisor.is_enabled else "disabled",
        "service": {
            "id": shown_id if version >= _WITH_UUIDS else int(shown_id),
            "host": hypervisor.service_host,
            "disabled_reason": hypervisor.disabled_reason or None,
        },
    }


def _list_services(cloud: SimulatedCloud, call: Call) -> Reply:
    zones = cloud.hypervisors.list_availability_zones()
    services = [
        {"id": number, "binary": "nova-compute", "host": host, "zone": zone}
        for number, (host, zone) in enumerate(sorted(zones.items()), 1)
    ]
    return Reply(body={"services": services})


def _list_aggregates(cloud: SimulatedCloud, call: Call) -> Reply:
    return Reply(body={"aggregates": [_aggregate(each) for each in cloud.aggregates.list_aggregates()]})


def _show_aggregate(cloud: SimulatedCloud, call: Call) -> Reply:
    found = next((each for each in cloud.aggregates.list_aggregates() if each.id == _number_of(call)), None)
    if found is None:
        raise CloudNotFound(f"Aggregate {call['id']} could not be found.")
    return Reply(body={"aggregate": _aggregate(found)})


def _create_aggregate(cloud: SimulatedCloud, call: Call) -> Reply:
    body = call.body["aggregate"]
    made = cloud.aggregates.create_aggregate(body["name"], body[_ZONE], {})
    shown = _aggregate(made)
    # A new aggregate is returned without these fields.
    return Reply(body={"aggregate": {key: shown[key] for key in shown if key not in ("hosts", "metadata")}})


def _delete_aggregate(cloud: SimulatedCloud, call: Call) -> Reply:
    try:
        cloud.aggregates.delete_aggregate(_number_of(call))
    except CloudConflict as error:
        # Nova does not respond with 409 here.
        raise CloudRefused(str(error)) from error
    return Reply()


def _act_on_aggregate(cloud: SimulatedCloud, call: Call) -> Reply:
    aggregate_id = _number_of(call)
    ((action, detail),) = call.body.items()
    match action:
        case "add_host":
            changed = cloud.aggregates.add_host(aggregate_id, detail["host"])
        case "remove_host":
            changed = cloud.aggregates.remove_host(aggregate_id, detail["host"])
        case "set_metadata":
            changed = cloud.aggregates.set_aggregate_metadata(aggregate_id, detail["metadata"])
        case _:
            raise CloudRefused(f"there is no such action: {action}")
    return Reply(body={"aggregate": _aggregate(changed)})


def _number_of(call: Call) -> int:
    try:
        return int(call["id"])
    except ValueError as error:
        raise CloudRefused(f"{call['id']} is no id of an aggregate") from error


def _aggregate(aggregate: Aggregate) -> dict[str, Any]:
    zone = {} if aggregate.availability_zone is None else {_ZONE: aggregate.availability_zone}
    return {
        "id": aggregate.id,
        "name": aggregate.name,
        _ZONE: aggregate.availability_zone,
        "hosts": sorted(aggregate.hosts),
        "metadata": {**aggregate.metadata, **zone},
    }


ROUTES = (
    Route("GET", "/os-hypervisors/detail", _list_hypervisors),
    Route("GET", "/os-hypervisors/{name}/search", _search_hypervisors),
    Route("GET", "/os-hypervisors/{id}", _show_hypervisor),
    Route("GET", "/os-services", _list_services),
    Route("GET", "/os-aggregates", _list_aggregates),
    Route("GET", "/os-aggregates/{id}", _show_aggregate),
    Route("POST", "/os-aggregates", _create_aggregate),
    Route("DELETE", "/os-aggregates/{id}", _delete_aggregate),
    Route("POST", "/os-aggregates/{id}/action", _act_on_aggregate),
)
