"""Parts of JSON Schemas that several schemas share."""

from __future__ import annotations

from typing import Final, cast

from blazar.api.validation import JsonSchema

ID: Final[JsonSchema] = {"type": "string"}
TEXT_OR_NULL: Final[JsonSchema] = {"type": ["string", "null"]}
INSTANT: Final[JsonSchema] = {
    "type": "string",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$",
    "examples": ["2031-04-05T06:07:00.000000"],
}
INSTANT_OR_NULL: Final[JsonSchema] = {**INSTANT, "type": ["string", "null"]}
STAMP: Final[JsonSchema] = {
    "type": ["string", "null"],
    "pattern": r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$",
    "examples": ["2031-04-05 06:07:08"],
}
REQUIREMENT: Final[JsonSchema] = {
    "type": ["string", "null"],
    "description": "A requirement expression; empty or null for none.",
    "examples": ['[">=", "$vcpus", "32"]'],
}
COUNT: Final[JsonSchema] = {
    "type": ["integer", "string"],
    "minimum": 1,
    "description": "May be a numeric string.",
}
AMOUNT: Final[JsonSchema] = {
    "type": ["integer", "string"],
    "minimum": 1,
    "maximum": 2**31 - 1,
    "description": "Number of instances. May be a numeric string.",
}
SIZE: Final[JsonSchema] = {
    "type": ["integer", "string"],
    "minimum": 0,
    "maximum": 2**31 - 1,
    "description": "Size of each instance. May be a numeric string.",
}
AFFINITY: Final[JsonSchema] = {
    "type": ["boolean", "integer", "string", "null"],
    "description": "True: all instances on one host. False: all on different hosts. Null or an empty string: "
    "anywhere. The usual words for true and false are accepted.",
}

HEALTH_REASON: Final[JsonSchema] = {
    "type": ["string", "null"],
    "description": "From 1.1 on, when it is read by callers who satisfy "
    "`blazar:oshosts:private_resource_properties`: why it cannot be reserved, or null.",
    "examples": ["Nova reports that its compute service is down"],
}


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


def complete(*descriptions: str, **properties: JsonSchema) -> JsonSchema:
    """Return the schema of an object that has all of these keys and may have others."""
    return {
        "type": "object",
        "description": " ".join(descriptions),
        "required": list(properties),
        "properties": properties,
    }


def with_optional(schema: JsonSchema, **properties: JsonSchema) -> JsonSchema:
    """Return the schema of an object that may also have these keys."""
    return {**schema, "properties": {**cast("JsonSchema", schema["properties"]), **properties}}
