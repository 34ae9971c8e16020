"""Neutron's external networks and floating IPs, simulated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from blazar.cloud.simulated.calls import Service, reads, writes
from blazar.cloud.simulated.state import known
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.domain.subnets import Subnet
from blazar.ports.network import FloatingIP, Network

if TYPE_CHECKING:
    from blazar.ports.network import Networks


class SimulatedNetworks(Service):
    """Networks, subnets and floating IPs. An address is unique in a network."""

    @reads("networks.find_network")
    def find_network(self, network_id: str) -> Network | None:
        """Return the network, or None."""
        return self._state.networks.get(network_id)

    @reads("networks.list_subnets")
    def list_subnets(self, network_id: str) -> tuple[Subnet, ...]:
        """Return the subnets of a network, oldest first; empty if the network is unknown."""
        return tuple(each for each in self._state.subnets.values() if each.network_id == network_id)

    @reads("networks.list_floating_ips")
    def list_floating_ips(
        self,
        *,
        network_id: str | None = None,
        addresses: Collection[str] = (),
        tags: frozenset[str] = frozenset(),
    ) -> tuple[FloatingIP, ...]:
        """Return the floating IPs of all projects that match all given filters, oldest first."""
        forwardings = Counter(self._state.port_forwardings.values())
        return tuple(
            replace(each, port_forwardings=forwardings[each.id])
            for each in self._state.floating_ips.values()
            if network_id in (None, each.floating_network_id)
            and (not addresses or each.address in addresses)
            and tags <= each.tags
        )

    @writes("networks.create_floating_ip")
    def create_floating_ip(
        self, network_id: str, subnet_id: str, address: str, project_id: str, description: str = ""
    ) -> FloatingIP:
        """Return a new floating IP in that project, without tags.

        Raises:
            CloudNotFound: The network does not exist, or has no subnet with this id.
            CloudConflict: The address is taken.
            CloudRefused: The network is not external, or the address is invalid or outside the subnet.
        """
        network = known(self._state.networks, network_id, "network")
        subnet = known(self._state.subnets, subnet_id, "subnet")
        if subnet.network_id != network_id:
            raise CloudNotFound(f"no subnet {subnet_id} in network {network_id}")
        if not network.is_external:
            raise CloudRefused(f"network {network_id} is not external")
        if not _lies_in(address, subnet.cidr):
            raise CloudRefused(f"{address} is not an address of subnet {subnet_id}")
        if self._is_taken(network_id, address):
            raise CloudConflict(f"address {address} is taken")
        floating_ip = FloatingIP(
            id=self._state.new_id(),
            floating_network_id=network_id,
            subnet_id=subnet_id,
            address=address,
            project_id=project_id,
            description=description,
        )
        self._state.floating_ips[floating_ip.id] = floating_ip
        return floating_ip

    @writes("networks.set_floating_ip_tags")
    def set_floating_ip_tags(self, floating_ip_id: str, tags: frozenset[str]) -> None:
        """Replace all tags. Raises CloudNotFound."""
        floating_ip = known(self._state.floating_ips, floating_ip_id, "floating IP")
        self._state.floating_ips[floating_ip_id] = replace(floating_ip, tags=frozenset(tags))

    @writes("networks.detach_floating_ip")
    def detach_floating_ip(self, floating_ip_id: str) -> None:
        """Detach it from its port, if it is attached. Raises CloudNotFound."""
        floating_ip = known(self._state.floating_ips, floating_ip_id, "floating IP")
        self._state.floating_ips[floating_ip_id] = replace(floating_ip, port_id=None)

    @reads("networks.list_port_forwardings")
    def list_port_forwardings(self, floating_ip_id: str) -> tuple[str, ...]:
        """Return the ids of its port forwardings, oldest first; empty if it does not exist."""
        return tuple(key for key, of in self._state.port_forwardings.items() if of == floating_ip_id)

    @writes("networks.delete_port_forwarding")
    def delete_port_forwarding(self, floating_ip_id: str, port_forwarding_id: str) -> None:
        """Delete a port forwarding. Raises CloudNotFound."""
        of = known(self._state.port_forwardings, port_forwarding_id, "port forwarding")
        if of != floating_ip_id:
            raise CloudNotFound(f"floating IP {floating_ip_id} has no port forwarding {port_forwarding_id}")
        del self._state.port_forwardings[port_forwarding_id]

    @writes("networks.delete_floating_ip")
    def delete_floating_ip(self, floating_ip_id: str) -> None:
        """Delete it, attached or not. Raises as in the port."""
        known(self._state.floating_ips, floating_ip_id, "floating IP")
        if floating_ip_id in self._state.port_forwardings.values():
            raise CloudConflict(f"floating IP {floating_ip_id} in use by port forwarding resources")
        del self._state.floating_ips[floating_ip_id]

    def _is_taken(self, network_id: str, address: str) -> bool:
        return any(
            each.floating_network_id == network_id and ip_address(each.address) == ip_address(address)
            for each in self._state.floating_ips.values()
        )


def _lies_in(address: str, cidr: str) -> bool:
    try:
        return ip_address(address) in ip_network(cidr)
    except ValueError:
        return False


if TYPE_CHECKING:

    def _witness(networks: SimulatedNetworks) -> Networks:
        return networks
