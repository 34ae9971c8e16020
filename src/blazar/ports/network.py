"""Port: Neutron. Any call may raise ``CloudUnavailable`` or ``CloudRefused``."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from blazar.domain.subnets import Subnet


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A network. Only external networks have floating IPs."""

    id: str
    name: str
    is_external: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatingIP:
    """A floating IP as Neutron reports it; ``port_id`` is None while it is not attached."""

    id: str
    floating_network_id: str
    subnet_id: str | None
    address: str
    project_id: str
    port_id: str | None = None
    tags: frozenset[str] = frozenset()
    description: str = ""
    port_forwardings: int = 0
    """The number of its port forwardings; it has none while it is attached."""

    @property
    def is_in_use(self) -> bool:
        """Return whether it is attached to a port or has port forwardings."""
        return self.port_id is not None or self.port_forwardings > 0


class Networks(Protocol):
    """Everything of Neutron that the service uses."""

    def find_network(self, network_id: str) -> Network | None:
        """Return the network, or None."""

    def list_subnets(self, network_id: str) -> tuple[Subnet, ...]:
        """Return the subnets of a network; empty if the network is unknown."""

    def list_floating_ips(
        self,
        *,
        network_id: str | None = None,
        addresses: Collection[str] = (),
        tags: frozenset[str] = frozenset(),
    ) -> tuple[FloatingIP, ...]:
        """Return the floating IPs of all projects that match all given filters.

        Args:
            network_id: Only those of this network.
            addresses: Only those with one of these addresses, in canonical form; empty for any address.
            tags: Only those with all of these tags.
        """

    def create_floating_ip(
        self, network_id: str, subnet_id: str, address: str, project_id: str, description: str = ""
    ) -> FloatingIP:
        """Return a new floating IP in that project, without tags: Neutron sets tags in a separate request.

        Raises:
            CloudNotFound: The network or subnet does not exist.
            CloudConflict: The address is taken.
            CloudRefused: The address is outside the subnet.
        """

    def set_floating_ip_tags(self, floating_ip_id: str, tags: frozenset[str]) -> None:
        """Replace all tags. Raises CloudNotFound."""

    def detach_floating_ip(self, floating_ip_id: str) -> None:
        """Detach the floating IP from its port, if it has one. Raises CloudNotFound."""

    def list_port_forwardings(self, floating_ip_id: str) -> tuple[str, ...]:
        """Return the ids of its port forwardings; empty if it does not exist or Neutron has none at all."""

    def delete_port_forwarding(self, floating_ip_id: str, port_forwarding_id: str) -> None:
        """Delete a port forwarding of the floating IP. Raises CloudNotFound."""

    def delete_floating_ip(self, floating_ip_id: str) -> None:
        """Delete the floating IP.

        Raises:
            CloudNotFound: It does not exist.
            CloudConflict: It has port forwardings.
        """
