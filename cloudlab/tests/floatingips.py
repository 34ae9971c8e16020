"""The addresses that end-to-end tests reserve, and a network of the lessee."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from keystoneauth1.adapter import Adapter

from cloudlab.tests.actors import Actor, Json, Operator
from cloudlab.tests.end_to_end_lab import EndToEndLab
from cloudlab.tests.registered import deregister_all
from cloudlab.waiting import wait_until

ADDRESSES: Final = ("203.0.113.210", "203.0.113.211")
"""Outside the subnet's pool; the contract suite uses other addresses."""
SECONDS_TO_NOTICE: Final = 100
"""The lab's managers check every minute."""


@dataclass(frozen=True, slots=True)
class AddressPool:
    """The registered addresses."""

    lab: EndToEndLab

    @property
    def operator(self) -> Operator:
        """Return the administrator."""
        return self.lab.operator

    def register(self) -> None:
        """Register the addresses."""
        for each in ADDRESSES:
            self.operator.blazar.floatingip.create(self.lab.openstack.details.network_id, each)

    def deregister(self) -> None:
        """Remove all addresses, after waiting for the leases that hold them."""
        deregister_all(self.lab.operator.blazar.floatingip)

    def reservable(self, address: str) -> bool:
        """Return whether an address can be reserved now."""
        found = {each["floating_ip_address"]: each for each in self.operator.blazar.floatingip.list()}
        return bool(found[address]["reservable"])

    def wait_until_reservable(self, address: str, is_so: bool) -> None:
        """Return when the service has noticed that an address can, or cannot, be reserved."""
        wait_until(
            lambda: self.reservable(address) is is_so,
            f"{address} is {'' if is_so else 'not '}reservable",
            seconds=SECONDS_TO_NOTICE,
            explain=lambda: json.dumps(list(self.operator.blazar.floatingip.list()), indent=2),
        )

    def of(self, lessee: Actor, lease: Mapping[str, Any]) -> dict[str, Json]:
        """Return the addresses that a lessee finds by the tags of the only reservation of a lease."""
        (reservation,) = lease["reservations"]
        tags = f"blazar,reservation:{reservation['id']}"
        found = self.lab.openstack.api("network", _account(self.lab, lessee)).get(
            "/v2.0/floatingips", params={"tags": tags}
        )
        return {each["floating_ip_address"]: each for each in found.json()["floatingips"]}

    def existing(self) -> dict[str, Json]:
        """Return the floating IPs in Neutron, by address."""
        return {each["floating_ip_address"]: each for each in self.operator.floating_ips()}

    @contextmanager
    def in_neutrons_pool(self, address: str) -> Iterator[None]:
        """Add an address to an allocation pool of Neutron during the block."""
        path = f"/v2.0/subnets/{self.lab.openstack.details.subnet_id}"
        pools = self.operator.networks.get(path).json()["subnet"]["allocation_pools"]
        self._set_pools(path, [*pools, {"start": address, "end": address}])
        try:
            yield
        finally:
            self._set_pools(path, pools)

    @contextmanager
    def given_to(self, actor: Actor, address: str) -> Iterator[Json]:
        """Create a floating IP with an address for another project during the block."""
        body = {
            "floating_network_id": self.lab.openstack.details.network_id,
            "floating_ip_address": address,
            "project_id": actor.project_id,
        }
        answer = self.operator.networks.post("/v2.0/floatingips", json={"floatingip": body})
        made = answer.json()["floatingip"]
        try:
            yield dict(made)
        finally:
            self.operator.networks.delete(f"/v2.0/floatingips/{made['id']}")

    def _set_pools(self, path: str, pools: object) -> None:
        self.operator.networks.put(path, json={"subnet": {"allocation_pools": pools}})


@contextmanager
def port_of(lab: EndToEndLab, actor: Actor) -> Iterator[str]:
    """Create a port on a network with a router to the external one for the block; yield its id."""
    api, made = lab.operator.networks, _Made(lab.operator.networks)
    try:
        network_id = made.make("network", name="inner", project_id=actor.project_id)
        subnet_id = made.make(
            "subnet", network_id=network_id, project_id=actor.project_id, ip_version=4, cidr="192.0.2.0/24"
        )
        gateway = {"network_id": lab.openstack.details.network_id}
        router_id = made.make("router", project_id=actor.project_id, external_gateway_info=gateway)
        interface = {"subnet_id": subnet_id}
        api.put(f"/v2.0/routers/{router_id}/add_router_interface", json=interface)
        made.before_removal.append((f"/v2.0/routers/{router_id}/remove_router_interface", interface))
        yield made.make("port", network_id=network_id, project_id=actor.project_id)
    finally:
        made.remove_all()


class _Made:
    """Objects created in Neutron, to be removed in reverse order."""

    def __init__(self, api: Adapter) -> None:
        self._api = api
        self._paths: list[str] = []
        self.before_removal: list[tuple[str, object]] = []

    def make(self, kind: str, **body: object) -> str:
        made = self._api.post(f"/v2.0/{kind}s", json={kind: body}).json()[kind]["id"]
        self._paths.append(f"/v2.0/{kind}s/{made}")
        return str(made)

    def remove_all(self) -> None:
        ports = [each for each in self._paths if "/ports/" in each]
        for path in ports:
            self._api.delete(path, raise_exc=False)
        for path, body in self.before_removal:
            self._api.put(path, json=body, raise_exc=False)
        for path in reversed([each for each in self._paths if each not in ports]):
            self._api.delete(path, raise_exc=False)


def _account(lab: EndToEndLab, actor: Actor) -> str:
    return "lessee" if actor is lab.lessee else "other"
