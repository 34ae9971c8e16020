"""Neutron's networks and floating IPs."""

from __future__ import annotations

from blazar.cloud.simulated import SimulatedCloud
from blazar.domain.errors import CloudNotFound, CloudRefused
from blazar.domain.subnets import Subnet
from blazar.ports.network import FloatingIP
from rig.cloud.messages import Call, Reply, Route, Service
from rig.cloud.segments import SEGMENT_ROUTES


def _show_network(cloud: SimulatedCloud, call: Call) -> Reply:
    found = cloud.networks.find_network(call["id"])
    if found is None:
        raise CloudNotFound(f"network {call['id']} could not be found")
    return Reply(body={"network": {"id": found.id, "name": found.name, "router:external": found.is_external}})


def _list_subnets(cloud: SimulatedCloud, call: Call) -> Reply:
    found = cloud.networks.list_subnets(call.query["network_id"][-1])
    return Reply(body={"subnets": [_subnet(each) for each in found]})


def _subnet(subnet: Subnet) -> object:
    return {
        "id": subnet.id,
        "network_id": subnet.network_id,
        "cidr": subnet.cidr,
        "gateway_ip": subnet.gateway_ip,
        "allocation_pools": [{"start": start, "end": end} for start, end in subnet.allocation_pools],
    }


def _list_floating_ips(cloud: SimulatedCloud, call: Call) -> Reply:
    tags = call.value("tags")
    found = cloud.networks.list_floating_ips(
        network_id=call.value("floating_network_id"),
        addresses=call.query.get("floating_ip_address", ()),
        tags=frozenset(tags.split(",")) if tags else frozenset(),
    )
    return Reply(body={"floatingips": [_floating_ip(each) for each in found]})


def _create_floating_ip(cloud: SimulatedCloud, call: Call) -> Reply:
    body = call.body["floatingip"]
    made = cloud.networks.create_floating_ip(
        body["floating_network_id"],
        body["subnet_id"],
        body["floating_ip_address"],
        body["project_id"],
        body.get("description", ""),
    )
    return Reply(status=201, body={"floatingip": _floating_ip(made)})


def _change_floating_ip(cloud: SimulatedCloud, call: Call) -> Reply:
    change = call.body["floatingip"]
    if change != {"port_id": None}:
        raise CloudRefused("a floating IP can only be detached here")
    cloud.networks.detach_floating_ip(call["id"])
    return Reply(body={"floatingip": {"id": call["id"], **change}})


def _set_tags(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.networks.set_floating_ip_tags(call["id"], frozenset(call.body["tags"]))
    return Reply(body=call.body)


def _delete_floating_ip(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.networks.delete_floating_ip(call["id"])
    return Reply(status=204)


def _list_port_forwardings(cloud: SimulatedCloud, call: Call) -> Reply:
    found = cloud.networks.list_port_forwardings(call["id"])
    return Reply(body={"port_forwardings": [{"id": each} for each in found]})


def _delete_port_forwarding(cloud: SimulatedCloud, call: Call) -> Reply:
    cloud.networks.delete_port_forwarding(call["id"], call["forwarding_id"])
    return Reply(status=204)


def _floating_ip(floating_ip: FloatingIP) -> object:
    return {
        "id": floating_ip.id,
        "floating_network_id": floating_ip.floating_network_id,
        "floating_ip_address": floating_ip.address,
        "project_id": floating_ip.project_id,
        "description": floating_ip.description,
        "port_id": floating_ip.port_id,
        "tags": sorted(floating_ip.tags),
        "port_forwardings": [{"protocol": "tcp"}] * floating_ip.port_forwardings,
    }


def _error(status: int, message: str) -> object:
    return {"NeutronError": {"type": "Error", "message": message, "detail": ""}}


NEUTRON = Service(
    name="network",
    path="/network",
    error_body=_error,
    routes=(
        Route("GET", "/v2.0/networks/{id}", _show_network),
        Route("GET", "/v2.0/subnets", _list_subnets),
        Route("GET", "/v2.0/floatingips", _list_floating_ips),
        Route("POST", "/v2.0/floatingips", _create_floating_ip),
        Route("PUT", "/v2.0/floatingips/{id}", _change_floating_ip),
        Route("PUT", "/v2.0/floatingips/{id}/tags", _set_tags),
        Route("DELETE", "/v2.0/floatingips/{id}", _delete_floating_ip),
        Route("GET", "/v2.0/floatingips/{id}/port_forwardings", _list_port_forwardings),
        Route("DELETE", "/v2.0/floatingips/{id}/port_forwardings/{forwarding_id}", _delete_port_forwarding),
        *SEGMENT_ROUTES,
    ),
)
