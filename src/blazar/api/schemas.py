"""JSON Schemas of what is sent and answered: data.

Requests are checked against theirs; answers' are for the OpenAPI document and the tests. In a request's
schema ``required`` stands before ``properties``, so that what is missing is reported first.

Source: rest-api 5, 6.1, 9.
"""

from __future__ import annotations

from blazar.api.validation import BodySchema, JsonSchema

_INPUT_DATE: JsonSchema = {
    "type": "string",
    "maxLength": 64,
    "description": "UTC, `%Y-%m-%d %H:%M`, or the word `now`.",
    "examples": ["2031-04-05 20:00", "now"],
}
_INPUT_BEFORE_END: JsonSchema = {
    "type": ["string", "null"],
    "maxLength": 64,
    "description": "UTC, `%Y-%m-%d %H:%M`, strictly inside the lease. Null or empty for the site's default.",
}
_NAME: JsonSchema = {"type": ["string", "number"], "maxLength": 80, "description": "Need not be unique."}
_RESERVATIONS = "An empty object is taken as an empty list."

LEASE_CREATE = BodySchema(
    name="LeaseCreate",
    definition={
        "type": "object",
        "description": "Other keys are ignored.",
        "required": ["name", "start_date", "end_date"],
        "properties": {
            "name": _NAME,
            "start_date": _INPUT_DATE,
            "end_date": _INPUT_DATE,
            "before_end_date": _INPUT_BEFORE_END,
            "reservations": {
                "description": _RESERVATIONS,
                "type": ["array", "object"],
                "maxProperties": 0,
                "items": {
                    "type": "object",
                    "description": "Other keys are the resource type's: see HostReservationCreate, "
                    "InstanceReservationCreate, FlavorReservationCreate, FloatingIPReservationCreate.",
                    "required": ["resource_type"],
                    "properties": {"resource_type": {"type": "string", "maxLength": 255}},
                },
            },
            "events": {
                "description": "Checked and then ignored: a lease's events follow from its dates.",
                "type": ["array", "null"],
                "items": {"type": "object"},
            },
        },
    },
)

LEASE_UPDATE = BodySchema(
    name="LeaseUpdate",
    definition={
        "type": ["object", "null"],
        "description": "Only what is to change. Other keys, `events` among them, are ignored.",
        "properties": {
            "name": _NAME,
            "start_date": _INPUT_DATE,
            "end_date": _INPUT_DATE,
            "before_end_date": _INPUT_BEFORE_END,
            "reservations": {
                "description": _RESERVATIONS,
                "type": ["array", "object"],
                "maxProperties": 0,
                "items": {
                    "type": "object",
                    "description": "Other keys are the resource type's; those of its creation, "
                    "as far as they can be changed.",
                    "required": ["id"],
                    "properties": {
                        "id": {"type": "string", "maxLength": 255},
                        "resource_type": {"type": "string", "maxLength": 255},
                    },
                },
            },
        },
    },
)

HOST_CREATE = BodySchema(
    name="HostCreate",
    definition={
        "type": "object",
        "description": "The hypervisor's `id` or `name`. Other keys are extra capabilities; they must not "
        "have the names of fields of Host.",
        "properties": {
            "id": {"type": ["string", "number"], "description": "Hypervisor id; goes before `name`."},
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

PROPERTY_UPDATE = BodySchema(
    name="ResourcePropertyUpdate",
    definition={
        "type": "object",
        "description": "Other keys are ignored; without `private` nothing changes.",
        "properties": {"private": {"enum": [True, False, 0, 1]}},
    },
)

FLOATINGIP_CREATE = BodySchema(
    name="FloatingIPCreate",
    definition={
        "type": "object",
        "description": "Other keys are ignored.",
        "required": ["floating_network_id", "floating_ip_address"],
        "properties": {
            "floating_network_id": {
                "type": "string",
                "maxLength": 255,
                "description": "The id of an external network.",
            },
            "floating_ip_address": {
                "type": "string",
                "maxLength": 255,
                "description": "In a subnet of the network, outside of all its allocation pools.",
                "examples": ["203.0.113.200"],
            },
        },
    },
)

BODIES = (LEASE_CREATE, LEASE_UPDATE, HOST_CREATE, HOST_UPDATE, PROPERTY_UPDATE, FLOATINGIP_CREATE)


def ref(component: str) -> JsonSchema:
    """Return a reference to a component of the OpenAPI document."""
    return {"$ref": f"#/components/schemas/{component}"}


def wrapped(key: str, component: str) -> JsonSchema:
    """Return the schema of ``{key: component}``, which is how one thing is answered."""
    return {"type": "object", "required": [key], "properties": {key: ref(component)}}


def wrapped_list(key: str, component: str) -> JsonSchema:
    """Return the schema of ``{key: [component…]}``, which is how a collection is answered."""
    return {
        "type": "object",
        "required": [key],
        "properties": {key: {"type": "array", "items": ref(component)}},
    }


_ID: JsonSchema = {"type": "string"}
_TEXT_OR_NULL: JsonSchema = {"type": ["string", "null"]}
_INSTANT: JsonSchema = {
    "type": "string",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$",
    "examples": ["2031-04-05T06:07:00.000000"],
}
_INSTANT_OR_NULL: JsonSchema = {**_INSTANT, "type": ["string", "null"]}
_STAMP: JsonSchema = {
    "type": ["string", "null"],
    "pattern": r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$",
    "examples": ["2031-04-05 06:07:08"],
}
_REQUIREMENT: JsonSchema = {
    "type": ["string", "null"],
    "description": "A requirement expression; empty or null for none.",
    "examples": ['[">=", "$vcpus", "32"]'],
}
_COUNT: JsonSchema = {"type": ["integer", "string"], "minimum": 1, "description": "A numeric string will do."}
_AMOUNT: JsonSchema = {
    "type": ["integer", "string"],
    "minimum": 1,
    "maximum": 2**31 - 1,
    "description": "How many instances. A numeric string will do.",
}
_SIZE: JsonSchema = {
    "type": ["integer", "string"],
    "minimum": 0,
    "maximum": 2**31 - 1,
    "description": "Of each instance. A numeric string will do.",
}
_AFFINITY: JsonSchema = {
    "type": ["boolean", "integer", "string", "null"],
    "description": "True: all instances on one host; false: all on different hosts; null: anywhere. "
    "The usual words for these will do.",
}
_BEFORE_END: JsonSchema = {"enum": ["", "default", "snapshot"]}

_FLOATINGIP: dict[str, JsonSchema] = {
    "id": _ID,
    "floating_network_id": _ID,
    "subnet_id": _ID,
    "floating_ip_address": {"type": "string", "description": "In its canonical form."},
    "reservable": {"type": "boolean", "description": "Whether it can be given to anybody now."},
}


def _complete(*descriptions: str, **properties: JsonSchema) -> JsonSchema:
    """Return the schema of an object that always has all of these keys, and may have more."""
    return {
        "type": "object",
        "description": " ".join(descriptions),
        "required": list(properties),
        "properties": properties,
    }


COMPONENTS: dict[str, JsonSchema] = {
    **{body.name: body.definition for body in BODIES},
    "HostReservationCreate": {
        "type": "object",
        "description": "A reservation of whole hosts, `physical:host`, as it is asked for.",
        "required": ["resource_type", "min", "max", "hypervisor_properties", "resource_properties"],
        "properties": {
            "resource_type": {"const": "physical:host"},
            "min": _COUNT,
            "max": _COUNT,
            "hypervisor_properties": _REQUIREMENT,
            "resource_properties": _REQUIREMENT,
            "before_end": _BEFORE_END,
        },
    },
    "HostReservationUpdate": {
        "type": "object",
        "description": "What can be changed of a `physical:host` reservation.",
        "required": ["id"],
        "properties": {
            "id": _ID,
            "min": _COUNT,
            "max": _COUNT,
            "hypervisor_properties": _REQUIREMENT,
            "resource_properties": _REQUIREMENT,
        },
    },
    "InstanceReservationCreate": {
        "type": "object",
        "description": "Room for instances of one size, `virtual:instance`, as it is asked for.",
        "required": [
            *("resource_type", "vcpus", "memory_mb", "disk_gb"),
            *("amount", "affinity", "resource_properties"),
        ],
        "properties": {
            "resource_type": {"const": "virtual:instance"},
            "vcpus": _SIZE,
            "memory_mb": _SIZE,
            "disk_gb": _SIZE,
            "amount": _AMOUNT,
            "affinity": _AFFINITY,
            "resource_properties": _REQUIREMENT,
        },
    },
    "FlavorReservationCreate": {
        "type": "object",
        "description": "Room for instances of a flavor, `flavor:instance`, as it is asked for.",
        "required": ["resource_type", "flavor_id", "amount", "affinity"],
        "properties": {
            "resource_type": {"const": "flavor:instance"},
            "flavor_id": {"type": ["string", "integer"], "description": "One that the caller may use."},
            "amount": _AMOUNT,
            "affinity": _AFFINITY,
            "resource_properties": _REQUIREMENT,
        },
    },
    "FloatingIPReservationCreate": {
        "type": "object",
        "description": "A reservation of floating IPs, `virtual:floatingip`, as it is asked for.",
        "required": ["resource_type", "network_id", "amount"],
        "properties": {
            "resource_type": {"const": "virtual:floatingip"},
            "network_id": {"type": "string", "description": "Whose floating IPs."},
            "amount": {
                "type": ["integer", "string"],
                "minimum": 0,
                "maximum": 2**31 - 1,
                "description": "How many floating IPs. A numeric string will do.",
            },
            "required_floatingips": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Addresses that must be among them, at most `amount`.",
            },
        },
    },
    "Reservation": _complete(
        "The keys of its resource type stand beside these.",
        id=_ID,
        lease_id=_ID,
        resource_id=_TEXT_OR_NULL,
        resource_type={"type": "string", "examples": ["physical:host"]},
        status={"enum": ["pending", "active", "deleted", "error"]},
        missing_resources={"type": "boolean"},
        resources_changed={"type": "boolean"},
        created_at=_STAMP,
        updated_at=_STAMP,
    ),
    "Event": _complete(
        id=_ID,
        lease_id=_ID,
        event_type={"enum": ["start_lease", "before_end_lease", "end_lease"]},
        time=_INSTANT_OR_NULL,
        status={"enum": ["UNDONE", "IN_PROGRESS", "DONE", "ERROR", None]},
        created_at=_STAMP,
        updated_at=_STAMP,
    ),
    "Lease": _complete(
        id=_ID,
        name={"type": "string"},
        user_id=_TEXT_OR_NULL,
        project_id=_TEXT_OR_NULL,
        start_date=_INSTANT,
        end_date=_INSTANT,
        trust_id=_TEXT_OR_NULL,
        status={
            "enum": [
                *("PENDING", "ACTIVE", "TERMINATED", "ERROR"),
                *("CREATING", "STARTING", "UPDATING", "TERMINATING", "DELETING"),
            ]
        },
        degraded={"type": "boolean"},
        reservations={"type": "array", "items": ref("Reservation")},
        events={"type": "array", "items": ref("Event")},
        created_at=_STAMP,
        updated_at=_STAMP,
    ),
    "LeaseAllocation": _complete(
        "The allocation of a resource to a reservation of the lease.",
        reservation_id=_ID,
        resource_type={"type": "string", "examples": ["physical:host"]},
        resource_id=_ID,
        name={"type": "string", "description": "The host name of a hypervisor, or an IP address."},
        amount={"type": "integer", "description": "Number of instances on a host; 1 for a whole resource."},
        start_date=_INSTANT,
        end_date=_INSTANT,
    ),
    "Host": _complete(
        "A host also has its extra capabilities as keys; one with the name of a field replaces the field.",
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
    "HostAllocations": _complete(
        resource_id={"type": "string", "description": "The host."},
        reservations={"type": "array", "items": ref("Allocation")},
    ),
    "Allocation": _complete(
        "The dates are those of the lease.",
        id=_ID,
        lease_id=_ID,
        start_date=_INSTANT,
        end_date=_INSTANT,
    ),
    "FloatingIP": _complete(**_FLOATINGIP, created_at=_STAMP, updated_at=_STAMP),
    "NewFloatingIP": _complete(**_FLOATINGIP, created_at=_INSTANT_OR_NULL, updated_at=_INSTANT_OR_NULL),
    "ResourcePropertyListed": {
        "type": "object",
        "description": "`private` and `values` are there if details are asked for.",
        "required": ["property"],
        "properties": {
            "property": {"type": "string"},
            "private": {"type": "boolean"},
            "values": {"type": "array", "items": {"type": "string"}},
        },
    },
    "ResourceProperty": _complete(
        id=_ID,
        resource_type={"type": "string"},
        property_name={"type": "string"},
        private={"type": "boolean"},
        created_at=_INSTANT_OR_NULL,
        updated_at=_INSTANT_OR_NULL,
    ),
    "Version": _complete(
        id={"type": "string"},
        status={"type": "string"},
        min_version={"type": "string"},
        max_version={"type": "string"},
        links={
            "type": "array",
            "items": _complete(href={"type": "string", "format": "uri"}, rel={"type": "string"}),
        },
    ),
    "Fault": _complete(
        "What the service decided.",
        error_code={"type": "integer"},
        error_message={"type": "string"},
        error_name={"type": ["integer", "string"]},
    ),
    "RequestFault": _complete(
        "What is wrong with the request before the service looks at what it asks.",
        error={"type": "integer"},
        error_message={"type": "string"},
    ),
    "AuthenticationFault": _complete(
        "Who asks is not known.",
        error=_complete(
            code={"type": "integer"},
            title={"type": "string"},
            message={"type": "string"},
        ),
    ),
}
