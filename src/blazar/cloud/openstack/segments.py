"""Neutron's networks on chosen segments, and the objects attached to them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from blazar.cloud.openstack.rest import RestClient
from blazar.domain.errors import CloudNotFound, CloudUnavailable
from blazar.ports.segments import Port, Route, Segment, SegmentNetwork, SegmentRange, Trunk

if TYPE_CHECKING:
    from blazar.ports.segments import Segments

_ON_A_SEGMENT = frozenset({"vlan", "vxlan", "flat"})


class OpenStackSegments:
    """Networks on segments, their ports, trunks and routers, of all projects."""

    def __init__(self, neutron: RestClient) -> None:
        self._neutron = neutron

    def list_ranges(self) -> tuple[SegmentRange, ...] | None:
        """Return the ranges from which Neutron chooses; None without its plugin for them."""
        try:
            return self._neutron.list(
                "network-segment-ranges",
                key="network_segment_ranges",
                parse=_segment_range,
                is_optional=True,
            )
        except CloudNotFound:
            return None

    def find_network(self, segment: Segment) -> SegmentNetwork | None:
        """Return the network on a segment, or None."""
        found = self._list_networks(_provider_attributes(segment))
        # If Neutron ignores a filter, a network on another segment must not be returned.
        return next((each for each in found if each.segment == segment), None)

    def list_networks(
        self, network_type: str | None = None, *, project_id: str | None = None
    ) -> tuple[SegmentNetwork, ...]:
        """Return the networks that are on segments: all, or those of one type, or of one project."""
        found = self._list_networks({"provider:network_type": network_type, "project_id": project_id})
        return tuple(each for each in found if each.segment.network_type in _ON_A_SEGMENT)

    def _list_networks(self, params: Mapping[str, object]) -> tuple[SegmentNetwork, ...]:
        return self._neutron.list("networks", key="networks", parse=_network, params=params)

    def create_network(
        self, segment: Segment, *, name: str, project_id: str, description: str = ""
    ) -> SegmentNetwork:
        """Return a new network on a segment, without tags. Raises as in the port."""
        body = {
            "name": name,
            "project_id": project_id,
            "description": description,
            **_provider_attributes(segment),
        }
        answer = self._neutron.post("networks", body={"network": body})
        return answer.read(lambda body: _network(body["network"]))

    def set_network_tags(self, network_id: str, tags: frozenset[str]) -> None:
        """Replace all tags of a network. Raises CloudNotFound."""
        try:
            self._neutron.put("networks", network_id, "tags", body={"tags": sorted(tags)})
        except CloudUnavailable:
            # As for floating IPs, Neutron 29 may answer 500 if the network does not exist.
            self._neutron.get("networks", network_id)
            raise

    def delete_network(self, network_id: str) -> None:
        """Delete a network. Raises as in the port."""
        self._neutron.delete("networks", network_id)

    def list_ports(self, network_id: str) -> tuple[Port, ...]:
        """Return the ports of a network."""
        return self._neutron.list("ports", key="ports", parse=_port, params={"network_id": network_id})

    def delete_port(self, port_id: str) -> None:
        """Delete a port. Raises as in the port."""
        self._neutron.delete("ports", port_id)

    def unbind_port(self, port_id: str) -> None:
        """Take a port from the server that uses it. Raises CloudNotFound."""
        body = {"port": {"device_id": "", "device_owner": "", "binding:host_id": ""}}
        self._neutron.put("ports", port_id, body=body)

    def list_trunks(self) -> tuple[Trunk, ...]:
        """Return all trunks; none without Neutron's plugin for them."""
        try:
            return self._neutron.list("trunks", key="trunks", parse=_trunk, is_optional=True)
        except CloudNotFound:
            return ()

    def enable_trunk(self, trunk_id: str) -> None:
        """Enable a trunk. Raises CloudNotFound."""
        self._neutron.put("trunks", trunk_id, body={"trunk": {"admin_state_up": True}})

    def remove_subports(self, trunk_id: str, port_ids: Collection[str]) -> None:
        """Take ports out of a trunk. Raises as in the port."""
        body = {"sub_ports": [{"port_id": each} for each in sorted(port_ids)]}
        self._neutron.put("trunks", trunk_id, "remove_subports", body=body)

    def delete_trunk(self, trunk_id: str) -> None:
        """Delete a trunk. Raises as in the port."""
        self._neutron.delete("trunks", trunk_id)

    def list_routes(self, router_id: str) -> tuple[Route, ...]:
        """Return the extra routes of a router. Raises CloudNotFound."""
        answer = self._neutron.get("routers", router_id)
        return answer.read(lambda body: tuple(_route(each) for each in body["router"].get("routes", ())))

    def remove_routes(self, router_id: str, routes: Collection[Route]) -> None:
        """Remove extra routes of a router, without touching those that others add at the same time."""
        removed = [{"destination": each.destination, "nexthop": each.nexthop} for each in routes]
        body = {"router": {"routes": removed}}
        self._neutron.put("routers", router_id, "remove_extraroutes", body=body)

    def remove_router_interface(self, router_id: str, port_id: str) -> None:
        """Remove a port from a router. Raises as in the port."""
        self._neutron.put("routers", router_id, "remove_router_interface", body={"port_id": port_id})


def _provider_attributes(segment: Segment) -> dict[str, object]:
    """Return the attributes of a segment; Neutron refuses null for those that a type does not have."""
    given = {
        "provider:network_type": segment.network_type,
        "provider:physical_network": segment.physical_network,
        "provider:segmentation_id": segment.segment_id,
    }
    return {key: value for key, value in given.items() if value is not None}


def _network(body: Mapping[str, Any]) -> SegmentNetwork:
    return SegmentNetwork(
        id=body["id"],
        name=body["name"],
        project_id=body["project_id"],
        description=body["description"],
        tags=frozenset(body["tags"]),
        segment=Segment(
            network_type=body.get("provider:network_type") or "",
            physical_network=body.get("provider:physical_network"),
            segment_id=body.get("provider:segmentation_id"),
        ),
    )


def _segment_range(body: Mapping[str, Any]) -> SegmentRange:
    return SegmentRange(
        id=body["id"],
        network_type=body["network_type"],
        physical_network=body.get("physical_network"),
        first=body["minimum"],
        last=body["maximum"],
        project_id=None if body["shared"] else body.get("project_id"),
    )


def _port(body: Mapping[str, Any]) -> Port:
    return Port(
        id=body["id"],
        project_id=body["project_id"],
        device_id=body["device_id"],
        device_owner=body["device_owner"],
    )


def _trunk(body: Mapping[str, Any]) -> Trunk:
    return Trunk(
        id=body["id"],
        port_id=body["port_id"],
        subport_ids=frozenset(each["port_id"] for each in body["sub_ports"]),
        is_enabled=body["admin_state_up"],
    )


def _route(body: Mapping[str, Any]) -> Route:
    return Route(destination=body["destination"], nexthop=body["nexthop"])


if TYPE_CHECKING:

    def _witness(segments: OpenStackSegments) -> Segments:
        return segments
