"""The API of hosts, their allocations and their resource properties."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from blazar.api import lists
from blazar.api.call import Call
from blazar.api.lists import RANGES, PagedList
from blazar.api.permissions import BY_OPERATORS, PRIVATE_PROPERTIES, Rule
from blazar.api.properties import (
    PROPERTY_UPDATE,
    QUERY,
    requested_privacy,
    respond_with_properties,
)
from blazar.api.route import Route
from blazar.api.schema_parts import (
    COUNT,
    HEALTH_REASON,
    ID,
    REQUIREMENT,
    complete,
    page,
    ref,
    with_optional,
    wrapped,
    wrapped_list,
)
from blazar.api.type_api import RegisteredCollection, TypeApi
from blazar.api.validation import BodySchema, JsonSchema
from blazar.plugins.hosts.requests import REQUESTS
from blazar.ports.manager import JsonObject

_HOSTS = "/v1/os-hosts"
_HOST = "/v1/os-hosts/{host_id}"
_A_HOST = wrapped("host", "Host")
_ALLOCATION_FILTERS = ("lease_id", "reservation_id")
_OF_HOSTS: Final = ("hypervisor_hostname", "availability_zone", "reservable")
HOSTS: Final = PagedList(
    path="/v1/os-hosts",
    key="hosts",
    filters=_OF_HOSTS,
    sort_keys=("created_at", "hypervisor_hostname", "id"),
)
ALLOCATIONS: Final = PagedList(
    path="/v1/os-hosts/allocations",
    key="allocations",
    filters=("lease_id", "reservation_id", *_OF_HOSTS, *RANGES),
    sort_keys=HOSTS.sort_keys,
    marker="resource_id",
)

_BEFORE_END: JsonSchema = {"enum": ["", "default", "snapshot"]}

HOST_CREATE = BodySchema(
    name="HostCreate",
    definition={
        "type": "object",
        "description": "The hypervisor's `id` or `name`. Other keys are extra capabilities; they must not "
        "have the names of fields of Host.",
        "examples": [{"name": "node-1", "rack": "r1", "gpu": "a100"}],
        "properties": {
            "id": {"type": ["string", "number"], "description": "Hypervisor id; overrides `name`."},
            "name": {"type": ["string", "number"], "description": "Hypervisor host name, or its id."},
        },
        "additionalProperties": {"type": ["string", "number", "boolean"]},
    },
)

HOST_UPDATE = BodySchema(
    name="HostUpdate",
    definition={
        "type": "object",
        "description": "Extra capabilities to set; null removes one. They must not have the name of a field "
        "of Host.",
        "minProperties": 1,
        "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
    },
)


def list_hosts(call: Call) -> object:
    """Return all registered hosts."""
    return lists.respond_with(HOSTS, call, partial(_list_hosts, call))


def _list_hosts(call: Call, page: JsonObject | None) -> Sequence[JsonObject]:
    if page is None:
        return REQUESTS.on(call.manager).list_hosts(call.property_caller)
    return REQUESTS.on(call.manager).list_hosts(call.property_caller, page)


def create_host(call: Call) -> object:
    """Register a hypervisor as a host and return it; keys except `id` and `name` are extra capabilities."""
    return {"host": REQUESTS.on(call.manager).create_host(call.caller, call.body)}


def get_host(call: Call) -> object:
    """Return a host by id; its name is not accepted."""
    return {"host": REQUESTS.on(call.manager).get_host(call.property_caller, call.params["host_id"])}


def update_host(call: Call) -> object:
    """Set extra capabilities, or remove those that are null, and return the host."""
    host_id = call.params["host_id"]
    return {"host": REQUESTS.on(call.manager).update_host(call.property_caller, host_id, call.body)}


def delete_host(call: Call) -> object:
    """Remove a host, which returns it to ordinary use."""
    REQUESTS.on(call.manager).delete_host(call.caller, call.params["host_id"])
    return None


def list_allocations(call: Call) -> object:
    """Return the allocations of every host; a host without matching allocations has an empty list."""
    return lists.respond_with(ALLOCATIONS, call, partial(_list_allocations, call))


def _list_allocations(call: Call, page: JsonObject | None) -> Sequence[JsonObject]:
    lease_id, reservation_id = call.query.get("lease_id") or None, call.query.get("reservation_id") or None
    if page is None:
        return REQUESTS.on(call.manager).list_allocations(call.caller, lease_id, reservation_id)
    return REQUESTS.on(call.manager).list_allocations(call.caller, lease_id, reservation_id, page)


def get_allocations(call: Call) -> object:
    """Return the allocations of one host."""
    found = REQUESTS.on(call.manager).get_allocations(
        call.caller,
        call.params["host_id"],
        call.query.get("lease_id") or None,
        call.query.get("reservation_id") or None,
    )
    return {"allocation": found}


def list_resource_properties(call: Call) -> object:
    """Return the properties of all hosts; private ones only if an operator requests all."""
    return respond_with_properties(
        call, partial(REQUESTS.on(call.manager).list_resource_properties, call.caller)
    )


def update_resource_property(call: Call) -> object:
    """Make a resource property private or public and return it."""
    name, private = call.params["property_name"], requested_privacy(call)
    changed = REQUESTS.on(call.manager).update_resource_property(call.caller, name, private)
    return {"resource_property": changed}


_ROUTES: Final = (
    Route(
        method="GET",
        path=_HOSTS,
        handler=list_hosts,
        rules=("blazar:oshosts:get",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        pages=HOSTS,
        answer=page("hosts", "Host"),
    ),
    Route(
        method="POST",
        path=_HOSTS,
        handler=create_host,
        rules=("blazar:oshosts:post",),
        status=201,
        body=HOST_CREATE,
        answer=_A_HOST,
    ),
    Route(
        method="GET",
        path=_HOST,
        handler=get_host,
        rules=("blazar:oshosts:get",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        answer=_A_HOST,
    ),
    Route(
        method="PUT",
        path=_HOST,
        handler=update_host,
        rules=("blazar:oshosts:get", "blazar:oshosts:put"),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        body=HOST_UPDATE,
        answer=_A_HOST,
    ),
    Route(
        method="DELETE",
        path=_HOST,
        handler=delete_host,
        rules=("blazar:oshosts:get", "blazar:oshosts:delete"),
        status=204,
    ),
    Route(
        method="GET",
        path="/v1/os-hosts/allocations",
        handler=list_allocations,
        rules=("blazar:oshosts:get_allocations",),
        query=_ALLOCATION_FILTERS,
        pages=ALLOCATIONS,
        answer=page("allocations", "HostAllocations"),
    ),
    Route(
        method="GET",
        path="/v1/os-hosts/{host_id}/allocation",
        handler=get_allocations,
        rules=("blazar:oshosts:get", "blazar:oshosts:get_allocations"),
        query=_ALLOCATION_FILTERS,
        answer=wrapped("allocation", "HostAllocations"),
    ),
    Route(
        method="GET",
        path="/v1/os-hosts/properties",
        handler=list_resource_properties,
        rules=("blazar:oshosts:get_resource_properties",),
        asked_by_handler=(PRIVATE_PROPERTIES,),
        query=QUERY,
        answer=wrapped_list("resource_properties", "ResourcePropertyListed"),
    ),
    Route(
        method="PATCH",
        path="/v1/os-hosts/properties/{property_name}",
        handler=update_resource_property,
        rules=("blazar:oshosts:update_resource_properties",),
        body=PROPERTY_UPDATE,
        answer=wrapped("resource_property", "ResourceProperty"),
    ),
)


_SCHEMAS: Final[dict[str, JsonSchema]] = {
    "HostReservationCreate": {
        "type": "object",
        "description": "Request for a reservation of whole hosts, `physical:host`.",
        "required": ["resource_type", "min", "max", "hypervisor_properties", "resource_properties"],
        "properties": {
            "resource_type": {"const": "physical:host"},
            "min": COUNT,
            "max": COUNT,
            "hypervisor_properties": REQUIREMENT,
            "resource_properties": REQUIREMENT,
            "before_end": _BEFORE_END,
        },
    },
    "HostReservationUpdate": {
        "type": "object",
        "description": "The values of a `physical:host` reservation that can be changed.",
        "required": ["id"],
        "properties": {
            "id": ID,
            "min": COUNT,
            "max": COUNT,
            "hypervisor_properties": REQUIREMENT,
            "resource_properties": REQUIREMENT,
            "before_end": _BEFORE_END,
        },
    },
    "Host": with_optional(
        complete(
            "A host also has its extra capabilities as keys;",
            "one with the name of a field replaces the field.",
            id={"type": "string", "pattern": r"^\d+$"},
            hypervisor_hostname={"type": "string"},
            service_name={},
            hypervisor_type={},
            hypervisor_version={},
            vcpus={},
            memory_mb={},
            local_gb={},
            cpu_info={"type": "string", "description": "JSON text."},
            availability_zone={},
            status={},
            reservable={},
            trust_id={},
            created_at={},
            updated_at={},
        ),
        health_reason={"description": HEALTH_REASON["description"]},
    ),
    "HostAllocations": complete(
        resource_id={"type": "string", "description": "The id of the host."},
        reservations={"type": "array", "items": ref("Allocation")},
    ),
}

_RULES: Final = (
    Rule(
        name="blazar:oshosts:get",
        check=BY_OPERATORS,
        description="List and show hosts. Also checked first to change or remove a host, or read its "
        "allocations.",
    ),
    Rule(
        name="blazar:oshosts:post",
        check=BY_OPERATORS,
        description="Register a host.",
    ),
    Rule(
        name="blazar:oshosts:put",
        check=BY_OPERATORS,
        description="Change a host's extra capabilities.",
    ),
    Rule(
        name="blazar:oshosts:delete",
        check=BY_OPERATORS,
        description="Remove a host.",
    ),
    Rule(
        name="blazar:oshosts:get_allocations",
        check=BY_OPERATORS,
        description="Read the allocations of hosts.",
    ),
    Rule(
        name="blazar:oshosts:get_resource_properties",
        check=BY_OPERATORS,
        description="List the resource properties.",
    ),
    Rule(
        name="blazar:oshosts:update_resource_properties",
        check=BY_OPERATORS,
        description="Make a resource property private or public.",
    ),
)

API: Final = TypeApi(
    plugin="physical.host.plugin",
    routes=_ROUTES,
    collection=RegisteredCollection(path="os-hosts", name_key="hypervisor_hostname", create_name_key="name"),
    rules=_RULES,
    schemas=_SCHEMAS,
    parameters={
        "hypervisor_hostname": "Return only the host with this name.",
        "availability_zone": "Return only hosts in this zone.",
    },
)
