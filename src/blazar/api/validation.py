"""Validation of a body against a JSON Schema, with an error for the caller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from blazar.api.bodies import place_of
from blazar.domain.errors import InvalidParameter, MissingParameter
from blazar.ports.manager import JsonObject

JsonSchema = Mapping[str, object]
_LONGEST_SHOWN = 64
_LIMITS: Final[Mapping[str, str]] = {
    "minLength": "must be at least {} characters long",
    "maxLength": "must be at most {} characters long",
    "minItems": "must have at least {} elements",
    "maxItems": "must have at most {} elements",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BodySchema:
    """The schema of a request's body, compiled on creation; thread-safe.

    Raises:
        jsonschema.SchemaError: The definition is not a valid schema.
    """

    name: str
    definition: JsonSchema
    _validator: Draft202012Validator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Draft202012Validator.check_schema(self.definition)
        object.__setattr__(self, "_validator", Draft202012Validator(self.definition))

    def check(self, body: object) -> JsonObject:
        """Return *body* as an object; null, if the schema allows it, becomes an empty object.

        Raises:
            MissingParameter: Required keys are absent.
            InvalidParameter: A value is invalid; the first one in the order of the schema is reported.
        """
        error = next(self._validator.iter_errors(body), None)
        if error is not None:
            raise _refusal(error)
        return {} if body is None else cast(JsonObject, body)


def _refusal(error: ValidationError) -> MissingParameter | InvalidParameter:
    path = place_of(error.absolute_path)
    if error.validator == "required":
        required, present = cast(list[str], error.validator_value), cast(JsonObject, error.instance)
        prefix = f"{path}." if path else ""
        return MissingParameter(*(prefix + name for name in required if name not in present))
    return InvalidParameter(path or "body", _problem(error))


def _problem(error: ValidationError) -> str:
    """Return the reason of an error, without the value, which may be long."""
    limit = error.validator_value
    match error.validator:
        case "type":
            kinds = limit if isinstance(limit, list) else [limit]
            return f"must be of type {' or '.join(map(str, kinds))}"
        case "minimum" | "maximum":
            return _range(cast(JsonObject, error.schema))
        case "maxProperties":
            return "must be a list, or empty"
        case "minProperties":
            return "must not be empty"
        case "additionalProperties":
            schema, given = cast(JsonObject, error.schema), cast(JsonObject, error.instance)
            known = cast(JsonObject, schema["properties"])
            unknown = ", ".join(repr(key[:_LONGEST_SHOWN]) for key in given if key not in known)
            return f"has unknown keys: {unknown}; known are {', '.join(known)}"
        case "enum":
            return f"must be one of {', '.join(map(repr, cast(list[object], limit)))}"
        case _:
            return _LIMITS.get(str(error.validator), "is not valid").format(limit)


def _range(schema: JsonObject) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None:
        return f"must be at most {most}"
    return f"must be at least {least}" if most is None else f"must be from {least} to {most}"
