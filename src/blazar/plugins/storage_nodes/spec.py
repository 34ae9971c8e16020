"""The spec of a ``physical:storage`` reservation, in requests, responses and the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from blazar.domain.errors import CannotChange, InvalidRange
from blazar.plugins.parameters import parse_number
from blazar.plugins.volumes.pool_spec import (
    PoolSpec,
    decode_service_keys,
    encode_service_keys,
    find_fixed,
    kept_fields,
    parse_pool_keys,
    render_pool_keys,
)

STORAGE_NODE_KEYS: Final = (
    "min",
    "max",
    "resource_properties",
    "volume_name",
    "before_end",
    "end_action",
)
"""The keys of a reservation; ``min`` and ``max`` are required."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageNodeSpec(PoolSpec):
    """A number of whole pools."""

    minimum: int
    maximum: int


def parse_spec(body: Mapping[str, object]) -> StorageNodeSpec:
    """Return the spec of a new reservation. Counts may be numeric text.

    Raises:
        MissingParameter, InvalidParameter, InvalidRange, InvalidRequirement: A key is missing or invalid.
    """
    minimum, maximum = parse_number(body, "min", least=1), parse_number(body, "max", least=1)
    if minimum > maximum:
        raise InvalidRange(f"min: {minimum} is greater than max: {maximum}", min=minimum, max=maximum)
    return StorageNodeSpec(minimum=minimum, maximum=maximum, **parse_pool_keys(body))


def revise_spec(spec: StorageNodeSpec, changes: Mapping[str, object], *, is_active: bool) -> StorageNodeSpec:
    """Return *spec* with the keys of an update; keys that are not sent keep their values.

    Raises:
        MissingParameter, InvalidParameter, InvalidRange, InvalidRequirement: A key is missing or invalid.
        CannotChange: The reservation is active, and a key that is then fixed would change.
    """
    after = replace(parse_spec({**render_spec(spec), **changes}), **kept_fields(spec))
    fixed = [key for key, is_changed in find_fixed(spec, after).items() if is_changed]
    if is_active and fixed:
        raise CannotChange(f"{', '.join(fixed)}: cannot be changed while the reservation is active")
    return after


def encode_spec(spec: StorageNodeSpec) -> Mapping[str, object]:
    """Return the spec in its stored form; clients do not see the fields that only the service sets."""
    return {**render_spec(spec), **encode_service_keys(spec)}


def decode_spec(stored: Mapping[str, Any]) -> StorageNodeSpec:
    """Return the spec from its stored form."""
    return replace(parse_spec(stored), **decode_service_keys(stored))


def render_spec(spec: StorageNodeSpec) -> Mapping[str, object]:
    """Return the spec in the form of the REST API."""
    return {"min": spec.minimum, "max": spec.maximum, **render_pool_keys(spec)}
