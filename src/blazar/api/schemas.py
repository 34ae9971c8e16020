"""JSON Schemas of requests and responses.

Requests are validated against their schemas. The schemas of responses are for the OpenAPI document and the
tests. In the schema of a request, ``required`` comes before ``properties``, so that missing keys are reported
first.
"""

from __future__ import annotations

from blazar.api.schema_parts import ID, INSTANT, INSTANT_OR_NULL, STAMP, TEXT_OR_NULL, complete, ref
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
        "description": "Other keys depend on the resource type: see the schemas whose names end in "
        "ReservationCreate.",
        "required": ["resource_type"],
        "properties": {"resource_type": {"type": "string", "maxLength": 255}},
    },
}
NEW_LEASE: dict[str, JsonSchema] = {
    "name": _NAME,
    "start_date": _INPUT_DATE,
    "end_date": _INPUT_DATE,
    "before_end_date": _INPUT_BEFORE_END,
    "reservations": _NEW_RESERVATIONS,
}
"""The keys of a request for a new lease; a change has the same ones."""
_NEW_EVENTS: JsonSchema = {
    "description": "Validated and then ignored: a lease's events follow from its dates.",
    "type": ["array", "null"],
    "items": {"type": "object"},
}

_CHOICE: JsonSchema = {
    "type": "object",
    "required": ["id", "name"],
    "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
}
_TTL: JsonSchema = {
    "type": ["integer", "string", "null"],
    "maxLength": 11,
    "description": "For how long the resources are held: 300 seconds by default and at most 900, unless the "
    "operator has set other values.",
}

_EXPIRY_NOTICE: JsonSchema = {
    "type": ["boolean", "null"],
    "default": True,
    "description": "Whether subscribers get the notice `offer.expired` if it is not committed. False for "
    "offers that a program makes while its user fills in a form.",
}

LEASE_CREATE_1_0 = BodySchema(
    name="LeaseCreate10",
    definition={
        "type": "object",
        "description": "Other keys are ignored.",
        "required": ["name", "start_date", "end_date"],
        "properties": {**NEW_LEASE, "events": _NEW_EVENTS},
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
            **NEW_LEASE,
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
            **NEW_LEASE,
            "name": {**_NAME, "type": ["string", "number", "null"]},
            "events": _NEW_EVENTS,
            "ttl_seconds": _TTL,
            "expiry_notice": _EXPIRY_NOTICE,
        },
    },
)

_DATES = ["2031-04-05 20:00"]
_RESOURCE_STATES = ("mine", "project", "taken", "maintenance", "cleaning", "failed")
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


def _lease_update(description: str, keys: JsonSchema | None = None, **more: object) -> JsonSchema:
    """Return the schema of a change; with the schemas of its other *keys*, and *more* of reservations."""
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
            **(keys or {}),
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
_NEWEST_CHANGE = (
    f"{_CHANGED_KEYS} From version 1.1 on, before the start: an element without `id` is a new reservation, "
    "with the keys of its creation; `remove` removes the reservation. At version 1.0, `id` is required."
)
_CHANGED_RESERVATION: JsonSchema = {
    **_NAMED_RESERVATION,
    "remove": {"description": "True to remove the reservation."},
    "on_conflict": {
        "description": "From version 1.1 on: `fail`, `drop` or `replace` for held hosts or addresses that "
        "other leases have in the new period; no other key can be given with it.",
    },
    "release": {
        "description": "From version 1.1 on: the ids of hosts or addresses that the reservation holds and "
        "releases now. Its amount decreases; no other key can be given with it.",
    },
}
LEASE_UPDATE = BodySchema(
    name="LeaseUpdate",
    definition=_lease_update(
        _NEWEST_CHANGE,
        {
            "offer_id": {
                "type": ["string", "null"],
                "maxLength": 255,
                "description": "From version 1.1 on: the offer for this lease, which says what to change and "
                "holds what that needs. No other key can be given with it.",
            },
        },
        properties=_CHANGED_RESERVATION,
    ),
)
REPLACEMENT = BodySchema(
    name="Replacement",
    definition={
        "type": "object",
        "description": "Resources of a reservation that are broken, and are to be replaced by others.",
        "required": ["reservation_id", "resources"],
        "additionalProperties": False,
        "properties": {
            "reservation_id": {"type": "string", "maxLength": 255},
            "resources": {
                "type": "array",
                "minItems": 1,
                "maxItems": 1000,
                "items": {"type": "string", "minLength": 1, "maxLength": 255},
                "description": "Ids, as in `GET /v1/leases/{lease_id}/resources`.",
            },
            "reason": {
                "type": ["string", "null"],
                "maxLength": 255,
                "description": "What is wrong with them, for the operators.",
            },
        },
    },
)
LEASE_OFFER_CREATE = BodySchema(
    name="LeaseOfferCreate",
    definition={
        **_lease_update(
            _NEWEST_CHANGE,
            {"events": _NEW_EVENTS, "ttl_seconds": _TTL, "expiry_notice": _EXPIRY_NOTICE},
            properties=_CHANGED_RESERVATION,
        ),
        "type": "object",
        "description": "As for a change of the lease, of dates or reservations. Other keys are refused.",
        "additionalProperties": False,
    },
)


def _at_end(time: JsonSchema) -> JsonSchema:
    """Return the schema of what happens at the end of a reservation, with times of a schema."""
    return {
        "type": "array",
        "description": "What happens at the end of the reservation, by time; empty once that is over.",
        "items": complete(
            "A sentence and its time.",
            text={
                "type": "string",
                "examples": ["The servers on the reserved hosts are deleted, with their local disks."],
            },
            time=time,
        ),
    }


def _prospects(**more: JsonSchema) -> JsonSchema:
    """Return the schema of the reservations of a lease that does not exist yet."""
    return {
        "type": "array",
        "description": "In the order of the request.",
        "items": complete(
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
        "description": "Later starts, up to this one, are also possible. For instances, up to a "
        "change that the search cannot foresee.",
        "examples": _DATES,
    },
}
_TIME_SLOT: JsonSchema = complete("A time slot.", **_SLOT_DATES, reservations=_prospects())
_RULE_KIND: JsonSchema = {
    "type": "string",
    "enum": ["horizon", "lead_time", "longest", "shortest", "extension", "cool_down", "stacking"],
}
_REASON_KEYS: dict[str, JsonSchema] = {
    "resource_type": {"type": "string", "examples": ["physical:host"]},
    "needed": {"type": "integer", "description": "The units without which it is refused."},
    "binding": {
        "type": ["string", "null"],
        "description": "The stage that refuses it; null if it could be granted.",
    },
    "summary": {"type": "string", "description": "The same in one sentence."},
    "steps": {"type": "array", "items": ref("FunnelStep")},
}
_RULE_REFUSALS: JsonSchema = {
    "type": "array",
    "description": "Only if usage rules refuse the reservation: their refusals.",
    "items": complete(
        "A refusal. It may also have the nearest allowed date, as `earliest_start_date`, "
        "`latest_start_date`, `earliest_end_date` or `latest_end_date`.",
        code=_RULE_KIND,
        rule={"type": "string", "description": "The name of the rule."},
        summary={"type": "string", "description": "The same in one sentence."},
        possible_from={
            "type": ["string", "null"],
            "description": "When the same request becomes possible; null if waiting does not help.",
            "examples": _DATES,
        },
    ),
}
_REASON: JsonSchema = {
    **complete("The conditions of a reservation, and how much each of them leaves.", **_REASON_KEYS),
    "properties": {**_REASON_KEYS, "rules": _RULE_REFUSALS},
}
_FOUND_SLOT: JsonSchema = complete(
    "A time slot, and the request that reserves it.",
    **_SLOT_DATES,
    shape={"type": "integer", "description": "The number of the shape, from 0; 0 without shapes."},
    reservations=_prospects(
        preferences_met={"type": "integer", "description": "How many of its preferences are met."},
        groups={
            "type": "array",
            "description": "For `same` and `spread`: the units by value of the property.",
            "items": complete(
                "A property.",
                property={"type": "string"},
                values={
                    "type": "array",
                    "items": complete("A value.", value={"type": "string"}, amount={"type": "integer"}),
                },
            ),
        },
    ),
    request=complete(
        "The keys of `POST /v1/leases` and `POST /v1/offers` for this slot.",
        start_date={"type": "string", "examples": _DATES},
        end_date={"type": "string", "examples": _DATES},
        reservations={"type": "array", "items": {"type": "object"}},
    ),
)

COMPONENTS: dict[str, JsonSchema] = {
    "Allocation": complete(
        "The dates are those of the lease.",
        id=ID,
        lease_id=ID,
        start_date=INSTANT,
        end_date=INSTANT,
    ),
    "ResourceAllocations": complete(
        resource_id={"type": "string", "description": "The id of the registered resource."},
        reservations={"type": "array", "items": ref("Allocation")},
    ),
    "Reservation": complete(
        "A reservation also has the keys of its resource type.",
        id=ID,
        lease_id=ID,
        resource_id=TEXT_OR_NULL,
        resource_type={"type": "string", "examples": ["physical:host"]},
        status={"enum": ["pending", "active", "deleted", "error"]},
        missing_resources={"type": "boolean"},
        resources_changed={"type": "boolean"},
        created_at=STAMP,
        updated_at=STAMP,
    ),
    "Event": complete(
        id=ID,
        lease_id=ID,
        event_type={"enum": ["start_lease", "before_end_lease", "end_lease"]},
        time=INSTANT_OR_NULL,
        status={"enum": ["UNDONE", "IN_PROGRESS", "DONE", "ERROR", None]},
        created_at=STAMP,
        updated_at=STAMP,
    ),
    "Lease": complete(
        id=ID,
        name={"type": "string"},
        user_id=TEXT_OR_NULL,
        project_id=TEXT_OR_NULL,
        start_date=INSTANT,
        end_date=INSTANT,
        trust_id=TEXT_OR_NULL,
        status={
            "enum": [
                *("PENDING", "ACTIVE", "TERMINATED", "ERROR"),
                *("CREATING", "STARTING", "UPDATING", "TERMINATING", "DELETING"),
            ]
        },
        degraded={"type": "boolean"},
        reservations={"type": "array", "items": ref("Reservation")},
        events={"type": "array", "items": ref("Event")},
        created_at=STAMP,
        updated_at=STAMP,
    ),
    "Progress": {
        "type": "object",
        "description": "From 1.1 on, further keys of each lease and each reservation that GET returns.",
        "properties": {
            "status_reason": {"type": ["string", "null"], "description": "Why it is in error, or waits."},
            "retry_at": {**INSTANT_OR_NULL, "description": "When the service retries automatically."},
            "held": {"type": "integer", "description": "Number of hosts, instances and addresses it holds."},
            "at_end": {
                **_at_end(INSTANT),
                "description": "Only of reservations: what happens at their end, by time; empty once that is "
                "over.",
            },
            "same": {**TEXT_OR_NULL, "description": "Only of reservations: as in the request."},
            "spread": {**TEXT_OR_NULL, "description": "Only of reservations: as in the request."},
        },
    },
    "LeaseAllocation": complete(
        "The allocation of a resource to a reservation of the lease.",
        reservation_id=ID,
        resource_type={"type": "string", "examples": ["physical:host"]},
        resource_id=ID,
        name={"type": "string", "description": "The host name of a hypervisor, or an IP address."},
        amount={"type": "integer", "description": "Number of instances on a host; 1 for a whole resource."},
        start_date=INSTANT,
        end_date=INSTANT,
    ),
    "ReservationResources": complete(
        "What a reservation holds, and how to use it.",
        reservation_id=ID,
        resource_type={"type": "string", "examples": ["physical:host"]},
        status={"type": "string", "examples": ["active"]},
        resources={
            "type": "array",
            "items": complete(
                "A resource.",
                id=ID,
                name={"type": "string", "description": "The host name of a hypervisor, or an IP address."},
                amount={
                    "type": "integer",
                    "description": "Number of instances on a host; 1 for a whole resource.",
                },
                start_date=INSTANT,
                end_date=INSTANT,
            ),
        },
        use={
            "type": ["object", "null"],
            "description": "What to name in requests to other services, by resource type: "
            "`scheduler_hints`, `flavor_id`, `floating_ip_tags`. Null unless the reservation is active.",
        },
    ),
    "TimeSlots": complete(
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
    "ReservationChange": complete(
        "Resources of a reservation before and after a change of its lease, as ids.",
        id=ID,
        resource_type={"type": "string", "examples": ["physical:host"]},
        kept={"type": "array", "items": {"type": "string"}},
        added={"type": "array", "items": {"type": "string"}},
        released={"type": "array", "items": {"type": "string"}},
    ),
    "PossibleChanges": complete(
        "Changes of a lease that would be granted now, each on its own. Quotas are checked, the operator's "
        "filters are not. Nothing is reserved.",
        id=ID,
        latest_end_date={
            "type": ["string", "null"],
            "description": "The latest possible end, up to `latest_end`; null if no later end is possible.",
            "examples": _DATES,
        },
        reservations={
            "type": "array",
            "items": complete(
                "How much a reservation can grow with the dates of the lease.",
                id=ID,
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
    "Catalogue": complete(
        "What the caller can reserve, and within which limits. Resources that cannot be reserved now are not "
        "counted.",
        region={"type": ["string", "null"], "description": "Null if the configuration names none."},
        resource_types={
            "type": "array",
            "items": complete(
                "A type of reservation.",
                resource_type={"type": "string", "examples": ["physical:host"]},
                keys={
                    "type": ["array", "null"],
                    "items": {"type": "string"},
                    "description": "The keys of a reservation. Null if the plugin does not name them.",
                },
                schema={
                    "type": ["object", "null"],
                    "description": "The JSON Schema of a request for a reservation of the type, from which "
                    "forms can be made. Null if the plugin has none.",
                },
                unit={"type": "string", "description": "As in the names of quotas.", "examples": ["host"]},
                unit_keys={
                    "type": "array",
                    "description": "The keys that say how large a unit is; empty if it is a whole resource.",
                    "items": {"type": "string", "examples": ["vcpus"]},
                },
                has_count={
                    "type": "boolean",
                    "description": "Whether a search can ask for a number of units with `count`.",
                },
                choices={
                    "type": ["object", "null"],
                    "description": "The objects of the cloud that the caller can name in a request, by its "
                    "key. Null without `choices=true`, or if the cloud cannot list them now.",
                    "additionalProperties": {"type": "array", "items": _CHOICE},
                },
                reservable={
                    "type": "integer",
                    "description": "The number of resources from which reservations are made: hosts, also "
                    "for instances.",
                },
                end_texts={
                    "type": "array",
                    "description": "What can happen at the end of a reservation.",
                    "items": complete(
                        "A sentence, and when it applies.",
                        key={
                            "type": ["string", "null"],
                            "description": "The key of a reservation that decides about it; null if it "
                            "always happens.",
                            "examples": ["end_action"],
                        },
                        value={
                            "type": ["string", "null"],
                            "description": "The value of the key with which it happens.",
                            "examples": ["retain"],
                        },
                        text={"type": "string"},
                        before_end={
                            "type": "boolean",
                            "description": "Whether it happens at the before-end event, if there is one.",
                        },
                    ),
                },
            ),
        },
        collections={
            "type": "array",
            "description": "The collections of resources that operators register, by path.",
            "items": complete(
                "A collection, from which a form for operators can be made.",
                path={
                    "type": "string",
                    "description": "The path of the list below `/v1`.",
                    "examples": ["os-hosts"],
                },
                list_key={
                    "type": "string",
                    "description": "The key of the list in its response.",
                    "examples": ["hosts"],
                },
                name_key={
                    "type": "string",
                    "description": "The key of a resource in the list with the name that people know.",
                    "examples": ["hypervisor_hostname"],
                },
                create_name_key={
                    "type": ["string", "null"],
                    "description": "The key of a registration whose value becomes the name, if there is one.",
                    "examples": ["name"],
                },
                create_schema={
                    "type": "object",
                    "description": "The JSON Schema of a registration; its `examples` show some.",
                },
                update_schema={
                    "type": ["object", "null"],
                    "description": "The JSON Schema of a change; null if resources cannot be changed.",
                },
                has_pages={"type": "boolean", "description": "Whether the list has pages."},
                allocation_filters={
                    "type": ["array", "null"],
                    "description": "The filters of the list `/v1/{path}/allocations`; null if it does not "
                    "exist.",
                    "items": {"type": "string"},
                },
            ),
        },
        properties={
            "type": "array",
            "items": complete(
                "A property that requirements can name, and by which resources can be grouped.",
                property={"type": "string", "examples": ["gpu"]},
                resource_types={"type": "array", "items": {"type": "string"}},
                built_in={"type": "boolean", "description": "False for a property that operators have set."},
                private={"type": "boolean", "description": "True only for callers who may see it."},
                values={
                    "type": "array",
                    "items": complete(
                        "A value and the number of resources that have it.",
                        value={"type": ["string", "number", "boolean", "null"]},
                        reservable={"type": "integer"},
                    ),
                },
            ),
        },
        availability_zones={
            "type": "array",
            "items": complete(
                "A zone and the number of its resources.",
                name={"type": "string"},
                reservable={"type": "integer"},
            ),
        },
        limits=complete(
            "The limits of a lease and of the caller's project; null for no limit.",
            longest_lease_minutes=_NUMBER_OR_NULL,
            reservations_per_lease=_NUMBER_OR_NULL,
            conditions_per_lease=_NUMBER_OR_NULL,
            amount_per_lease=_NUMBER_OR_NULL,
            rules={
                "type": "array",
                "description": "The operator's usage rules for the caller, in order: for each resource type, "
                "resource and kind, the first one decides.",
                "items": complete(
                    "A usage rule.",
                    name={"type": "string"},
                    kind=_RULE_KIND,
                    resource_types={"type": "array", "items": {"type": "string"}},
                    covers_all_resources={"type": "boolean"},
                    resources={
                        "type": ["string", "null"],
                        "description": "The requirement of the resources that it covers; null for all, or "
                        "if it names a private property.",
                        "examples": ["gpu=a100"],
                    },
                    summary={"type": "string", "description": "The same in one sentence."},
                    limit={
                        "type": ["object", "null"],
                        "description": "Values by kind, durations in minutes; null for no limit.",
                        "examples": [{"longest_minutes": 4320}],
                    },
                ),
            },
            quotas={
                "type": "array",
                "items": complete(
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
        subscription_kinds={
            "type": "array",
            "items": {"enum": ["mail", "webhook"]},
            "description": "How the site sends notices; empty if it sends none.",
        },
        longest_page={"type": "integer", "description": "The most items of a page of a list."},
    ),
    "FreeAmounts": complete(
        "The numbers of resources that are free, for a reservation of that minute alone.",
        region={"type": ["string", "null"]},
        resource_type={"type": "string", "examples": ["physical:host"]},
        **{"from": {"type": "string", "examples": _DATES}},
        to={"type": "string", "examples": _DATES},
        groups={
            "type": "array",
            "items": complete(
                "Resources with the same value of the property.",
                value={
                    "type": ["string", "number", "boolean", "null"],
                    "description": "Null for resources without the property, or if there are no groups.",
                },
                total={"type": "integer", "description": "The resources that can be reserved now."},
                steps={
                    "type": "array",
                    "description": "By time; each holds until the next one.",
                    "items": complete(
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
                "items": complete(
                    "Resources with the same value of the property.",
                    value={"type": ["string", "number", "boolean", "null"]},
                    total={"type": "integer", "description": "All resources, also failed ones."},
                    intervals={
                        "type": "array",
                        "items": complete(
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
                            "items": complete(
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
    "Offer": complete(
        "Resources that are held for a possible lease, or for a change of a lease, until the offer expires.",
        id={**ID, "description": "Also the id of the new lease that the offer becomes."},
        name={"type": "string", "description": "May be empty."},
        status={"enum": ["OPEN", "EXPIRED", "COMMITTED", "OUTDATED"]},
        expires_at=INSTANT,
        user_id=TEXT_OR_NULL,
        project_id=TEXT_OR_NULL,
        start_date=INSTANT,
        end_date=INSTANT,
        before_end_date=INSTANT_OR_NULL,
        lease_id={
            "type": ["string", "null"],
            "description": "The lease for which the offer is; of a new lease, null until it is committed.",
        },
        created_at=INSTANT,
        expiry_notice={"type": "boolean", "description": "As in the request; true by default."},
        reservations={
            "type": "array",
            "items": complete(
                "A reservation as requested; other keys depend on the resource type.",
                id={**ID, "description": "Also the id of the lease's reservation."},
                resource_type={"type": "string", "examples": ["physical:host"]},
                amount={
                    "type": "integer",
                    "description": "Number of hosts, instances or addresses that are held, for a change of a "
                    "lease with those that the lease has; 0 once the offer is no longer open.",
                },
            ),
        },
    ),
    "HistoryEntry": complete(
        time=INSTANT,
        reservation_id={"type": ["string", "null"], "description": "Null for the whole lease."},
        text={"type": "string", "examples": ["The lease is active."]},
    ),
    "Link": complete(href={"type": "string", "format": "uri"}, rel={"type": "string"}),
    "Version": complete(
        id={"type": "string"},
        status={"type": "string"},
        min_version={"type": "string"},
        max_version={"type": "string"},
        links={"type": "array", "items": ref("Link")},
    ),
    "Fault": complete(
        "A decision of the service.",
        error_code={"type": "integer"},
        error_message={"type": "string"},
        error_name={"type": ["integer", "string"]},
    ),
    "RefusedLease": complete(
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
            "items": complete(
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
                    "rule",
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
    "LeasePreview": complete(
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
            at_end=_at_end({"type": "string", "examples": _DATES}),
        ),
        costs={
            "type": "array",
            "description": "What the whole lease would cost, from each filter of the site that returns it.",
            "items": complete(
                "A cost.",
                filter={"type": "string", "description": "The name of the filter."},
                amount={"type": "string", "description": "A decimal number.", "examples": ["12.5"]},
                unit={"type": "string", "examples": ["SU"]},
            ),
        },
    ),
    "RequestFault": complete(
        "An error of the HTTP request, found before its content is evaluated.",
        error={"type": "integer"},
        error_message={"type": "string"},
    ),
    "AuthenticationFault": complete(
        "The request has no valid credentials.",
        error=complete(
            code={"type": "integer"},
            title={"type": "string"},
            message={"type": "string"},
        ),
    ),
}
