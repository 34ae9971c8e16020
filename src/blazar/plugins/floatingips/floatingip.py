"""Registered floating IPs: addresses set aside for reservations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address

from blazar.domain.availability import Resource
from blazar.domain.errors import InvalidParameter
from blazar.domain.health import HEALTHY, Diagnosis
from blazar.domain.lease import ResourceId
from blazar.domain.subnets import Address

LONGEST_ADDRESS = 45
"""The maximum length of an address in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatingIP:
    """An address that can be reserved. ``address`` is in canonical form."""

    id: ResourceId
    network_id: str
    subnet_id: str
    address: str
    diagnosis: Diagnosis = HEALTHY
    generation: int = 0
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def as_resource(self) -> Resource:
        """Return the floating IP as a search sees it; the order of sizes is the order of addresses."""
        address = ip_address(self.address)
        return Resource(
            id=self.id,
            generation=self.generation,
            is_reservable=self.diagnosis.is_reservable,
            facts={"address": self.address, "network_id": self.network_id, "subnet_id": self.subnet_id},
            size=(address.version, int(address)),
        )


def addresses_by_network(floatingips: Iterable[FloatingIP]) -> Mapping[str, list[str]]:
    """Return the addresses of floating IPs by network id, sorted by network id."""
    found: dict[str, list[str]] = {}
    for each in sorted(floatingips, key=lambda one: one.network_id):
        found.setdefault(each.network_id, []).append(each.address)
    return found


def parse_address(name: str, value: object) -> Address:
    """Return the address in the text *value*. Raises InvalidParameter, naming *name*."""
    if not isinstance(value, str):
        raise InvalidParameter(name, "must be an IP address, as text")
    try:
        # A zone, as in fe80::1%eth0, is only meaningful on one machine.
        address = ip_address(value) if len(value) <= LONGEST_ADDRESS and "%" not in value else None
    except ValueError:
        address = None
    if address is None:
        raise InvalidParameter(name, "must be an IPv4 or IPv6 address")
    return address
