"""Addresses of a network that can be reserved: those that Neutron itself never allocates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Subnet:
    """A subnet, as Neutron reports it. Allocation pools are (first, last) addresses, both included."""

    id: str
    network_id: str
    cidr: str
    gateway_ip: str | None
    allocation_pools: tuple[tuple[str, str], ...]


def find_subnet(address: Address, subnets: Iterable[Subnet]) -> Subnet | None:
    """Return the subnet that contains the address, or None."""
    return next((each for each in subnets if address in ip_network(each.cidr, strict=False)), None)


def find_obstacle(address: Address, subnets: Iterable[Subnet]) -> str | None:
    """Return why the address cannot be reserved, as the rest of a sentence; None if it can.

    Args:
        address: The requested address.
        subnets: All subnets of its network; a pool or a gateway of any of them is an obstacle.
    """
    all_subnets = tuple(subnets)
    home = find_subnet(address, all_subnets)
    if home is None:
        return "lies in no subnet of the network"
    if _stands_for_many(address, home):
        return f"is the network or broadcast address of subnet {home.id}"
    for subnet in all_subnets:
        if subnet.gateway_ip is not None and ip_address(subnet.gateway_ip) == address:
            return f"is the gateway of subnet {subnet.id}"
        if any(_lies_between(address, first, last) for first, last in subnet.allocation_pools):
            return f"lies in an allocation pool of subnet {subnet.id}, from which Neutron allocates addresses"
    return None


def _stands_for_many(address: Address, home: Subnet) -> bool:
    """Return whether the address is a network or broadcast address. Networks of up to 2 have none."""
    network = ip_network(home.cidr, strict=False)
    if network.num_addresses <= 2:
        return False
        # IPv6 has no broadcast address; its first address is the subnet-router anycast address.
    is_last = network.version == 4 and address == network.broadcast_address
    return is_last or address == network.network_address


def _lies_between(address: Address, first: str, last: str) -> bool:
    low, high = ip_address(first), ip_address(last)
    return address.version == low.version == high.version and int(low) <= int(address) <= int(high)
