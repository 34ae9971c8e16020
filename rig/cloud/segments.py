"""Neutron's networks on segments, their ports, trunks and routers."""

from __future__ import annotations

from blazar.cloud.simulated import SimulatedCloud
from blazar.domain.errors import CloudNotFound, CloudRefused
from blazar.ports.segments import Port, Route, Segment, SegmentNetwork, SegmentRange, Trunk
from rig.cloud.messages import Call, Reply
from rig.cloud.messages import Route as HttpRoute

_TYPE, _PHYSICAL, _ID = "provider:network_type", "provider:physical_network", "provider:segmentation_id"


def _list_ranges(cloud: SimulatedCloud, call: Call) -> Reply:
    found = cloud.segments.list_ranges()
    if found is None:
        raise CloudNotFound("The resource could not be found.")
    return Reply(body={"network_segment_ranges": [_range(each) for each in found]})


def _range(found: SegmentRange) -> object:
    return {
        "id": found.id,
        "name": "",
        "default": False,
        "shared": found.project_id is None,
        "project_id": found.project_id,
        "network_type": found.network_type,
        "physical_network": found.physical_network,
        "minimum": found.first,
        "maximum": found.last,
    }


def _list_networks(cloud: SimulatedCloud, call: Call) -> Reply:
    physical, number = call.value(_PHYSICAL), call.value(_ID)
    if physical is None and number is None:
        found = cloud.segments.list_networks(call.value(_TYPE), project_id=call.value("project_id"))
    else:
        segment = Segment(
            network_type=call.value(_TYPE) or "",
            physical_network=physical,
            segment_id=None if number is None else int(number),
        )
        network = cloud.segments.find_network(segment)
        found = () if network is None else (network,)
    return Reply(body={"networks": [_network(each) for each in found]})


def _create_network(cloud: SimulatedCloud, call: Call) -> Reply:
    body = call.body["network"]
    segment = Segment(
        network_type=body[_TYPE], physical_network=body.get(_PHYSICAL), segment_id=body.get(_ID)
    )
    made = cloud.segments.create_network(
        segment,
        name=body["name"],
        project_id=body["project_id"],
        description=body.get("description", ""),
    )
    return Reply(status=201, body={"network": _network(made)})


def _network(network: SegmentNetwork) -> object:
    return {
        "id": network.id,
        "name": network.name,
        "project_id": network.project_id,
        "description": network.description,
        "tags": sorted(network.tags),
        "router:external": False,
        _TYPE: network.segment.network_type,
        _PHYSICAL: network.segment.physical_network,
        _ID: network.segment.segment_id,
    }


def _set_tags(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.segments.set_network_tags(call["id"], frozenset(call.body["tags"]))
    return Reply(body=call.body)


def _delete_network(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.segments.delete_network(call["id"])
    return Reply(status=204)


def _list_ports(cloud: SimulatedCloud, call: Call) -> Reply:
    network_id = call.query["network_id"][-1]
    found = cloud.segments.list_ports(network_id)
    return Reply(body={"ports": [{"network_id": network_id, **_port(each)} for each in found]})


def _port(port: Port) -> dict[str, object]:
    return {
        "id": port.id,
        "project_id": port.project_id,
        "device_id": port.device_id,
        "device_owner": port.device_owner,
    }


def _delete_port(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.segments.delete_port(call["id"])
    return Reply(status=204)


def _update_port(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.segments.unbind_port(call["id"])
    return Reply(body={"port": {"id": call["id"]}})


def _list_trunks(cloud: SimulatedCloud, call: Call) -> Reply:
    return Reply(body={"trunks": [_trunk(each) for each in cloud.segments.list_trunks()]})


def _trunk(trunk: Trunk) -> object:
    subports = [{"port_id": each} for each in sorted(trunk.subport_ids)]
    return {
        "id": trunk.id,
        "port_id": trunk.port_id,
        "admin_state_up": trunk.is_enabled,
        "sub_ports": subports,
    }


def _update_trunk(cloud: SimulatedCloud, call: Call) -> Reply:
    if call.body["trunk"] != {"admin_state_up": True}:
        raise CloudRefused("a trunk can only be enabled here")
    cloud.segments.enable_trunk(call["id"])
    return Reply(body={"trunk": {"id": call["id"]}})


def _remove_subports(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.segments.remove_subports(call["id"], [each["port_id"] for each in call.body["sub_ports"]])
    return Reply(body={"id": call["id"]})


def _delete_trunk(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.segments.delete_trunk(call["id"])
    return Reply(status=204)


def _show_router(cloud: SimulatedCloud, call: Call) -> Reply:
    found = cloud.segments.list_routes(call["id"])
    routes = [{"destination": each.destination, "nexthop": each.nexthop} for each in found]
    return Reply(body={"router": {"id": call["id"], "routes": routes}})


def _remove_routes(cloud: SimulatedCloud, call: Call) -> Reply:
    routes = [
        Route(destination=each["destination"], nexthop=each["nexthop"])
        for each in call.body["router"]["routes"]
    ]
    cloud.segments.remove_routes(call["id"], routes)
    return Reply(body={"router": {"id": call["id"]}})


def _remove_interface(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.segments.remove_router_interface(call["id"], call.body["port_id"])
    return Reply(body={"id": call["id"], "port_id": call.body["port_id"]})


SEGMENT_ROUTES = (
    HttpRoute("GET", "/v2.0/network-segment-ranges", _list_ranges),
    HttpRoute("GET", "/v2.0/networks", _list_networks),
    HttpRoute("POST", "/v2.0/networks", _create_network),
    HttpRoute("PUT", "/v2.0/networks/{id}/tags", _set_tags),
    HttpRoute("DELETE", "/v2.0/networks/{id}", _delete_network),
    HttpRoute("GET", "/v2.0/ports", _list_ports),
    HttpRoute("PUT", "/v2.0/ports/{id}", _update_port),
    HttpRoute("DELETE", "/v2.0/ports/{id}", _delete_port),
    HttpRoute("GET", "/v2.0/trunks", _list_trunks),
    HttpRoute("PUT", "/v2.0/trunks/{id}", _update_trunk),
    HttpRoute("PUT", "/v2.0/trunks/{id}/remove_subports", _remove_subports),
    HttpRoute("DELETE", "/v2.0/trunks/{id}", _delete_trunk),
    HttpRoute("GET", "/v2.0/routers/{id}", _show_router),
    HttpRoute("PUT", "/v2.0/routers/{id}/remove_extraroutes", _remove_routes),
    HttpRoute("PUT", "/v2.0/routers/{id}/remove_router_interface", _remove_interface),
)
