"""Actions of operators and users on the networks of the simulated cloud."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_network

from blazar.cloud.simulated.calls import Calls
from blazar.cloud.simulated.state import known
from blazar.domain.subnets import Subnet
from blazar.ports.network import Network


class NetworkOperations:
    """Actions on networks and floating IPs; they are not counted, take no time, and have no faults."""

    _calls: Calls

    def add_network(self, name: str, *, is_external: bool = True) -> Network:
        """Return a new network without subnets."""
        with self._calls.exclusive() as state:
            network = Network(id=state.new_id(), name=name, is_external=is_external)
            state.networks[network.id] = network
            return network

    def find_network_by_name(self, name: str) -> Network | None:
        """Return a network with that name, or None."""
        with self._calls.exclusive(writes=False) as state:
            return next((each for each in state.networks.values() if each.name == name), None)

    def add_subnet(
        self,
        network_id: str,
        cidr: str,
        *,
        gateway_ip: str | None = None,
        allocation_pools: tuple[tuple[str, str], ...] = (),
    ) -> Subnet:
        """Return a new subnet. Without pools, Neutron allocates none of its addresses automatically.

        Raises:
            CloudNotFound: The network does not exist.
            ValueError: *cidr* is invalid.
        """
        with self._calls.exclusive() as state:
            known(state.networks, network_id, "network")
            subnet = Subnet(
                id=state.new_id(),
                network_id=network_id,
                cidr=str(ip_network(cidr)),
                gateway_ip=gateway_ip,
                allocation_pools=allocation_pools,
            )
            state.subnets[subnet.id] = subnet
            return subnet

    def set_allocation_pools(self, subnet_id: str, pools: tuple[tuple[str, str], ...]) -> Subnet:
        """Replace the pools of a subnet and return it. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            subnet = replace(known(state.subnets, subnet_id, "subnet"), allocation_pools=pools)
            state.subnets[subnet_id] = subnet
            return subnet

    def set_network_external(self, network_id: str, is_external: bool) -> None:
        """Make a network external or internal. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            network = known(state.networks, network_id, "network")
            state.networks[network_id] = replace(network, is_external=is_external)

    def remove_subnet(self, subnet_id: str) -> None:
        """Remove a subnet. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            known(state.subnets, subnet_id, "subnet")
            del state.subnets[subnet_id]

    def remove_network(self, network_id: str) -> None:
        """Remove a network with its subnets. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            known(state.networks, network_id, "network")
            del state.networks[network_id]
            for subnet in [each for each in state.subnets.values() if each.network_id == network_id]:
                del state.subnets[subnet.id]

    def attach_floating_ip(self, floating_ip_id: str, port_id: str) -> None:
        """Attach a floating IP to a port, as its user does. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            floating_ip = known(state.floating_ips, floating_ip_id, "floating IP")
            state.floating_ips[floating_ip_id] = replace(floating_ip, port_id=port_id)

    def forward_port(self, floating_ip_id: str) -> str:
        """Return the id of a new port forwarding of a floating IP, as its user makes it.

        Raises CloudNotFound.
        """
        with self._calls.exclusive() as state:
            known(state.floating_ips, floating_ip_id, "floating IP")
            made = state.new_id()
            state.port_forwardings[made] = floating_ip_id
            return made
