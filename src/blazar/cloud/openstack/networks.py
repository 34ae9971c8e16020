"""Neutron's networks and floating IPs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from blazar.cloud.openstack.rest import RestClient
from blazar.domain.errors import CloudNotFound, CloudUnavailable
from blazar.domain.subnets import Subnet
from blazar.ports.network import FloatingIP, Network

if TYPE_CHECKING:
    from blazar.ports.network import Networks


_ADDRESSES_IN_A_URL = 50
"""Maximum number of addresses in a URL, well below the 8 kB that web servers allow."""


class OpenStackNetworks:
    """Networks, subnets and floating IPs of all projects.

    Neutron does not report the subnet of a floating IP, so ``subnet_id`` is None.
    """

    def __init__(self, neutron: RestClient) -> None:
        self._neutron = neutron

    def find_network(self, network_id: str) -> Network | None:
        """Return the network, or None."""
        answer = self._neutron.find("networks", network_id)
        return None if answer is None else answer.read(lambda body: _network(body["network"]))

    def list_subnets(self, network_id: str) -> tuple[Subnet, ...]:
        """Return the subnets of a network; empty if the network is unknown."""
        return self._neutron.list("subnets", key="subnets", parse=_subnet, params={"network_id": network_id})

    def list_floating_ips(
        self,
        *,
        network_id: str | None = None,
        addresses: Collection[str] = (),
        tags: frozenset[str] = frozenset(),
    ) -> tuple[FloatingIP, ...]:
        """Return the floating IPs of all projects that match all given filters."""
        params = {"floating_network_id": network_id, "tags": ",".join(sorted(tags)) or None}
        wanted = sorted(addresses)
        if not wanted:
            return self._list_floating_ips(params)
        found: list[FloatingIP] = []
        for start in range(0, len(wanted), _ADDRESSES_IN_A_URL):
            some = wanted[start : start + _ADDRESSES_IN_A_URL]
            found += self._list_floating_ips({**params, "floating_ip_address": some})
        return tuple(found)

    def _list_floating_ips(self, params: Mapping[str, object]) -> tuple[FloatingIP, ...]:
        return self._neutron.list("floatingips", key="floatingips", parse=_floating_ip, params=params)

    def create_floating_ip(
        self, network_id: str, subnet_id: str, address: str, project_id: str, description: str = ""
    ) -> FloatingIP:
        """Return a new floating IP in that project, without tags. Raises as in the port."""
        body = {
            "floating_network_id": network_id,
            "subnet_id": subnet_id,
            "floating_ip_address": address,
            "project_id": project_id,
            "description": description,
        }
        answer = self._neutron.post("floatingips", body={"floatingip": body})
        return answer.read(lambda body: _floating_ip(body["floatingip"]))

    def set_floating_ip_tags(self, floating_ip_id: str, tags: frozenset[str]) -> None:
        """Replace all tags. Raises CloudNotFound."""
        try:
            self._neutron.put("floatingips", floating_ip_id, "tags", body={"tags": sorted(tags)})
        except CloudUnavailable:
            # Neutron 29 answers 500 if the floating IP does not exist; this request then answers 404.
            self._neutron.get("floatingips", floating_ip_id)
            raise

    def detach_floating_ip(self, floating_ip_id: str) -> None:
        """Detach it from its port, if it is attached. Raises CloudNotFound."""
        self._neutron.put("floatingips", floating_ip_id, body={"floatingip": {"port_id": None}})

    def list_port_forwardings(self, floating_ip_id: str) -> tuple[str, ...]:
        """Return the ids of its port forwardings; none without Neutron's plugin for them."""
        path = ("floatingips", floating_ip_id, "port_forwardings")
        try:
            return self._neutron.list(
                *path, key="port_forwardings", parse=lambda body: str(body["id"]), is_optional=True
            )
        except CloudNotFound:
            return ()

    def delete_port_forwarding(self, floating_ip_id: str, port_forwarding_id: str) -> None:
        """Delete a port forwarding. Raises CloudNotFound."""
        self._neutron.delete("floatingips", floating_ip_id, "port_forwardings", port_forwarding_id)

    def delete_floating_ip(self, floating_ip_id: str) -> None:
        """Delete it. Raises as in the port."""
        self._neutron.delete("floatingips", floating_ip_id)


def _network(body: Mapping[str, Any]) -> Network:
    return Network(id=body["id"], name=body["name"], is_external=body["router:external"])


def _subnet(body: Mapping[str, Any]) -> Subnet:
    return Subnet(
        id=body["id"],
        network_id=body["network_id"],
        cidr=body["cidr"],
        gateway_ip=body["gateway_ip"],
        allocation_pools=tuple((each["start"], each["end"]) for each in body["allocation_pools"]),
    )


def _floating_ip(body: Mapping[str, Any]) -> FloatingIP:
    return FloatingIP(
        id=body["id"],
        floating_network_id=body["floating_network_id"],
        subnet_id=None,
        address=body["floating_ip_address"],
        project_id=body["project_id"],
        port_id=body["port_id"],
        tags=frozenset(body["tags"]),
        description=body["description"],
        # Absent without Neutron's plugin for them.
        port_forwardings=len(body.get("port_forwardings", ())),
    )


if TYPE_CHECKING:

    def _witness(networks: OpenStackNetworks) -> Networks:
        return networks
