"""The spec of a ``virtual:instance`` reservation, in requests, responses and the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from blazar.domain.capacity import Demand
from blazar.plugins.parameters import parse_affinity, parse_number, parse_properties
from blazar.plugins.slots.spec import (
    SlotSpec,
    check_keys,
    parse_amount,
    settled,
    with_known_fields,
)
from blazar.ports.compute import Flavor

INSTANCE_KEYS = ("vcpus", "memory_mb", "disk_gb", "amount", "affinity", "resource_properties")
"""The keys of a reservation; all of them are required."""

_FIXED_WHILE_ACTIVE = {key: key for key in ("vcpus", "memory_mb", "disk_gb", "affinity")}


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceSpec(SlotSpec):
    """Slots of one size; memory in MB, disk in GB."""

    vcpus: int
    memory_mb: int
    disk_gb: int

    @property
    def demand(self) -> Demand:
        """Return the demand of one slot."""
        return Demand.of({"VCPU": self.vcpus, "MEMORY_MB": self.memory_mb, "DISK_GB": self.disk_gb})

    @property
    def pattern(self) -> Flavor:
        """Return the template of the reservation's flavor."""
        return Flavor(id="", name="", vcpus=self.vcpus, memory_mb=self.memory_mb, disk_gb=self.disk_gb)


def parse_spec(body: Mapping[str, object]) -> InstanceSpec:
    """Return the spec of a new reservation. All six keys are required.

    Nova needs at least one vCPU and 1 MB of memory.

    Raises:
        MissingParameter, InvalidParameter, InvalidRequirement: A key is missing or invalid.
    """
    check_keys(body, INSTANCE_KEYS)
    return InstanceSpec(
        vcpus=parse_number(body, "vcpus", least=1),
        memory_mb=parse_number(body, "memory_mb", least=1),
        disk_gb=parse_number(body, "disk_gb", least=0),
        amount=parse_amount(body),
        affinity=parse_affinity(body["affinity"]),
        resource_properties=parse_properties(body["resource_properties"]),
    )


def revise_spec(spec: InstanceSpec, changes: Mapping[str, object], *, is_active: bool) -> InstanceSpec:
    """Return *spec* with the keys of an update; keys that are not sent keep their values.

    Raises:
        MissingParameter, InvalidParameter, InvalidRequirement: A key is missing or invalid.
        CannotChange: The reservation is active, and a key other than ``amount`` would change.
    """
    after = replace(
        parse_spec({**encode_spec(spec), **changes}),
        flavor_id=spec.flavor_id,
        aggregate_id=spec.aggregate_id,
        server_group_id=spec.server_group_id,
        group_affinity=spec.group_affinity,
    )
    return settled(spec, after, _FIXED_WHILE_ACTIVE) if is_active else after


def encode_spec(spec: InstanceSpec) -> Mapping[str, object]:
    """Return the spec in its stored form; clients see it without ``group_affinity``."""
    return asdict(spec)


def decode_spec(stored: Mapping[str, object]) -> InstanceSpec:
    """Return the spec from its stored form."""
    return with_known_fields(InstanceSpec, stored)
