"""Neutron's networks on chosen segments, simulated with Neutron's order of removal."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from blazar.cloud.simulated.calls import Service, reads, writes
from blazar.cloud.simulated.state import CloudState, known
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.network import Network
from blazar.ports.segments import (
    LARGEST_VLAN,
    LARGEST_VXLAN,
    Port,
    Route,
    Segment,
    SegmentNetwork,
    SegmentRange,
    Trunk,
)

if TYPE_CHECKING:
    from blazar.ports.segments import Segments


class SimulatedSegments(Service):
    """Networks on segments, with ports, trunks and routers. A segment has one network at a time."""

    reports_ranges: bool = True
    """Whether Neutron has the plugin that reports ranges."""

    @reads("segments.list_ranges")
    def list_ranges(self) -> tuple[SegmentRange, ...] | None:
        """Return the ranges from which Neutron chooses; None without the plugin for them."""
        if not self.reports_ranges:
            return None
        return tuple(self._state.segment_ranges.values())

    @reads("segments.find_network")
    def find_network(self, segment: Segment) -> SegmentNetwork | None:
        """Return the network on a segment, or None."""
        return _on(self._state, segment)

    @reads("segments.list_networks")
    def list_networks(
        self, network_type: str | None = None, *, project_id: str | None = None
    ) -> tuple[SegmentNetwork, ...]:
        """Return the networks that are on segments, oldest first: all, or of one type, or of one project."""
        return tuple(
            each
            for each in self._state.segment_networks.values()
            if network_type in (None, each.segment.network_type) and project_id in (None, each.project_id)
        )

    @writes("segments.create_network")
    def create_network(
        self, segment: Segment, *, name: str, project_id: str, description: str = ""
    ) -> SegmentNetwork:
        """Return a new network on a segment, without tags. Raises as in the port."""
        state = self._state
        _check_segment(state, segment)
        quota = state.network_quotas.get(project_id)
        if quota is not None and quota <= _count_networks(state, project_id):
            raise CloudRefused(f"Quota exceeded for resources: ['network'] of project {project_id}")
        if _on(state, segment) is not None:
            raise CloudConflict(f"the segment is in use: {segment}")
        made = SegmentNetwork(
            id=state.new_id(), name=name, project_id=project_id, segment=segment, description=description
        )
        state.segment_networks[made.id] = made
        state.networks[made.id] = Network(id=made.id, name=name, is_external=False)
        return made

    @writes("segments.set_network_tags")
    def set_network_tags(self, network_id: str, tags: frozenset[str]) -> None:
        """Replace all tags of a network. Raises CloudNotFound."""
        network = known(self._state.segment_networks, network_id, "network")
        self._state.segment_networks[network_id] = replace(network, tags=frozenset(tags))

    @writes("segments.delete_network")
    def delete_network(self, network_id: str) -> None:
        """Delete a network with its subnets. Raises as in the port."""
        delete_segment_network(self._state, network_id)

    @reads("segments.list_ports")
    def list_ports(self, network_id: str) -> tuple[Port, ...]:
        """Return the ports of a network, oldest first."""
        state = self._state
        return tuple(state.ports[key] for key, home in state.port_networks.items() if home == network_id)

    @writes("segments.delete_port")
    def delete_port(self, port_id: str) -> None:
        """Delete a port. Raises as in the port."""
        port = known(self._state.ports, port_id, "port")
        for trunk in self._state.trunks.values():
            if trunk.port_id == port_id:
                raise CloudConflict(f"port {port_id} is the parent of trunk {trunk.id}")
            if port_id in trunk.subport_ids:
                raise CloudConflict(f"port {port_id} is a subport of trunk {trunk.id}")
        # A port of a router that no longer exists can be deleted.
        if port.is_router_interface and port.device_id in self._state.routers:
            raise CloudConflict(f"port {port_id} belongs to router {port.device_id}")
        _forget_port(self._state, port_id)

    @writes("segments.unbind_port")
    def unbind_port(self, port_id: str) -> None:
        """Take a port from the server that uses it. Raises CloudNotFound."""
        port = known(self._state.ports, port_id, "port")
        self._state.ports[port_id] = replace(port, device_id="", device_owner="")

    @reads("segments.list_trunks")
    def list_trunks(self) -> tuple[Trunk, ...]:
        """Return all trunks, oldest first."""
        return tuple(self._state.trunks.values())

    @writes("segments.enable_trunk")
    def enable_trunk(self, trunk_id: str) -> None:
        """Enable a trunk. Raises CloudNotFound."""
        trunk = known(self._state.trunks, trunk_id, "trunk")
        self._state.trunks[trunk_id] = replace(trunk, is_enabled=True)

    @writes("segments.remove_subports")
    def remove_subports(self, trunk_id: str, port_ids: Collection[str]) -> None:
        """Take ports out of a trunk. Raises as in the port."""
        trunk = _manageable(self._state, trunk_id)
        missing = set(port_ids) - trunk.subport_ids
        if missing:
            raise CloudNotFound(f"trunk {trunk_id} has no subport {min(missing)}")
        self._state.trunks[trunk_id] = replace(trunk, subport_ids=trunk.subport_ids - set(port_ids))

    @writes("segments.delete_trunk")
    def delete_trunk(self, trunk_id: str) -> None:
        """Delete a trunk, as with Open vSwitch: not while a server uses its parent port."""
        trunk = _manageable(self._state, trunk_id)
        parent = self._state.ports.get(trunk.port_id)
        if parent is not None and parent.device_owner.startswith("compute:"):
            raise CloudConflict(f"trunk {trunk_id} is currently in use")
        del self._state.trunks[trunk_id]

    @reads("segments.list_routes")
    def list_routes(self, router_id: str) -> tuple[Route, ...]:
        """Return the extra routes of a router. Raises CloudNotFound."""
        return known(self._state.routers, router_id, "router")

    @writes("segments.remove_routes")
    def remove_routes(self, router_id: str, routes: Collection[Route]) -> None:
        """Remove extra routes of a router. Raises CloudNotFound."""
        before = known(self._state.routers, router_id, "router")
        self._state.routers[router_id] = tuple(each for each in before if each not in routes)

    @writes("segments.remove_router_interface")
    def remove_router_interface(self, router_id: str, port_id: str) -> None:
        """Remove a port from a router. Raises as in the port."""
        state = self._state
        routes = known(state.routers, router_id, "router")
        port = known(state.ports, port_id, "port")
        if port.device_id != router_id:
            raise CloudNotFound(f"router {router_id} has no interface {port_id}")
        network_id = state.port_networks[port_id]
        if any(_leads_to(state, network_id, each) for each in routes):
            raise CloudConflict(f"an extra route of router {router_id} needs interface {port_id}")
        for floating_ip in state.floating_ips.values():
            if floating_ip.port_id and state.port_networks.get(floating_ip.port_id) == network_id:
                raise CloudConflict(f"floating IP {floating_ip.id} needs interface {port_id}")
        _forget_port(state, port_id)


def delete_segment_network(state: CloudState, network_id: str) -> None:
    """Delete a network with its subnets and Neutron's own ports. Raises CloudNotFound, CloudConflict."""
    known(state.segment_networks, network_id, "network")
    ports = [state.ports[key] for key, home in state.port_networks.items() if home == network_id]
    if not all(each.is_of_neutron for each in ports):
        raise CloudConflict(f"one or more ports are in use on network {network_id}")
    for port in ports:
        _forget_port(state, port.id)
    del state.segment_networks[network_id]
    state.networks.pop(network_id, None)
    for subnet in [each for each in state.subnets.values() if each.network_id == network_id]:
        del state.subnets[subnet.id]


def _on(state: CloudState, segment: Segment) -> SegmentNetwork | None:
    return next((each for each in state.segment_networks.values() if each.segment == segment), None)


def _count_networks(state: CloudState, project_id: str) -> int:
    return sum(each.project_id == project_id for each in state.segment_networks.values())


def _check_segment(state: CloudState, segment: Segment) -> None:
    """Refuse segments for which Neutron answers 400. Raises CloudRefused."""
    largest = {"vlan": LARGEST_VLAN, "vxlan": LARGEST_VXLAN, "flat": None}
    if segment.network_type not in largest:
        raise CloudRefused(f"network_type value '{segment.network_type}' not supported")
    if segment.network_type == "vxlan":
        if segment.physical_network is not None:
            raise CloudRefused("provider:physical_network specified for vxlan network")
    elif segment.physical_network not in state.physical_networks:
        raise CloudRefused(f"physical_network '{segment.physical_network}' unknown")
    limit = largest[segment.network_type]
    if limit is None:
        if segment.segment_id is not None:
            raise CloudRefused("segmentation_id specified for flat provider network")
    elif segment.segment_id is None or not 1 <= segment.segment_id <= limit:
        raise CloudRefused(f"segmentation_id out of range (1 through {limit})")


def _manageable(state: CloudState, trunk_id: str) -> Trunk:
    """Return a trunk that is enabled. Raises CloudNotFound, CloudConflict."""
    trunk = known(state.trunks, trunk_id, "trunk")
    if not trunk.is_enabled:
        raise CloudConflict(f"trunk {trunk_id} is currently disabled")
    return trunk


def _leads_to(state: CloudState, network_id: str, route: Route) -> bool:
    return any(
        each.network_id == network_id and ip_address(route.nexthop) in ip_network(each.cidr)
        for each in state.subnets.values()
    )


def _forget_port(state: CloudState, port_id: str) -> None:
    """Delete a port; its floating IPs stay, disassociated."""
    del state.ports[port_id]
    del state.port_networks[port_id]
    for floating_ip in list(state.floating_ips.values()):
        if floating_ip.port_id == port_id:
            state.floating_ips[floating_ip.id] = replace(floating_ip, port_id=None)


if TYPE_CHECKING:

    def _witness(segments: SimulatedSegments) -> Segments:
        return segments
