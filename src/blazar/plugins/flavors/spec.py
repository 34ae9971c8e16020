"""What a ``flavor:instance`` reservation asks for, and how requests and the store write it.

Clients see the source flavor, as Nova shows it, as JSON in the place of ``resource_properties``, and the
reservation's own one as ``flavor_id`` (rest-api 6.3). The store has the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from blazar.domain.capacity import Demand
from blazar.domain.errors import FlavorNotFound, InvalidParameter
from blazar.plugins.flavors.demand import demand_of
from blazar.plugins.slots.spec import (
    NONE_WORDS,
    SlotSpec,
    check_keys,
    parse_affinity,
    parse_amount,
    parse_properties,
    settled,
    with_known_fields,
)
from blazar.ports.compute import Flavor

_REQUIRED = ("flavor_id", "amount", "affinity")
_FIXED_WHILE_ACTIVE = {"flavor_id": "source_id", "affinity": "affinity"}
_NONE_WORDS = NONE_WORDS | {""}
_LONGEST_ID = 255
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_PROPERTIES = "blazar:resource_properties"
"""Beside the keys of the source flavor: what the request required of hosts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorSpec(SlotSpec):
    """Slots for servers of the flavor ``source_id``; ``source`` is None until it was looked up."""

    source_id: str
    source: Flavor | None = None

    @property
    def demand(self) -> Demand:
        """Return what one slot needs. Raises ValueError before the source was looked up."""
        return demand_of(self.pattern)

    @property
    def pattern(self) -> Flavor:
        """Return what the reservation's flavor is like. Raises ValueError before the source was looked up."""
        if self.source is None:
            raise ValueError(f"flavor {self.source_id} was not looked up")
        return self.source


def parse_spec(body: Mapping[str, object]) -> FlavorSpec:
    """Return the spec of a new reservation; its source flavor is yet to be looked up.

    Raises:
        MissingParameter, InvalidParameter, InvalidRequirement: Naming the key.
        FlavorNotFound: The flavor is null, or an empty text.
    """
    check_keys(body, _REQUIRED)
    return FlavorSpec(
        source_id=_parse_id(body["flavor_id"]),
        amount=parse_amount(body),
        affinity=parse_affinity(body["affinity"], _NONE_WORDS),
        resource_properties=parse_properties(body.get("resource_properties")) or None,
    )


def revise_spec(spec: FlavorSpec, changes: Mapping[str, object], *, is_active: bool) -> FlavorSpec:
    """Return *spec* with the keys of an update; keys that are not sent keep their value.

    What clients see may be sent back to them as it is: the reservation's own flavor instead of the
    source, and the source as JSON instead of properties. A new source is yet to be looked up.

    Raises:
        MissingParameter, InvalidParameter, InvalidRequirement, FlavorNotFound: As for a new one.
        CannotChange: The reservation is active, and something but ``amount`` would change.
    """
    after = spec
    if "flavor_id" in changes:
        source_id = _parse_id(changes["flavor_id"])
        if source_id not in (spec.source_id, spec.flavor_id):
            after = replace(after, source_id=source_id, source=None)
    if "amount" in changes:
        after = replace(after, amount=parse_amount(changes))
    if "affinity" in changes:
        after = replace(after, affinity=parse_affinity(changes["affinity"], _NONE_WORDS))
    if "resource_properties" in changes and not _is_source(changes["resource_properties"], spec):
        properties = parse_properties(changes["resource_properties"]) or None
        after = replace(after, resource_properties=properties)
    return settled(spec, after, _FIXED_WHILE_ACTIVE) if is_active else after


def encode_spec(spec: FlavorSpec) -> Mapping[str, object]:
    """Return the spec as the store writes it; but for ``group_affinity``, it is what clients see."""
    source = spec.source
    return {
        "vcpus": source.vcpus if source else None,
        "memory_mb": source.memory_mb if source else None,
        "disk_gb": source.disk_gb if source else None,
        "amount": spec.amount,
        "affinity": spec.affinity,
        "resource_properties": json.dumps(_shown_source(spec)),
        "flavor_id": spec.flavor_id,
        "aggregate_id": spec.aggregate_id,
        "server_group_id": spec.server_group_id,
        "group_affinity": spec.group_affinity,
    }


def decode_spec(stored: Mapping[str, Any]) -> FlavorSpec:
    """Return the spec that was stored."""
    shown = json.loads(stored["resource_properties"])
    return with_known_fields(
        FlavorSpec,
        {**stored, "resource_properties": shown.get(_PROPERTIES)},
        source_id=shown["id"],
        source=_read_flavor(shown) if "vcpus" in shown else None,
    )


def _parse_id(value: object) -> str:
    if value is None or value == "":
        raise FlavorNotFound("null" if value is None else "''")
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise InvalidParameter("flavor_id", "must be the id of a flavor: text, or a whole number")
    text = str(value)
    if len(text) > _LONGEST_ID or _UNPRINTABLE.search(text):
        raise InvalidParameter("flavor_id", f"must have at most {_LONGEST_ID} characters, all printable")
    return text


def _is_source(value: object, spec: FlavorSpec) -> bool:
    """Return whether that is the source flavor as :func:`_shown_source` shows it."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return False
    return isinstance(value, Mapping) and value.get("id") == spec.source_id


def _shown_source(spec: FlavorSpec) -> Mapping[str, object]:
    shown: dict[str, object] = {"id": spec.source_id}
    if spec.source is not None:
        shown |= {
            "name": spec.source.name,
            "vcpus": spec.source.vcpus,
            "ram": spec.source.memory_mb,
            "disk": spec.source.disk_gb,
            "OS-FLV-EXT-DATA:ephemeral": spec.source.ephemeral_gb,
            "os-flavor-access:is_public": spec.source.is_public,
            "extra_specs": dict(spec.source.extra_specs),
        }
    if spec.resource_properties is not None:
        shown[_PROPERTIES] = spec.resource_properties
    return shown


def _read_flavor(shown: Mapping[str, Any]) -> Flavor:
    return Flavor(
        id=shown["id"],
        name=shown["name"],
        vcpus=shown["vcpus"],
        memory_mb=shown["ram"],
        disk_gb=shown["disk"],
        ephemeral_gb=shown["OS-FLV-EXT-DATA:ephemeral"],
        is_public=shown["os-flavor-access:is_public"],
        extra_specs=shown["extra_specs"],
    )
