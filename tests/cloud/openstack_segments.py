"""Segments of the cloudlab's Neutron for the contract suite, as an administrator uses them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions import Conflict, NotFound

from cloudlab.neutron import PHYSICAL_NETWORK, SHARED_VLANS


class NeutronSegments:
    """The VLANs of a physical network without agents, and what a test makes on them."""

    physical_network: ClassVar[str] = PHYSICAL_NETWORK
    free_ids: ClassVar[tuple[int, int]] = (201, 202)
    shared_range: ClassVar[tuple[int, int]] = SHARED_VLANS

    def __init__(self, neutron: Adapter, project_ids: tuple[str, str]) -> None:
        """Create it for projects whose objects are removed at the end."""
        self._neutron = neutron
        self._project_ids = project_ids

    def limit_networks(self, project_id: str) -> None:
        self._neutron.put(f"/v2.0/quotas/{project_id}", json={"quota": {"network": 0}})

    def add_subnet(self, network_id: str, cidr: str) -> str:
        return self._make("subnets", "subnet", network_id=network_id, ip_version=4, cidr=cidr)

    def add_port(self, network_id: str, project_id: str, *, server_id: str = "") -> str:
        used = {"device_id": server_id, "device_owner": "compute:nova"} if server_id else {}
        return self._make("ports", "port", network_id=network_id, project_id=project_id, **used)

    def add_trunk(self, port_id: str, subport_ids: frozenset[str]) -> str:
        subports = [
            {"port_id": each, "segmentation_type": "vlan", "segmentation_id": number}
            for number, each in enumerate(sorted(subport_ids), 301)
        ]
        return self._make(
            "trunks", "trunk", port_id=port_id, sub_ports=subports, project_id=self._project_ids[0]
        )

    def disable_trunk(self, trunk_id: str) -> None:
        self._switch_trunk(trunk_id, is_enabled=False)

    def _switch_trunk(self, trunk_id: str, *, is_enabled: bool) -> None:
        self._neutron.put(f"/v2.0/trunks/{trunk_id}", json={"trunk": {"admin_state_up": is_enabled}})

    def add_router(self, network_id: str, destination: str, nexthop: str) -> str:
        router_id = self._make("routers", "router", project_id=self._project_ids[0])
        (subnet,) = self._list("subnets", network_id=network_id)
        path = f"/v2.0/routers/{router_id}"
        self._neutron.put(f"{path}/add_router_interface", json={"subnet_id": subnet["id"]})
        routes = [{"destination": destination, "nexthop": nexthop}]
        self._neutron.put(path, json={"router": {"routes": routes}})
        return router_id

    def remove_everything(self) -> None:
        """Remove what hangs on networks of the projects, and the networks that a test made."""
        for project_id in self._project_ids:
            for trunk in self._list("trunks", project_id=project_id):
                self._switch_trunk(trunk["id"], is_enabled=True)
                self._remove("trunks", trunk["id"])
            for router in self._list("routers", project_id=project_id):
                self._empty_router(router["id"])
            for network in self._list("networks", project_id=project_id):
                if network["provider:network_type"] in ("vlan", "vxlan"):
                    self._remove_network(network["id"])

    def _remove_network(self, network_id: str) -> None:
        for port in self._list("ports", network_id=network_id):
            self._remove("ports", port["id"])
        self._remove("networks", network_id)

    def _empty_router(self, router_id: str) -> None:
        with suppress(NotFound):
            self._neutron.put(f"/v2.0/routers/{router_id}", json={"router": {"routes": []}})
        for port in self._list("ports", device_id=router_id):
            with suppress(NotFound, Conflict):
                path = f"/v2.0/routers/{router_id}/remove_router_interface"
                self._neutron.put(path, json={"port_id": port["id"]})
        with suppress(NotFound, Conflict):
            self._neutron.delete(f"/v2.0/routers/{router_id}")

    def _make(self, collection: str, key: str, **body: Any) -> str:
        made: str = self._neutron.post(f"/v2.0/{collection}", json={key: body}).json()[key]["id"]
        return made

    def _list(self, collection: str, **query: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._neutron.get(f"/v2.0/{collection}", params=query).json()[
            collection
        ]
        return found

    def _remove(self, collection: str, object_id: str) -> None:
        with suppress(NotFound):
            self._neutron.delete(f"/v2.0/{collection}/{object_id}")
