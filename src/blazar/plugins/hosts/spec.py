"""The spec of a ``physical:host`` reservation, in requests, responses and the store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from blazar.domain.errors import InvalidParameter, InvalidRange, MissingParameter
from blazar.domain.expressions import parse
from blazar.domain.requirements import Requirement
from blazar.plugins.parameters import parse_number

HOST_KEYS = ("min", "max", "hypervisor_properties", "resource_properties", "before_end")
"""The keys of a reservation."""

_BEFORE_END_ACTIONS = ("", "default", "snapshot")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSpec:
    """The number of hosts, their required properties, and the before-end action.

    The two property texts are kept as they were sent; ``requirement`` is their combination.
    """

    minimum: int
    maximum: int
    hypervisor_properties: str | None
    resource_properties: str | None
    before_end: str = "default"

    @property
    def requirement(self) -> Requirement:
        """Return the requirement of both property texts together."""
        return parse(self.hypervisor_properties, field="hypervisor_properties") & parse(
            self.resource_properties, field="resource_properties"
        )


def parse_spec(body: Mapping[str, object]) -> HostSpec:
    """Return the spec of a new reservation.

    Errors are reported in a fixed order: counts, required keys, ``before_end``, expressions. Counts may be
    numeric text.

    Raises:
        MissingParameter, InvalidParameter, InvalidRange, InvalidRequirement: A key is missing or invalid.
    """
    minimum, maximum = parse_number(body, "min", least=1), parse_number(body, "max", least=1)
    _check_range(minimum, maximum)
    missing = [key for key in ("hypervisor_properties", "resource_properties") if key not in body]
    if missing:
        raise MissingParameter(*missing)
    spec = HostSpec(
        minimum=minimum,
        maximum=maximum,
        hypervisor_properties=None,
        resource_properties=None,
        before_end=_before_end(body.get("before_end", "default")),
    )
    return replace(
        spec,
        hypervisor_properties=_expression(body, "hypervisor_properties"),
        resource_properties=_expression(body, "resource_properties"),
    )


def revise_spec(spec: HostSpec, changes: Mapping[str, object]) -> HostSpec:
    """Return *spec* with the keys of an update; keys that are not sent keep their values.

    ``before_end`` can be changed, too; the existing service silently ignores such a change.

    Raises:
        MissingParameter, InvalidParameter, InvalidRange, InvalidRequirement: A key is missing or invalid.
    """
    minimum = parse_number(changes, "min", least=1) if "min" in changes else spec.minimum
    maximum = parse_number(changes, "max", least=1) if "max" in changes else spec.maximum
    _check_range(minimum, maximum)
    before_end = _before_end(changes["before_end"]) if "before_end" in changes else spec.before_end
    expressions = {
        key: _expression(changes, key)
        for key in ("hypervisor_properties", "resource_properties")
        if key in changes
    }
    return replace(spec, minimum=minimum, maximum=maximum, before_end=before_end, **expressions)


def encode_spec(spec: HostSpec) -> Mapping[str, object]:
    """Return the spec in the form of the REST API and the store."""
    return {
        "min": spec.minimum,
        "max": spec.maximum,
        "hypervisor_properties": spec.hypervisor_properties,
        "resource_properties": spec.resource_properties,
        "before_end": spec.before_end,
    }


def _check_range(minimum: int, maximum: int) -> None:
    if minimum > maximum:
        raise InvalidRange(f"min: {minimum} is greater than max: {maximum}", min=minimum, max=maximum)


def _before_end(value: object) -> str:
    if not isinstance(value, str) or value not in _BEFORE_END_ACTIONS:
        raise InvalidParameter("before_end", "must be one of '', 'default', 'snapshot'")
    return value


def _expression(body: Mapping[str, object], key: str) -> str | None:
    value = body[key]
    parse(value, field=key)
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)
