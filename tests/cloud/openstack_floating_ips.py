"""Floating IPs of the cloudlab's Neutron for the contract suite, as the first project uses them."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

from keystoneauth1.adapter import Adapter

from blazar.ports.network import Networks
from cloudlab.rest import list_objects


class _InnerNetwork(NamedTuple):
    """A network of the first project, with a router to the external one."""

    network_id: str
    subnet_id: str
    router_id: str


class NeutronFloatingIps:
    """Uses of floating IPs by a test: they lead to ports of a network behind a router."""

    def __init__(self, neutron: Adapter, project_ids: tuple[str, str], external_network_id: str) -> None:
        """Create it for projects whose floating IPs are removed at the end.

        Args:
            neutron: The client of an administrator.
            project_ids: The projects; the first has the network and the ports.
            external_network_id: The network of the floating IPs.
        """
        self._neutron = neutron
        self._project_ids = project_ids
        self._external_network_id = external_network_id

    def attach(self, floating_ip_id: str) -> None:
        body = {"floatingip": {"port_id": self._add_port()["id"]}}
        self._neutron.put(f"/v2.0/floatingips/{floating_ip_id}", json=body)

    def forward_port(self, floating_ip_id: str) -> str:
        port = self._add_port()
        body = {
            "protocol": "tcp",
            "external_port": 2222,
            "internal_port": 22,
            "internal_port_id": port["id"],
            "internal_ip_address": port["fixed_ips"][0]["ip_address"],
        }
        path = f"/v2.0/floatingips/{floating_ip_id}/port_forwardings"
        made = self._neutron.post(path, json={"port_forwarding": body}).json()
        forwarding_id: str = made["port_forwarding"]["id"]
        return forwarding_id

    def remove_everything(self, networks: Networks) -> None:
        """Remove the floating IPs of the projects, and the network behind them."""
        for floating_ip in networks.list_floating_ips():
            if floating_ip.project_id in self._project_ids:
                for forwarding_id in networks.list_port_forwardings(floating_ip.id):
                    networks.delete_port_forwarding(floating_ip.id, forwarding_id)
                networks.delete_floating_ip(floating_ip.id)
        if "_inner" in self.__dict__:
            self._remove_inner_network()

    @cached_property
    def _inner(self) -> _InnerNetwork:
        network_id = self._make("networks", "network")
        subnet_id = self._make("subnets", "subnet", network_id=network_id, ip_version=4, cidr="192.0.2.0/24")
        gateway = {"network_id": self._external_network_id}
        router_id = self._make("routers", "router", external_gateway_info=gateway)
        path = f"/v2.0/routers/{router_id}/add_router_interface"
        self._neutron.put(path, json={"subnet_id": subnet_id})
        return _InnerNetwork(network_id, subnet_id, router_id)

    def _add_port(self) -> dict[str, Any]:
        body = {"network_id": self._inner.network_id, "project_id": self._project_ids[0]}
        made: dict[str, Any] = self._neutron.post("/v2.0/ports", json={"port": body}).json()["port"]
        return made

    def _make(self, collection: str, key: str, **body: Any) -> str:
        body = {key: {"project_id": self._project_ids[0], **body}}
        made: str = self._neutron.post(f"/v2.0/{collection}", json=body).json()[key]["id"]
        return made

    def _remove_inner_network(self) -> None:
        network_id, subnet_id, router_id = self._inner
        path = f"/v2.0/routers/{router_id}"
        self._neutron.put(f"{path}/remove_router_interface", json={"subnet_id": subnet_id})
        self._neutron.delete(path)
        for port in list_objects(self._neutron, f"/v2.0/ports?network_id={network_id}", "ports"):
            self._neutron.delete(f"/v2.0/ports/{port['id']}")
        self._neutron.delete(f"/v2.0/networks/{network_id}")
