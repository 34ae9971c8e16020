"""What is wanted from Neutron. ``CloudUnavailable`` and ``CloudRefused`` may come from any call."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from blazar.domain.subnets import Subnet


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A network; floating IPs live on external ones."""

    id: str
    name: str
    is_external: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatingIP:
    """A floating IP as Neutron has it; ``port_id`` is None while it is not attached."""

    id: str
    floating_network_id: str
    subnet_id: str | None
    address: str
    project_id: str
    port_id: str | None = None
    tags: frozenset[str] = frozenset()


class Networks(Protocol):
    """All of Neutron that is used."""

    def find_network(self, network_id: str) -> Network | None:
        """Return the network, or None."""

    def list_subnets(self, network_id: str) -> tuple[Subnet, ...]:
        """Return the subnets of a network; none for an unknown one."""

    def list_floating_ips(
        self,
        *,
        network_id: str | None = None,
        addresses: Collection[str] = (),
        tags: frozenset[str] = frozenset(),
    ) -> tuple[FloatingIP, ...]:
        """Return the floating IPs of all projects that match everything given.

        Args:
            network_id: Those of this network.
            addresses: Those that have one of these addresses, in their canonical form; none for any.
            tags: Those that bear all of these.
        """

    def create_floating_ip(
        self, network_id: str, subnet_id: str, address: str, project_id: str
    ) -> FloatingIP:
        """Return a new floating IP, in that project, without tags.

        Raises:
            CloudNotFound: The network or subnet does not exist.
            CloudConflict: The address is taken.
            CloudRefused: The address lies outside the subnet.
        """

    def set_floating_ip_tags(self, floating_ip_id: str, tags: frozenset[str]) -> None:
        """Replace all tags. Raises CloudNotFound."""

    def detach_floating_ip(self, floating_ip_id: str) -> None:
        """Take it off its port, if it is on one. Raises CloudNotFound."""

    def delete_floating_ip(self, floating_ip_id: str) -> None:
        """Delete it. Raises CloudNotFound."""
