"""JSON Schemas of requests and responses.

Requests are validated against their schemas. The schemas of responses are for the OpenAPI document and the
tests. In the schema of a request, ``required`` comes before ``properties``, so that missing keys are reported
first.
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
    "description": "UTC, `%Y-%m-%d %H:%M`, strictly inside the lease. Null or empty for the default.",
}
_NAME: JsonSchema = {"type": ["string", "number"], "maxLength": 80, "description": "Need not be unique."}
_RESERVATIONS = "An empty object is treated as an empty list."

_NEW_RESERVATIONS: JsonSchema = {
    "description": _RESERVATIONS,
    "type": ["array", "object"],
    "maxProperties": 0,
    "items": {
        "type": "object",
        "description": "Other keys depend on the resource type: see HostReservationCreate, "
        "InstanceReservationCreate, FlavorReservationCreate, FloatingIPReservationCreate.",
        "required": ["resource_type"],
        "properties": {"resource_type": {"type": "string", "maxLength": 255}},
    },
}
_NEW_LEASE: dict[str, JsonSchema] = {
    "name": _NAME,
    "start_date": _INPUT_DATE,
    "end_date": _INPUT_DATE,
    "before_end_date": _INPUT_BEFORE_END,
    "reservations": _NEW_RESERVATIONS,
}
_NEW_EVENTS: JsonSchema = {
    "description": "Validated and then ignored: a lease's events follow from its dates.",
    "type": ["array", "null"],
    "items": {"type": "object"},
}

LEASE_CREATE_1_0 = BodySchema(
    name="LeaseCreate10",
    definition={
        "type": "object",
        "description": "Other keys are ignored.",
        "required": ["name", "start_date", "end_date"],
        "properties": {**_NEW_LEASE, "events": _NEW_EVENTS},
    },
)
LEASE_CREATE = BodySchema(
    name="LeaseCreate",
    definition={
        "type": "object",
        "description": "Other keys are ignored.",
        "if": {"required": ["offer_id"]},
        "else": {"required": ["name", "start_date", "end_date"]},
        "properties": {
            **_NEW_LEASE,
            "events": _NEW_EVENTS,
            "offer_id": {
                "type": "string",
                "maxLength": 255,
                "description": "From version 1.1 on: the offer whose resources the lease gets. The only "
                "other key is then `name`, which may be absent if the offer has one.",
            },
        },
    },
)
OFFER_CREATE = BodySchema(
    name="OfferCreate",
    definition={
        "type": "object",
        "description": "As for a lease; `name` may be absent. Other keys are refused.",
        "required": ["start_date", "end_date", "reservations"],
        "additionalProperties": False,
        "properties": {
            **_NEW_LEASE,
            "name": {**_NAME, "type": ["string", "number", "null"]},
            "events": _NEW_EVENTS,
            "ttl_seconds": {
                "type": ["integer", "string", "null"],
                "maxLength": 11,
                "description": "For how long the resources are held: 300 seconds by default and at most 900, "
                "unless the operator has set other values.",
            },
        },
    },
)

_DATES = ["2031-04-05 20:00"]
_RESOURCE_STATES = ("mine", "project", "taken", "cleaning", "failed")
_NUMBER_OR_NULL: JsonSchema = {"type": ["integer", "null"]}
_MINUTES: JsonSchema = {"type": ["integer", "string"], "maxLength": 11, "description": "In minutes."}

_SEARCHED_RESERVATION: JsonSchema = {
    "type": "object",
    "required": ["resource_type"],
    "properties": {
        "resource_type": {"type": "string", "maxLength": 255},
        "count": {
            "type": ["object", "null"],
            "description": "The range of hosts, instances or addresses, instead of `min`, `max` and "
            "`amount`: at least `least`, and as many as possible up to `most`.",
        },
        "prefer": {
            "type": ["array", "null"],
            "maxItems": 4,
            "description": "Requirements that are welcome, most important first. Slots in which all of them "
            "are met come first, then those without the last one, and so on.",
        },
    },
}

TIME_SLOT_SEARCH = BodySchema(
    name="TimeSlotSearch",
    definition={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "lease_id": {
                "type": "string",
                "maxLength": 255,
                "description": "Search for changes of this lease, which the caller may change. Only "
                "`earliest_start`, `latest_end` and `limit` can be given with it.",
            },
            "reservations": {
                "type": "array",
                "minItems": 1,
                "description": "As in a new lease; required without `lease_id` and `shapes`. All of them "
                "must be possible at the same time.",
                "items": _SEARCHED_RESERVATION,
            },
            "shapes": {
                "type": "array",
                "minItems": 1,
                "maxItems": 8,
                "description": "Instead of `reservations`: several requests of which one is wanted, the "
                "preferred one first. Slots of a later shape are added if earlier ones have fewer than "
                "`limit`.",
                "items": {
                    "type": "object",
                    "required": ["reservations"],
                    "additionalProperties": False,
                    "properties": {
                        "reservations": {"type": "array", "minItems": 1, "items": _SEARCHED_RESERVATION}
                    },
                },
            },
            "earliest_start": {**_INPUT_DATE, "description": "The default is `now`."},
            "latest_end": {
                **_INPUT_DATE,
                "description": "At most 366 days after `earliest_start`; 90 days after it by default.",
            },
            "duration_minutes": {
                **_MINUTES,
                "description": "The length of the lease; required unless `order` is `longest`.",
            },
            "min_duration_minutes": {**_MINUTES, "description": "The least length, for `longest`."},
            "max_duration_minutes": {**_MINUTES, "description": "The desired length, for `longest`."},
            "order": {
                "enum": ["earliest", "latest", "longest", "most"],
                "description": "Which time slots come first: the earliest, the latest, the longest, or those "
                "with the most hosts. The default is `earliest`.",
            },
            "limit": {
                "type": ["integer", "string"],
                "maxLength": 11,
                "description": "The number of time slots, from 1 to 100; 5 by default.",
            },
        },
    },
)


def _lease_update(description: str, **more: object) -> JsonSchema:
    return {
        "type": ["object", "null"],
        "description": "The values to change. Unknown keys, and `events`, are ignored.",
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
                    "description": description,
                    **more,
                },
            },
        },
    }


_NAMED_RESERVATION: JsonSchema = {
    "id": {"type": "string", "maxLength": 255},
    "resource_type": {"type": "string", "maxLength": 255},
}
_CHANGED_KEYS = "Other keys depend on the resource type: those of its creation that can be changed."
LEASE_UPDATE_1_0 = BodySchema(
    name="LeaseUpdate10",
    definition=_lease_update(_CHANGED_KEYS, required=["id"], properties=_NAMED_RESERVATION),
)
LEASE_UPDATE = BodySchema(
    name="LeaseUpdate",
    definition=_lease_update(
        f"{_CHANGED_KEYS} From version 1.1 on, before the start: an element without `id` is a new "
        "reservation, with the keys of its creation; `remove` removes the reservation. At version 1.0, "
        "`id` is required.",
        properties={
            **_NAMED_RESERVATION,
            "remove": {"description": "True to remove the reservation."},
            "on_conflict": {
                "description": "From version 1.1 on: `fail`, `drop` or `replace` for held hosts or addresses "
                "that other leases have in the new period; no other key can be given with it.",
            },
            "release": {
                "description": "From version 1.1 on: the ids of hosts or addresses that the reservation "
                "holds and releases now. Its amount decreases; no other key can be given with it.",
            },
        },
    ),
)

HOST_CREATE = BodySchema(
    name="HostCreate",
    definition={
        "type": "object",
        "description": "The hypervisor's `id` or `name`. Other keys are extra capabilities; they must not "
        "have the names of fields of Host.",
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

PROPERTY_UPDATE = BodySchema(
    name="ResourcePropertyUpdate",
    definition={
        "type": "object",
        "description": "Other keys are ignored. Without `private`, nothing changes.",
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

BODIES = tuple(
    each
    for each in vars().values()
    if isinstance(each, BodySchema) and each not in (LEASE_CREATE_1_0, LEASE_UPDATE_1_0)
)
"""All of the above, in their newest versions."""


def ref(component: str) -> JsonSchema:
    """Return a reference to a component of the OpenAPI document."""
    return {"$ref": f"#/components/schemas/{component}"}


def wrapped(key: str, component: str) -> JsonSchema:
    """Return the schema of ``{key: component}``, the response with one object."""
    return {"type": "object", "required": [key], "properties": {key: ref(component)}}


def wrapped_list(key: str, component: str) -> JsonSchema:
    """Return the schema of ``{key: [component…]}``, the response with a collection."""
    return {
        "type": "object",
        "required": [key],
        "properties": {key: {"type": "array", "items": ref(component)}},
    }


def page(key: str, component: str) -> JsonSchema:
    """Return the schema of a collection that has pages from 1.1 on."""
    return {
        "type": "object",
        "required": [key],
        "properties": {
            key: {"type": "array", "items": ref(component)},
            f"{key}_links": {
                "type": "array",
                "description": "From 1.1 on, if more items follow: the link to the next page.",
                "items": ref("Link"),
            },
        },
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
_COUNT: JsonSchema = {"type": ["integer", "string"], "minimum": 1, "description": "May be a numeric string."}
_AMOUNT: JsonSchema = {
    "type": ["integer", "string"],
    "minimum": 1,
    "maximum": 2**31 - 1,
    "description": "Number of instances. May be a numeric string.",
}
_SIZE: JsonSchema = {
    "type": ["integer", "string"],
    "minimum": 0,
    "maximum": 2**31 - 1,
    "description": "Size of each instance. May be a numeric string.",
}
_AFFINITY: JsonSchema = {
    "type": ["boolean", "integer", "string", "null"],
    "description": "True: all instances on one host. False: all on different hosts. Null or an empty string: "
    "anywhere. The usual words for true and false are accepted.",
}
_SOURCE_FLAVOR = "The id, not the name, of a flavor that the caller may use; otherwise the status is 404."
_BEFORE_END: JsonSchema = {"enum": ["", "default", "snapshot"]}

_FLOATINGIP: dict[str, JsonSchema] = {
    "id": _ID,
    "floating_network_id": _ID,
    "subnet_id": _ID,
    "floating_ip_address": {"type": "string", "description": "In its canonical form."},
    "reservable": {"type": "boolean", "description": "Whether the address can be reserved now."},
}


def _complete(*descriptions: str, **properties: JsonSchema) -> JsonSchema:
    """Return the schema of an object that has all of these keys and may have others."""
    return {
        "type": "object",
        "description": " ".join(descriptions),
        "required": list(properties),
        "properties": properties,
    }


def _prospects(**more: JsonSchema) -> JsonSchema:
    """Return the schema of the reservations of a lease that does not exist yet."""
    return {
        "type": "array",
        "description": "In the order of the request.",
        "items": _complete(
            "What a reservation would get.",
            resource_type={"type": "string", "examples": ["physical:host"]},
            amount={"type": "integer"},
            **more,
        ),
    }


_SLOT_DATES: dict[str, JsonSchema] = {
    "start_date": {
        "type": "string",
        "description": "In the format of requests.",
        "examples": _DATES,
    },
    "end_date": {"type": "string", "examples": _DATES},
    "latest_start_date": {
        "type": "string",
        "description": "Later starts, up to this one, are possible, too. For instances, up to a "
        "change that the search cannot foresee.",
        "examples": _DATES,
    },
}
_TIME_SLOT: JsonSchema = _complete("A time slot.", **_SLOT_DATES, reservations=_prospects())
_REASON: JsonSchema = _complete(
    "The conditions of a reservation, and how much each of them leaves.",
    resource_type={"type": "string", "examples": ["physical:host"]},
    needed={"type": "integer", "description": "The units without which it is refused."},
    binding={
        "type": ["string", "null"],
        "description": "The stage that refuses it; null if it could be granted.",
    },
    summary={"type": "string", "description": "The same in one sentence."},
    steps={"type": "array", "items": ref("FunnelStep")},
)
_FOUND_SLOT: JsonSchema = _complete(
    "A time slot, and the request that reserves it.",
    **_SLOT_DATES,
    shape={"type": "integer", "description": "The number of the shape, from 0; 0 without shapes."},
    reservations=_prospects(
        preferences_met={"type": "integer", "description": "How many of its preferences are met."},
        groups={
            "type": "array",
            "description": "For `same` and `spread`: the units by value of the property.",
            "items": _complete(
                "A property.",
                property={"type": "string"},
                values={
                    "type": "array",
                    "items": _complete("A value.", value={"type": "string"}, amount={"type": "integer"}),
                },
            ),
        },
    ),
    request=_complete(
        "The keys of `POST /v1/leases` and `POST /v1/offers` for this slot.",
        start_date={"type": "string", "examples": _DATES},
        end_date={"type": "string", "examples": _DATES},
        reservations={"type": "array", "items": {"type": "object"}},
    ),
)

COMPONENTS: dict[str, JsonSchema] = {
    **{body.name: body.definition for body in BODIES},
    "HostReservationCreate": {
        "type": "object",
        "description": "Request for a reservation of whole hosts, `physical:host`.",
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
        "description": "The values of a `physical:host` reservation that can be changed.",
        "required": ["id"],
        "properties": {
            "id": _ID,
            "min": _COUNT,
            "max": _COUNT,
            "hypervisor_properties": _REQUIREMENT,
            "resource_properties": _REQUIREMENT,
            "before_end": _BEFORE_END,
        },
    },
    "InstanceReservationCreate": {
        "type": "object",
        "description": "Request for a reservation of instances of one size, `virtual:instance`.",
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
        "description": "Request for a reservation of instances of a flavor, `flavor:instance`.",
        "required": ["resource_type", "flavor_id", "amount", "affinity"],
        "properties": {
            "resource_type": {"const": "flavor:instance"},
            "flavor_id": {"type": ["string", "integer"], "description": _SOURCE_FLAVOR},
            "amount": _AMOUNT,
            "affinity": _AFFINITY,
            "resource_properties": _REQUIREMENT,
        },
    },
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
    "Reservation": _complete(
        "A reservation also has the keys of its resource type.",
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
    "Progress": {
        "type": "object",
        "description": "From 1.1 on, further keys of each lease and each reservation that GET returns.",
        "properties": {
            "status_reason": {"type": ["string", "null"], "description": "Why it is in error, or waits."},
            "retry_at": {**_INSTANT_OR_NULL, "description": "When the service tries again by itself."},
            "held": {"type": "integer", "description": "Number of hosts, instances and addresses it holds."},
            "same": {**_TEXT_OR_NULL, "description": "Only of reservations: as in the request."},
            "spread": {**_TEXT_OR_NULL, "description": "Only of reservations: as in the request."},
        },
    },
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
    "ReservationResources": _complete(
        "What a reservation holds, and how to use it.",
        reservation_id=_ID,
        resource_type={"type": "string", "examples": ["physical:host"]},
        status={"type": "string", "examples": ["active"]},
        resources={
            "type": "array",
            "items": _complete(
                "A resource.",
                id=_ID,
                name={"type": "string", "description": "The host name of a hypervisor, or an IP address."},
                amount={
                    "type": "integer",
                    "description": "Number of instances on a host; 1 for a whole resource.",
                },
                start_date=_INSTANT,
                end_date=_INSTANT,
            ),
        },
        use={
            "type": ["object", "null"],
            "description": "What to name in requests to other services, by resource type: "
            "`scheduler_hints`, `flavor_id`, `floating_ip_tags`. Null unless the reservation is active.",
        },
    ),
    "TimeSlots": _complete(
        "The time slots in which the reservations of a search can be made. Nothing is reserved.",
        slots={
            "type": "array",
            "items": _FOUND_SLOT,
        },
        reasons={
            "type": "array",
            "description": "Empty if there are slots; otherwise why the first shape is not possible at the "
            "earliest start, without its preferences.",
            "items": _REASON,
        },
        complete={
            "type": "boolean",
            "description": "False if the search gave up, so that there may be better time slots.",
        },
    ),
    "ReservationChange": _complete(
        "Resources of a reservation before and after a change of its lease, as ids.",
        id=_ID,
        resource_type={"type": "string", "examples": ["physical:host"]},
        kept={"type": "array", "items": {"type": "string"}},
        added={"type": "array", "items": {"type": "string"}},
        released={"type": "array", "items": {"type": "string"}},
    ),
    "PossibleChanges": _complete(
        "Changes of a lease that would be granted now, each on its own. Quotas are checked, the operator's "
        "filters are not. Nothing is reserved.",
        id=_ID,
        latest_end_date={
            "type": ["string", "null"],
            "description": "The latest possible end, up to `latest_end`; null if no later end is possible.",
            "examples": _DATES,
        },
        reservations={
            "type": "array",
            "items": _complete(
                "How much a reservation can grow with the dates of the lease.",
                id=_ID,
                resource_type={"type": "string", "examples": ["physical:host"]},
                amount={"type": "integer", "description": "What it holds now."},
                largest_amount={"type": "integer", "description": "The most that it can hold."},
            ),
        },
        slots={
            "type": "array",
            "description": "Times to which the lease can be moved with its duration, earliest first; empty "
            "if it has started.",
            "items": _TIME_SLOT,
        },
    ),
    "Catalogue": _complete(
        "What the caller can reserve, and within which limits. Resources that cannot be reserved now are not "
        "counted.",
        region={"type": ["string", "null"], "description": "Null if the configuration names none."},
        resource_types={
            "type": "array",
            "items": _complete(
                "A type of reservation.",
                resource_type={"type": "string", "examples": ["physical:host"]},
                keys={
                    "type": ["array", "null"],
                    "items": {"type": "string"},
                    "description": "The keys of a reservation. Null if the plugin does not tell them.",
                },
                unit={"type": "string", "description": "As in the names of quotas.", "examples": ["host"]},
                reservable={
                    "type": "integer",
                    "description": "The number of resources from which reservations are made: hosts, also "
                    "for instances.",
                },
            ),
        },
        properties={
            "type": "array",
            "items": _complete(
                "A property that requirements can name, and by which resources can be grouped.",
                property={"type": "string", "examples": ["gpu"]},
                resource_types={"type": "array", "items": {"type": "string"}},
                built_in={"type": "boolean", "description": "False for a property that operators have set."},
                private={"type": "boolean", "description": "True only for callers who may see it."},
                values={
                    "type": "array",
                    "items": _complete(
                        "A value and the number of resources that have it.",
                        value={"type": ["string", "number", "boolean", "null"]},
                        reservable={"type": "integer"},
                    ),
                },
            ),
        },
        availability_zones={
            "type": "array",
            "items": _complete(
                "A zone and the number of its resources.",
                name={"type": "string"},
                reservable={"type": "integer"},
            ),
        },
        limits=_complete(
            "The limits of a lease and of the caller's project; null for no limit.",
            longest_lease_minutes=_NUMBER_OR_NULL,
            reservations_per_lease=_NUMBER_OR_NULL,
            conditions_per_lease=_NUMBER_OR_NULL,
            amount_per_lease=_NUMBER_OR_NULL,
            quotas={
                "type": "array",
                "items": _complete(
                    "The largest amount that the project has reserved at any time from now on.",
                    name={"type": "string", "examples": ["reserved_hosts"]},
                    used={"type": "integer"},
                    limit=_NUMBER_OR_NULL,
                    left=_NUMBER_OR_NULL,
                ),
            },
        ),
        cleaning_time_minutes={
            "type": "integer",
            "description": "The time that is kept free before and after other reservations.",
        },
        before_end_lead_minutes={
            "type": "integer",
            "description": "The default time from the before-end event to the end; 0 for no event.",
        },
        longest_period_days={
            "type": "integer",
            "description": "The longest period about which one request can ask.",
        },
        longest_page={"type": "integer", "description": "The most items of a page of a list."},
    ),
    "FreeAmounts": _complete(
        "The numbers of resources that are free, for a reservation of that minute alone.",
        region={"type": ["string", "null"]},
        resource_type={"type": "string", "examples": ["physical:host"]},
        **{"from": {"type": "string", "examples": _DATES}},
        to={"type": "string", "examples": _DATES},
        groups={
            "type": "array",
            "items": _complete(
                "Resources with the same value of the property.",
                value={
                    "type": ["string", "number", "boolean", "null"],
                    "description": "Null for resources without the property, or if there are no groups.",
                },
                total={"type": "integer", "description": "The resources that can be reserved now."},
                steps={
                    "type": "array",
                    "description": "By time; each holds until the next one.",
                    "items": _complete(
                        "A change of the number.",
                        time={"type": "string", "examples": _DATES},
                        free={"type": "integer"},
                    ),
                },
            ),
        },
    ),
    "Timeline": {
        "type": "object",
        "description": "The states of resources over time, in groups, or of each resource.",
        "required": ["region", "resource_type", "from", "to"],
        "properties": {
            "region": {"type": ["string", "null"]},
            "resource_type": {"type": "string", "examples": ["physical:host"]},
            "from": {"type": "string", "examples": _DATES},
            "to": {"type": "string", "examples": _DATES},
            "groups": {
                "type": "array",
                "items": _complete(
                    "Resources with the same value of the property.",
                    value={"type": ["string", "number", "boolean", "null"]},
                    total={"type": "integer", "description": "All resources, also failed ones."},
                    intervals={
                        "type": "array",
                        "items": _complete(
                            "The number of resources in each state.",
                            start_date={"type": "string", "examples": _DATES},
                            end_date={"type": "string", "examples": _DATES},
                            **{state: {"type": "integer"} for state in ("free", *_RESOURCE_STATES)},
                        ),
                    },
                ),
            },
            "resources": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["row", "intervals"],
                    "properties": {
                        "row": {"type": "integer", "description": "Only valid in this answer."},
                        "id": {"type": "string", "description": "Only for callers who may see it."},
                        "intervals": {
                            "type": "array",
                            "description": "The resource is free at all other times.",
                            "items": _complete(
                                "A state of the resource.",
                                start_date={"type": "string", "examples": _DATES},
                                end_date={"type": "string", "examples": _DATES},
                                state={"enum": list(_RESOURCE_STATES)},
                            ),
                        },
                    },
                },
            },
        },
    },
    "Offer": _complete(
        "Resources that are held for a possible lease until the offer expires.",
        id={**_ID, "description": "Also the id of the lease that the offer becomes."},
        name={"type": "string", "description": "May be empty."},
        status={"enum": ["OPEN", "EXPIRED", "COMMITTED"]},
        expires_at=_INSTANT,
        user_id=_TEXT_OR_NULL,
        project_id=_TEXT_OR_NULL,
        start_date=_INSTANT,
        end_date=_INSTANT,
        before_end_date=_INSTANT_OR_NULL,
        lease_id={"type": ["string", "null"], "description": "The lease, if the offer was committed."},
        created_at=_INSTANT,
        reservations={
            "type": "array",
            "items": _complete(
                "A reservation as requested; other keys depend on the resource type.",
                id={**_ID, "description": "Also the id of the lease's reservation."},
                resource_type={"type": "string", "examples": ["physical:host"]},
                amount={
                    "type": "integer",
                    "description": "Number of hosts, instances or addresses that are held; 0 once the offer "
                    "is no longer open.",
                },
            ),
        },
    ),
    "HistoryEntry": _complete(
        time=_INSTANT,
        reservation_id={"type": ["string", "null"], "description": "Null for the whole lease."},
        text={"type": "string", "examples": ["The lease is active."]},
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
        resource_id={"type": "string", "description": "The id of the host."},
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
        "description": "`private` and `values` are present if details are requested.",
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
    "Link": _complete(href={"type": "string", "format": "uri"}, rel={"type": "string"}),
    "Version": _complete(
        id={"type": "string"},
        status={"type": "string"},
        min_version={"type": "string"},
        max_version={"type": "string"},
        links={"type": "array", "items": ref("Link")},
    ),
    "Fault": _complete(
        "A decision of the service.",
        error_code={"type": "integer"},
        error_message={"type": "string"},
        error_name={"type": ["integer", "string"]},
    ),
    "RefusedLease": _complete(
        "A new lease, or a change of one, that is refused, from version 1.1 on.",
        error_code={"type": "integer"},
        error_message={"type": "string"},
        error_name={"type": ["integer", "string"]},
        reasons={
            "type": "array",
            "description": "Why, for each reservation of the request in its order. For a change: for each "
            "reservation of the changed lease, first those that it has now.",
            "items": _REASON,
        },
        alternatives={
            "type": "array",
            "description": "Requests that would be granted now.",
            "items": _complete(
                "A change of the request.",
                kind={
                    "type": "string",
                    "enum": [
                        "later",
                        "earlier",
                        "shorter",
                        "fewer",
                        "other_value",
                        "without_condition",
                        "other_type",
                        "split",
                    ],
                },
                summary={"type": "string"},
                bodies={
                    "type": "array",
                    "description": "The bodies for `POST /v1/leases`; more than one if the lease is split. "
                    "For a change: the body for the same `PUT`.",
                    "items": {"type": "object"},
                },
            ),
        },
    ),
    "FunnelStep": {
        "type": "object",
        "description": "One condition, applied to what the earlier ones leave.",
        "required": ["stage", "left"],
        "additionalProperties": False,
        "properties": {
            "stage": {
                "type": "string",
                "enum": [
                    "registered",
                    "healthy",
                    "requirement",
                    "free",
                    "cleaned",
                    "same",
                    "spread",
                    "placed",
                    "kept",
                    "together",
                    "quota",
                ],
            },
            "left": {
                "type": ["integer", "null"],
                "description": "Resources, or from `free` on, units: whole resources, or instances. Null if "
                "the stage has no number.",
            },
            "condition": {
                "type": "string",
                "description": "For `requirement`, in the short form; for `same` and `spread`, the property.",
            },
        },
    },
    "LeasePreview": _complete(
        "What a new lease would reserve now.",
        start_date={"type": "string", "description": "In the format of requests.", "examples": _DATES},
        end_date={"type": "string", "examples": _DATES},
        before_end_date={"type": ["string", "null"], "examples": _DATES},
        reservations=_prospects(
            resources={
                "type": "array",
                "description": "The ids of the resources.",
                "items": {"type": "string"},
            },
        ),
    ),
    "RequestFault": _complete(
        "An error of the HTTP request, found before its content is evaluated.",
        error={"type": "integer"},
        error_message={"type": "string"},
    ),
    "AuthenticationFault": _complete(
        "The request has no valid credentials.",
        error=_complete(
            code={"type": "integer"},
            title={"type": "string"},
            message={"type": "string"},
        ),
    ),
}
