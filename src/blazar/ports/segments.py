"""Port: Neutron's networks on segments. Any call may raise ``CloudUnavailable`` or ``CloudRefused``."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Protocol

LARGEST_VLAN: Final = 4094
LARGEST_VXLAN: Final = 2**24 - 1
ROUTER_INTERFACE: Final = "network:router_interface"
"""The device owner of a port of a router, in some variants with a suffix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A segment: a VLAN of a physical network, a VXLAN, or a whole physical network."""

    network_type: str
    """``vlan``, ``vxlan`` or ``flat``."""
    physical_network: str | None = None
    """None for ``vxlan``."""
    segment_id: int | None = None
    """None for ``flat``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentNetwork:
    """A network on a segment. Its project may rename, tag and delete it, and change its description."""

    id: str
    name: str
    project_id: str
    segment: Segment
    description: str = ""
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentRange:
    """A range of segment ids, both ends included, from which Neutron chooses for projects."""

    id: str
    network_type: str
    physical_network: str | None
    first: int
    last: int
    project_id: str | None = None
    """The only project for which Neutron chooses from it; None for all projects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """A port of a network; the device fields are empty if nothing uses it."""

    id: str
    project_id: str
    device_id: str = ""
    device_owner: str = ""

    @property
    def is_of_neutron(self) -> bool:
        """Return whether Neutron made it automatically, so that it is deleted with its network."""
        return self.device_owner in ("network:dhcp", "network:distributed")

    @property
    def is_router_interface(self) -> bool:
        """Return whether a router has it, so that only its removal from the router deletes it."""
        return (
            self.device_owner.startswith(ROUTER_INTERFACE)
            or self.device_owner == "network:ha_router_replicated_interface"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trunk:
    """A trunk, with the ids of its parent port and its subports, which may be in any networks."""

    id: str
    port_id: str
    subport_ids: frozenset[str] = frozenset()
    is_enabled: bool = True
    """Whether Neutron allows its deletion and changes of its subports; its project may disable it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """An extra route of a router."""

    destination: str
    nexthop: str


class Segments(Protocol):
    """Everything of Neutron that reservations of segments need."""

    def list_ranges(self) -> tuple[SegmentRange, ...] | None:
        """Return the ranges from which Neutron chooses; None if it does not report them."""

    def find_network(self, segment: Segment) -> SegmentNetwork | None:
        """Return the network on a segment, whatever its project, or None."""

    def list_networks(
        self, network_type: str | None = None, *, project_id: str | None = None
    ) -> tuple[SegmentNetwork, ...]:
        """Return the networks that are on segments: all, or those of one type, or of one project."""

    def create_network(
        self, segment: Segment, *, name: str, project_id: str, description: str = ""
    ) -> SegmentNetwork:
        """Return a new network on a segment, without tags: Neutron sets tags in a separate request.

        Raises:
            CloudConflict: Another network is on the segment.
            CloudRefused: Neutron does not know the physical network, the id is out of range, or the project's
                quota is used up.
        """

    def set_network_tags(self, network_id: str, tags: frozenset[str]) -> None:
        """Replace all tags of a network. Raises CloudNotFound."""

    def delete_network(self, network_id: str) -> None:
        """Delete a network with its subnets and RBAC entries.

        Raises:
            CloudNotFound: It does not exist.
            CloudConflict: Ports are on it.
        """

    def list_ports(self, network_id: str) -> tuple[Port, ...]:
        """Return the ports of a network, of all projects."""

    def delete_port(self, port_id: str) -> None:
        """Delete a port; its floating IPs are only disassociated.

        Raises:
            CloudNotFound: It does not exist.
            CloudConflict: A trunk or a router has it.
        """

    def unbind_port(self, port_id: str) -> None:
        """Take a port from the server that uses it, which keeps running. Raises CloudNotFound."""

    def list_trunks(self) -> tuple[Trunk, ...]:
        """Return the trunks of all projects; empty if Neutron has no trunks."""

    def enable_trunk(self, trunk_id: str) -> None:
        """Enable a trunk. Raises CloudNotFound."""

    def remove_subports(self, trunk_id: str, port_ids: Collection[str]) -> None:
        """Take ports out of a trunk.

        Raises:
            CloudNotFound: It does not exist or lacks one of them.
            CloudConflict: It is disabled.
        """

    def delete_trunk(self, trunk_id: str) -> None:
        """Delete a trunk; its ports stay.

        Raises:
            CloudNotFound: It does not exist.
            CloudConflict: It is disabled, or a server uses its parent port, which some drivers must not lose
                its trunk then.
        """

    def list_routes(self, router_id: str) -> tuple[Route, ...]:
        """Return the extra routes of a router. Raises CloudNotFound."""

    def remove_routes(self, router_id: str, routes: Collection[Route]) -> None:
        """Remove extra routes of a router; those that it does not have are ignored. Raises CloudNotFound."""

    def remove_router_interface(self, router_id: str, port_id: str) -> None:
        """Remove a port from a router, which deletes the port.

        Raises:
            CloudNotFound: The router does not exist or does not have the port.
            CloudConflict: A floating IP or an extra route needs it.
        """
