"""The spec of a ``flavor:instance`` reservation, in requests, responses and the store.

Clients see the source flavor as JSON under ``resource_properties``, with the keys and values that Nova
returns before microversion 2.75 (an empty text for no swap), and the reservation's own flavor as
``flavor_id``. The store has the same form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from blazar.domain.capacity import Demand, Group, decode_group, encode_group
from blazar.domain.errors import InvalidParameter
from blazar.plugins.flavors.demand import demand_of
from blazar.plugins.flavors.errors import FlavorNotFound
from blazar.plugins.flavors.extra_specs import PCI_ALIAS, list_unguaranteed
from blazar.plugins.parameters import parse_affinity, parse_properties
from blazar.plugins.slots.spec import (
    SlotSpec,
    check_keys,
    parse_amount,
    settled,
    with_known_fields,
)
from blazar.ports.compute import Flavor

FLAVOR_KEYS = ("flavor_id", "amount", "affinity", "resource_properties")
"""The keys of a reservation."""

_REQUIRED = ("flavor_id", "amount", "affinity")
_FIXED_WHILE_ACTIVE = {"flavor_id": "source_id", "affinity": "affinity"}
_LONGEST_ID = 255
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_PROPERTIES = "blazar:resource_properties"
"""Additional key of the source flavor: the requirement for hosts from the request."""
_UNGUARANTEED = "blazar:not_guaranteed"
"""Additional key: the extra specs that the reservation does not guarantee."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorSpec(SlotSpec):
    """Slots for servers of the flavor ``source_id``; ``source`` is None until it was read from Nova."""

    source_id: str
    source: Flavor | None = None
    devices: tuple[Group, ...] = ()
    """The PCI devices of the source that Placement can count."""

    @property
    def demand(self) -> Demand:
        """Return the demand of one slot. Raises ValueError before the source was read."""
        return demand_of(self.pattern, self.devices)

    @property
    def unguaranteed(self) -> tuple[str, ...]:
        """Return the extra specs of the source that the reservation does not guarantee, sorted."""
        keys = list_unguaranteed(self.source.extra_specs) if self.source else ()
        return tuple(each for each in keys if each != PCI_ALIAS or not self.devices)

    @property
    def pattern(self) -> Flavor:
        """Return the template of the reservation's flavor. Raises ValueError before the source was read."""
        if self.source is None:
            raise ValueError(f"flavor {self.source_id} was not looked up")
        # As in the existing service, servers of the reservation have no swap.
        return replace(self.source, swap_mb=0, rxtx_factor=1.0, is_disabled=False)


def parse_spec(body: Mapping[str, object]) -> FlavorSpec:
    """Return the spec of a new reservation, without its source flavor.

    Raises:
        MissingParameter, InvalidParameter, InvalidRequirement: A key is missing or invalid.
        FlavorNotFound: The flavor is null or an empty text.
    """
    check_keys(body, _REQUIRED)
    return FlavorSpec(
        source_id=_parse_id(body["flavor_id"]),
        amount=parse_amount(body),
        affinity=parse_affinity(body["affinity"]),
        resource_properties=parse_properties(body.get("resource_properties")) or None,
    )


def revise_spec(spec: FlavorSpec, changes: Mapping[str, object], *, is_active: bool) -> FlavorSpec:
    """Return *spec* with the keys of an update; keys that are not sent keep their values.

    Clients may send back what they see: the reservation's own flavor instead of the source, and the source as
    JSON instead of properties. A new source is not read from Nova here.

    Raises:
        MissingParameter, InvalidParameter, InvalidRequirement, FlavorNotFound: As for a new reservation.
        CannotChange: The reservation is active, and a key other than ``amount`` would change.
    """
    after = spec
    if "flavor_id" in changes:
        source_id = _parse_id(changes["flavor_id"])
        if source_id not in (spec.source_id, spec.flavor_id):
            after = replace(after, source_id=source_id, source=None, devices=())
    if "amount" in changes:
        after = replace(after, amount=parse_amount(changes))
    if "affinity" in changes:
        after = replace(after, affinity=parse_affinity(changes["affinity"]))
    if "resource_properties" in changes and not _is_source(changes["resource_properties"], spec):
        properties = parse_properties(changes["resource_properties"]) or None
        after = replace(after, resource_properties=properties)
    return settled(spec, after, _FIXED_WHILE_ACTIVE) if is_active else after


def encode_spec(spec: FlavorSpec) -> Mapping[str, object]:
    """Return the spec in its stored form; clients see it without ``group_affinity`` and ``devices``."""
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
        "devices": [encode_group(each) for each in spec.devices],
    }


def decode_spec(stored: Mapping[str, Any]) -> FlavorSpec:
    """Return the spec from its stored form."""
    shown = json.loads(stored["resource_properties"])
    return with_known_fields(
        FlavorSpec,
        {**stored, "resource_properties": shown.get(_PROPERTIES)},
        source_id=shown["id"],
        source=_read_flavor(shown) if "vcpus" in shown else None,
        devices=tuple(decode_group(each) for each in stored.get("devices", ())),
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
    """Return whether the value is the source flavor in the form of :func:`_shown_source`."""
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
            "swap": spec.source.swap_mb or "",
            "rxtx_factor": spec.source.rxtx_factor,
            "os-flavor-access:is_public": spec.source.is_public,
            "OS-FLV-DISABLED:disabled": spec.source.is_disabled,
            "extra_specs": dict(spec.source.extra_specs),
        }
    if spec.resource_properties is not None:
        shown[_PROPERTIES] = spec.resource_properties
    if spec.unguaranteed:
        shown[_UNGUARANTEED] = list(spec.unguaranteed)
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
        # Absent in specs that earlier versions stored.
        swap_mb=shown.get("swap") or 0,
        rxtx_factor=shown.get("rxtx_factor", 1.0),
        is_disabled=shown.get("OS-FLV-DISABLED:disabled", False),
    )
