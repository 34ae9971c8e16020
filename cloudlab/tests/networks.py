"""The network segments that end-to-end tests reserve, and what a lessee connects to a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cloudlab.neutron import PHYSICAL_NETWORK
from cloudlab.tests.actors import Actor, Json
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.tests.registered import deregister_all

VLANS: Final = (211, 212)
"""Two VLANs outside the range that Neutron gives to all projects; the contract suite uses other ids."""


@dataclass(frozen=True, slots=True)
class Segments:
    """The registered VLANs."""

    lab: EndToEndLab

    def register(self, count: int = 2) -> None:
        """Register so many VLANs as a range."""
        first = VLANS[0]
        last = first + count - 1
        self.lab.operator.blazar.network.create("vlan", PHYSICAL_NETWORK, f"{first}-{last}")

    def deregister(self) -> None:
        """Remove all segments, after waiting for the leases that hold them."""
        deregister_all(self.lab.operator.blazar.network)

    def reserve(self, lessee: Actor, amount: int = 1, name: str = "lab") -> Json:
        """Return a new lease for networks, for an hour from now."""
        reservation = {"resource_type": "network", "network_name": name, "amount": amount}
        return lessee.create_lease(reservation)

    def existing(self) -> dict[int, Json]:
        """Return the networks on the VLANs, by VLAN."""
        query = {"provider:physical_network": PHYSICAL_NETWORK}
        found = self.lab.operator.networks.get("/v2.0/networks", params=query).json()["networks"]
        return {each["provider:segmentation_id"]: each for each in found}


@dataclass(frozen=True, slots=True)
class Neutron:
    """Neutron as a lessee uses it."""

    lab: EndToEndLab

    def make(self, kind: str, **body: object) -> Json:
        """Return a new object."""
        api = self.lab.openstack.api("network", "lessee")
        made: Json = api.post(f"/v2.0/{kind}s", json={kind: body}).json()[kind]
        return made

    def put(self, path: str, body: Mapping[str, Any]) -> None:
        """Send a change."""
        self.lab.openstack.api("network", "lessee").put(f"/v2.0/{path}", json=body)

    def delete(self, kind: str, object_id: str) -> None:
        """Delete an object."""
        self.lab.openstack.api("network", "lessee").delete(f"/v2.0/{kind}s/{object_id}")

    def ids(self, kind: str) -> set[str]:
        """Return the ids of the objects that the lessee sees."""
        found = self.lab.openstack.api("network", "lessee").get(f"/v2.0/{kind}s").json()[f"{kind}s"]
        return {each["id"] for each in found}
