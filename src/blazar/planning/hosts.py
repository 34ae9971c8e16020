"""Hosts as plans see them: where they are, what they have, and in which pool they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from blazar.domain.lease import ResourceId
from blazar.domain.providers import Inventory

CLASSES: Final = ("VCPU", "MEMORY_MB", "DISK_GB")
"""The resource classes that plans count."""
UNKNOWN: Final = "-"
"""Shown in place of a rack that is not known."""


class Pool(StrEnum):
    """The purpose of a host."""

    GENERAL = "general"
    """It takes servers without a reservation."""
    RESERVABLE = "reservable"
    """It is in the freepool or reserved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedHost:
    """A host of the cloud, registered or not."""

    name: str
    service_host: str
    zone: str
    rack: str = UNKNOWN
    kind: str
    """The host type: its sizes, or the value of a property that the operator names."""
    pool: Pool
    resource_id: ResourceId | None = None
    """The id of a registered host."""
    problem: str = ""
    """The reason why it takes no new load; empty if it does."""
    inventories: Mapping[str, Inventory] = field(default_factory=dict)
    """By resource class, those of its root provider."""
    used: Mapping[str, int] = field(default_factory=dict)
    """What servers use, by resource class; only known for hosts of the general pool."""
    servers: int = 0

    @property
    def is_usable(self) -> bool:
        """Return whether it takes new load."""
        return not self.problem

    @property
    def is_reservable(self) -> bool:
        """Return whether it is in the pool for reservations."""
        return self.pool is Pool.RESERVABLE

    @property
    def domain(self) -> tuple[str, str]:
        """Return the zone and the rack, which fail together."""
        return self.zone, self.rack

    def capacity(self, resource_class: str) -> int:
        """Return how much of a class can be allocated, with overcommit."""
        inventory = self.inventories.get(resource_class)
        return 0 if inventory is None else inventory.capacity


def kind_of(vcpus: int, memory_mb: int, local_gb: int) -> str:
    """Return the host type of these sizes."""
    return f"{vcpus} vCPU, {memory_mb / 1024:g} GiB, {local_gb} GB"


def domain_name(domain: tuple[str, str]) -> str:
    """Return the name of a failure domain: the rack with its zone, or the zone if the rack is not known."""
    zone, rack = domain
    return f"zone {zone}" if rack == UNKNOWN else f"rack {rack} in zone {zone}"


def by_domain(hosts: Iterable[PlannedHost]) -> Mapping[tuple[str, str], Sequence[PlannedHost]]:
    """Return hosts by their failure domains, in order."""
    found: dict[tuple[str, str], list[PlannedHost]] = {}
    for each in sorted(hosts, key=lambda each: (each.domain, each.name)):
        found.setdefault(each.domain, []).append(each)
    return found


def largest_domain(hosts: Iterable[PlannedHost]) -> tuple[tuple[str, str], Sequence[PlannedHost]] | None:
    """Return the failure domain with the most hosts, the first one in order; None without hosts."""
    domains = by_domain(hosts)
    return max(domains.items(), key=lambda each: len(each[1]), default=None)
