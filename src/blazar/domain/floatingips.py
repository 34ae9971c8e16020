"""Registered floating IPs: addresses that are kept for reservations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address

from blazar.domain.availability import Resource
from blazar.domain.errors import InvalidParameter
from blazar.domain.health import SOUND, Diagnosis
from blazar.domain.lease import ResourceId
from blazar.domain.subnets import Address

LONGEST_ADDRESS = 45
"""How many characters an address has at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatingIP:
    """An address that can be reserved. ``address`` is written in its one canonical form."""

    id: ResourceId
    network_id: str
    subnet_id: str
    address: str
    diagnosis: Diagnosis = SOUND
    generation: int = 0
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def as_resource(self) -> Resource:
        """Return the floating IP as a search sees it; their order is that of their addresses."""
        address = ip_address(self.address)
        return Resource(
            id=self.id,
            generation=self.generation,
            is_reservable=self.diagnosis.is_reservable,
            facts={"address": self.address, "network_id": self.network_id, "subnet_id": self.subnet_id},
            size=(address.version, int(address)),
        )


def parse_address(name: str, value: object) -> Address:
    """Return the address that *value* is the text of. Raises InvalidParameter, naming *name*."""
    if not isinstance(value, str):
        raise InvalidParameter(name, "must be an IP address, as text")
    try:
        # A zone, as in fe80::1%eth0, means something on one machine only.
        address = ip_address(value) if len(value) <= LONGEST_ADDRESS and "%" not in value else None
    except ValueError:
        address = None
    if address is None:
        raise InvalidParameter(name, "must be an IPv4 or IPv6 address")
    return address
