"""An external network with some registered addresses, and helpers for tests of floating IPs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from app.http_env import HttpEnv, Json, good

from blazar.ports.network import FloatingIP

UNKNOWN = "5b0c8f4e-61d7-4f0a-9c55-2d3a7be01f10"
"""A valid ID that refers to nothing."""
POOLS = (("203.0.113.10", "203.0.113.99"),)
GATEWAY = "203.0.113.1"
TAGS = frozenset({"blazar"})


def address(number: int) -> str:
    """Return the address outside all pools with this number, counted from 1."""
    return f"203.0.113.{200 + number}"


@dataclass(frozen=True, slots=True)
class Pool:
    """An external network in the cloud of an environment."""

    env: HttpEnv
    network_id: str
    subnet_id: str

    def registration(self, which: int | str) -> Json:
        """Return the request body that registers an address, given as text or as a number."""
        text = address(which) if isinstance(which, int) else which
        return {"floating_network_id": self.network_id, "floating_ip_address": text}

    def register(self, *numbers: int) -> list[str]:
        """Register addresses and return their IDs."""
        answers = [self.env.post("/floatingips", self.registration(each)) for each in numbers]
        return [good(each, 201)["floatingip"]["id"] for each in answers]

    def asked(self, amount: object = 1, *required: int, **keys: Any) -> Json:
        """Return the reservation of a request."""
        found: Json = {"resource_type": "virtual:floatingip", "network_id": self.network_id, "amount": amount}
        if required:
            found["required_floatingips"] = [address(each) for each in required]
        return {**found, **keys}

    def existing(self) -> dict[str, FloatingIP]:
        """Return the floating IPs in Neutron, by address."""
        return {each.address: each for each in self.env.cloud.networks.list_floating_ips()}

    def of(self, lease: Json) -> set[str]:
        """Return the addresses that a lease has in Neutron."""
        tags = TAGS | {f"reservation:{lease['reservations'][0]['id']}"}
        return {
            each.address
            for each in self.existing().values()
            if each.tags == tags and each.project_id == lease["project_id"]
        }

    def put(
        self, number: int, project_id: str = "elsewhere", tags: frozenset[str] = frozenset()
    ) -> FloatingIP:
        """Create a floating IP in Neutron that is not managed by the service, and return it."""
        networks = self.env.cloud.networks
        made = networks.create_floating_ip(self.network_id, self.subnet_id, address(number), project_id)
        networks.set_floating_ip_tags(made.id, tags)
        return replace(made, tags=tags)

    def reservable(self) -> dict[str, bool]:
        """Return for each registered address if it can be reserved now."""
        found = good(self.env.get("/floatingips"))["floatingips"]
        return {each["floating_ip_address"]: each["reservable"] for each in found}


def make_pool(env: HttpEnv) -> Pool:
    """Return a pool without registered addresses."""
    network = env.cloud.add_network("public")
    subnet = env.cloud.add_subnet(network.id, "203.0.113.0/24", gateway_ip=GATEWAY, allocation_pools=POOLS)
    return Pool(env, network.id, subnet.id)
