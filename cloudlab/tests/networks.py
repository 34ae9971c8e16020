"""The network segments that end-to-end tests reserve, and what a lessee connects to a network."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from cloudlab.neutron import PHYSICAL_NETWORK
from cloudlab.tests.actors import Actor, Json
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.tests.registered import deregister_all
from cloudlab.waiting import wait_until

VLANS: Final = (211, 212)
"""Two VLANs outside the range that Neutron gives to all projects; the contract suite uses other ids."""
SECONDS_TO_NOTICE: Final = 100
"""The lab's managers check every minute."""


@dataclass(frozen=True, slots=True)
class Segments:
    """The registered VLANs."""

    lab: EndToEndLab

    def register(self, count: int = 2, **capabilities: object) -> None:
        """Register so many VLANs as a range."""
        first = VLANS[0]
        last = first + count - 1
        networks = self.lab.operator.blazar.network
        networks.create("vlan", PHYSICAL_NETWORK, f"{first}-{last}", **capabilities)

    def deregister(self) -> None:
        """Remove all segments, after waiting for the leases that hold them."""
        deregister_all(self.lab.operator.blazar.network)

    def reserve(
        self, lessee: Actor, amount: int = 1, name: str = "lab", *, start: str | datetime = "now"
    ) -> Json:
        """Return a new lease for networks, until an hour from now."""
        reservation = {"resource_type": "network", "network_name": name, "amount": amount}
        return lessee.create_lease(reservation, start)

    def held(self, lessee: Actor, lease: Mapping[str, Any]) -> set[int]:
        """Return the VLANs that are reserved for a lease."""
        found = lessee.blazar.lease.list_allocations(lease["id"])
        return {int(each["name"].rpartition(":")[2]) for each in found}

    @contextmanager
    def taken(self, actor: Actor, vlan: int) -> Iterator[None]:
        """Create a network of a project on a VLAN for the block, directly in Neutron."""
        body = {
            "name": "taken",
            "project_id": actor.project_id,
            "provider:network_type": "vlan",
            "provider:physical_network": PHYSICAL_NETWORK,
            "provider:segmentation_id": vlan,
        }
        neutron = self.lab.operator.networks
        made = neutron.post("/v2.0/networks", json={"network": body}).json()["network"]["id"]
        try:
            yield
        finally:
            neutron.delete(f"/v2.0/networks/{made}")

    def wait_until_reservable(self, vlan: int, is_so: bool) -> None:
        """Return when the service has noticed that a VLAN can, or cannot, be reserved."""

        def found() -> list[Json]:
            return list(self.lab.operator.blazar.network.list())

        wait_until(
            lambda: {each["segment_id"]: each["reservable"] for each in found()}[vlan] is is_so,
            f"VLAN {vlan} is {'' if is_so else 'not '}reservable",
            seconds=SECONDS_TO_NOTICE,
            explain=lambda: json.dumps(found(), indent=2),
        )

    def existing(self) -> dict[int, Json]:
        """Return the networks on the VLANs, by VLAN."""
        query = {"provider:physical_network": PHYSICAL_NETWORK}
        found = self.lab.operator.networks.get("/v2.0/networks", params=query).json()["networks"]
        return {each["provider:segmentation_id"]: each for each in found}


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """The ids of what a lessee has made on a network and on another one, and between them."""

    other_network: str
    router: str
    gone_ports: Sequence[str]
    """On the network; the first is the parent of its trunk, and the last has the floating IP."""
    kept_ports: Sequence[str]
    """On the other one."""
    gone_trunk: str
    kept_trunk: str
    """Its parent is on the other network, and its subport on the network."""
    floating_ip: str


class Neutron:
    """Neutron as a lessee uses it."""

    def __init__(self, lab: EndToEndLab) -> None:
        self._api = lab.openstack.api("network", "lessee")
        self._external = lab.openstack.details.network_id

    def make(self, kind: str, **body: object) -> Json:
        """Return a new object."""
        made: Json = self._api.post(f"/v2.0/{kind}s", json={kind: body}).json()[kind]
        return made

    def put(self, path: str, body: Mapping[str, Any]) -> None:
        """Send a change."""
        self._api.put(f"/v2.0/{path}", json=body)

    def delete(self, kind: str, object_id: str) -> None:
        """Delete an object."""
        self._api.delete(f"/v2.0/{kind}s/{object_id}")

    @contextmanager
    def connected(self, network_id: str) -> Iterator[Connected]:
        """Put something of each kind on a network for the block; afterwards, remove what is not on it."""
        other = self.make("network", name="stays")["id"]
        subnets = [
            self.make("subnet", network_id=each, ip_version=4, cidr=f"10.{number}.0.0/24")["id"]
            for number, each in enumerate((network_id, other), 50)
        ]
        outside = {"network_id": self._external}
        router = self.make("router", name="between", external_gateway_info=outside)["id"]
        for each in subnets:
            self.put(f"routers/{router}/add_router_interface", {"subnet_id": each})
        route = {"destination": "198.51.100.0/24", "nexthop": "10.50.0.77"}
        self.put(f"routers/{router}", {"router": {"routes": [route]}})
        gone, kept = (
            [self.make("port", network_id=each)["id"] for _ in range(3)] for each in (network_id, other)
        )
        subport = {"segmentation_type": "vlan", "segmentation_id": 301, "port_id": gone[1]}
        address = {"floating_network_id": self._external, "port_id": gone[2]}
        found = Connected(
            other_network=other,
            router=router,
            gone_ports=gone,
            kept_ports=kept,
            gone_trunk=self.make("trunk", port_id=gone[0])["id"],
            kept_trunk=self.make("trunk", port_id=kept[0], sub_ports=[subport])["id"],
            floating_ip=self.make("floatingip", **address)["id"],
        )
        try:
            yield found
        finally:
            self.delete("floatingip", found.floating_ip)
            self.delete("trunk", found.kept_trunk)
            self.put(f"routers/{router}/remove_router_interface", {"subnet_id": subnets[1]})
            self.delete("router", router)
            for each in kept:
                self.delete("port", each)
            self.delete("network", other)

    def add_ports(self, network_id: str, seconds: float) -> int:
        """Create ports on a network for this time, or until it is gone; return how many."""
        made, until = 0, time.monotonic() + seconds
        while time.monotonic() < until:
            answer = self._api.post("/v2.0/ports", json={"port": {"network_id": network_id}}, raise_exc=False)
            if answer.status_code == 404:
                break
            made += answer.ok
        return made

    def ids(self, kind: str) -> set[str]:
        """Return the ids of the objects that the lessee sees."""
        found = self._api.get(f"/v2.0/{kind}s").json()[f"{kind}s"]
        return {each["id"] for each in found}
