"""Users of the lab, who boot servers and reserve hosts with the ordinary clients."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from keystoneauth1.exceptions import RetriableConnectionFailure

from blazarclient.client import Client
from blazarclient.exception import BlazarClientException
from cloudlab.errors import LabError
from cloudlab.lab import OpenStackLab
from cloudlab.plan import REGION
from cloudlab.waiting import wait_until

MICROVERSION = "2.65"
SECONDS_TO_BOOT = 60
SECONDS_TO_START = 60
LARGE_MEMORY_MB = 300_000
"""Size of an instance: two fit on a host of the lab, three do not."""

Json = dict[str, Any]


class Actor:
    """A user of the cloud, named as in ``details.accounts``."""

    def __init__(self, openstack: OpenStackLab, account: str) -> None:
        self.openstack = openstack
        self.project_id = openstack.details.accounts[account].project_id
        self.compute = openstack.api("compute", account)
        self.images = openstack.api("image", account)
        self.reservations = openstack.api("reservation", account)
        self.blazar = Client(session=openstack.session(account), interface="public", region_name=REGION)

    # Servers.

    def boot(
        self,
        *,
        reservation: str | None = None,
        forced_host: str | None = None,
        flavor_id: str | None = None,
        network_id: str | None = None,
    ) -> str:
        """Return the id of a new server.

        Args:
            reservation: The scheduler hint.
            forced_host: A host that an administrator forces, without any filters.
            flavor_id: A flavor; by default, the lab's ordinary one.
            network_id: The network of its only port; by default, it has none.
        """
        server = self._new_server(flavor_id)
        if network_id:
            server["networks"] = [{"uuid": network_id}]
        if forced_host:
            server["availability_zone"] = f"nova:{forced_host}"
        body: Json = {"server": server}
        if reservation:
            body["os:scheduler_hints"] = {"reservation": reservation}
        answer = self.compute.post("/servers", json=body, microversion=MICROVERSION)
        return str(answer.json()["server"]["id"])

    def boot_many(self, count: int, flavor_id: str, *, group_id: str | None = None) -> list[str]:
        """Return the ids of new servers, created with one request.

        They are therefore placed one after the other. Placement 16 gives the last unit of an inventory to two
        concurrent requests: it retries with the new generation, but the old usage.

        Args:
            count: The number of servers.
            flavor_id: Their flavor.
            group_id: Their server group, as a scheduler hint.
        """
        server = self._new_server(flavor_id)
        wanted = {"min_count": count, "max_count": count, "return_reservation_id": True}
        body: Json = {"server": {**server, **wanted}}
        if group_id:
            body["os:scheduler_hints"] = {"group": group_id}
        request = self.compute.post("/servers", json=body, microversion=MICROVERSION).json()
        found = self.compute.get("/servers", params=request, microversion=MICROVERSION).json()["servers"]
        return [str(each["id"]) for each in found]

    def _new_server(self, flavor_id: str | None) -> Json:
        return {
            "name": f"server-{uuid.uuid4().hex[:8]}",
            "flavorRef": flavor_id or self.openstack.details.flavor_id,
            "imageRef": self.openstack.details.image_id,
            "networks": "none",
        }

    def server(self, server_id: str) -> Json | None:
        """Return a server, or None if it no longer exists."""
        answer = self.compute.get(f"/servers/{server_id}", microversion=MICROVERSION, raise_exc=False)
        if answer.status_code == 404:
            return None
        answer.raise_for_status()
        return dict(answer.json()["server"])

    def wait_for_server(self, server_id: str) -> str:
        """Return the status of a server after it has become ACTIVE or ERROR."""
        wait_until(
            lambda: (self.server(server_id) or {}).get("status") in ("ACTIVE", "ERROR"),
            f"server {server_id} is placed",
            seconds=SECONDS_TO_BOOT,
        )
        return str((self.server(server_id) or {})["status"])

    def interfaces(self, server_id: str) -> list[Json]:
        """Return the ports of a server."""
        return list(self.compute.get(f"/servers/{server_id}/os-interface").json()["interfaceAttachments"])

    def is_gone(self, server_id: str) -> bool:
        """Return whether a server no longer exists."""
        return self.server(server_id) is None

    def delete_server(self, server_id: str) -> None:
        """Delete a server and wait until it is gone."""
        self.compute.delete(f"/servers/{server_id}", raise_exc=False)
        wait_until(lambda: self.is_gone(server_id), f"server {server_id} goes", seconds=SECONDS_TO_BOOT)

    def flavors(self) -> set[str]:
        """Return the ids of the flavors in this user's list."""
        return {str(each["id"]) for each in self.compute.get("/flavors").json()["flavors"]}

    # Leases.

    def reserve(
        self,
        hosts: int = 1,
        *,
        start: str | datetime = "now",
        end: datetime | None = None,
        before_end_date: datetime | None = None,
        **keys: object,
    ) -> Json:
        """Return a new lease for hosts, by default for an hour from now.

        Args:
            hosts: The number of hosts.
            start: The start.
            end: The end.
            before_end_date: The time of the before-end action.
            **keys: Further keys of the reservation.
        """
        reservation = {
            "resource_type": "physical:host",
            "min": hosts,
            "max": hosts,
            "hypervisor_properties": "",
            "resource_properties": "",
            **keys,
        }
        return self.create_lease(reservation, start, end, before_end_date)

    def reserve_instances(
        self,
        amount: object,
        *,
        start: str | datetime = "now",
        end: datetime | None = None,
        **keys: object,
    ) -> Json:
        """Return a new lease for instances, of which two fit on a host, by default until an hour from now.

        Args:
            amount: The number of instances.
            start: The start.
            end: The end.
            **keys: Further keys of the reservation.
        """
        reservation = {
            "resource_type": "virtual:instance",
            "vcpus": 1,
            "memory_mb": LARGE_MEMORY_MB,
            "disk_gb": 1,
            "amount": amount,
            "affinity": None,
            "resource_properties": "",
            **keys,
        }
        return self.create_lease(reservation, start, end)

    def reserve_flavor(self, flavor_id: object, amount: object, **keys: object) -> Json:
        """Return a new lease for instances of a flavor, for an hour from now.

        Args:
            flavor_id: The flavor.
            amount: The number of instances.
            **keys: Further keys of the reservation.
        """
        reservation = {
            "resource_type": "flavor:instance",
            "flavor_id": flavor_id,
            "amount": amount,
            "affinity": None,
            **keys,
        }
        return self.create_lease(reservation, "now")

    def reserve_floatingips(
        self, amount: object, *required: str, start: str | datetime = "now", end: datetime | None = None
    ) -> Json:
        """Return a new lease for floating IPs of the lab's network, by default for an hour from now.

        Args:
            amount: The number of floating IPs.
            *required: Addresses that the lease must include.
            start: The start.
            end: The end.
        """
        reservation = {
            "resource_type": "virtual:floatingip",
            "network_id": self.openstack.details.network_id,
            "amount": amount,
            "required_floatingips": list(required),
        }
        return self.create_lease(reservation, start, end)

    def create_lease(
        self,
        reservation: Json,
        start: str | datetime = "now",
        end: datetime | None = None,
        before_end_date: datetime | None = None,
    ) -> Json:
        """Return a new lease with one reservation, by default for an hour from now."""
        name = f"lease-{uuid.uuid4().hex[:8]}"
        end = end or in_minutes(60)
        return dict(self.blazar.lease.create(name, start, end, [reservation], [], before_end=before_end_date))

    def lease(self, lease_id: str) -> Json | None:
        """Return a lease, or None if it no longer exists."""
        return next((dict(each) for each in self.blazar.lease.list() if each["id"] == lease_id), None)

    def status(self, lease: Mapping[str, Any]) -> str:
        """Return the status of a lease, or GONE."""
        found = self.lease(lease["id"])
        return str(found["status"]) if found else "GONE"

    def wait_for_lease(
        self,
        lease: Mapping[str, Any],
        status: str,
        seconds: float = SECONDS_TO_START,
        *,
        despite_outages: bool = False,
    ) -> None:
        """Return as soon as a lease has a status, which may be GONE.

        Args:
            lease: The lease.
            status: The expected status.
            seconds: The timeout.
            despite_outages: Whether to retry if the service responds with 503 or does not respond.
        """

        def has_status() -> bool:
            try:
                return self.status(lease) == status
            except BlazarClientException as error:
                if despite_outages and error.code == 503:
                    return False
                raise
            except RetriableConnectionFailure:
                # These include timeouts.
                if despite_outages:
                    return False
                raise

        wait_until(
            has_status,
            f"lease {lease['id']} is {status}",
            seconds=seconds,
            explain=lambda: json.dumps(self.lease(lease["id"]), indent=2),
        )

    def start(self, hosts: int = 1, **keys: Any) -> Json:
        """Return a lease that has started."""
        lease = self.reserve(hosts, **keys)
        self.wait_for_lease(lease, "ACTIVE")
        return lease

    def end_now(self, lease: Mapping[str, Any], seconds: float = 60) -> None:
        """Move a lease's end to this minute, and wait for the end."""
        self.reservations.put(f"/leases/{lease['id']}", json={"end_date": "now"})
        self.wait_for_lease(lease, "TERMINATED", seconds=seconds)

    def end(self, lease: Mapping[str, Any]) -> None:
        """Delete a lease and wait until it is gone."""
        self.blazar.lease.delete(lease["id"])
        self.wait_for_lease(lease, "GONE")


class Operator(Actor):
    """The administrator, who sees all objects."""

    def __init__(self, openstack: OpenStackLab) -> None:
        super().__init__(openstack, "admin")
        self.placement = openstack.api("placement")
        self.networks = openstack.api("network")
        self.volumes = openstack.api("block-storage")

    def floating_ips(self) -> list[Json]:
        """Return the floating IPs of all projects in Neutron."""
        return list(self.networks.get("/v2.0/floatingips").json()["floatingips"])

    def private_volume_types(self) -> list[str]:
        """Return the names of the volume types that only some projects may use."""
        found = self.volumes.get("/types", params={"is_public": "None"}).json()["volume_types"]
        return [each["name"] for each in found if not each["is_public"]]

    def aggregates(self) -> dict[str, Json]:
        """Return all aggregates by name."""
        found = self.compute.get("/os-aggregates").json()["aggregates"]
        return {each["name"]: each for each in found}

    def freepool(self) -> Json:
        """Return the freepool."""
        return self.aggregates()[self.openstack.details.freepool]

    def hosts_of(self, lease: Mapping[str, Any]) -> set[str]:
        """Return the hosts in the aggregates of a lease's reservations."""
        aggregates = self.aggregates()
        names = [each["id"] for each in lease["reservations"]]
        return {host for name in names if name in aggregates for host in aggregates[name]["hosts"]}

    def booked(self, lease: Mapping[str, Any]) -> set[str]:
        """Return the hosts reserved for a lease, by hypervisor host name."""
        answer = self.reservations.get("/os-hosts/allocations", params={"lease_id": lease["id"]})
        held = {each["resource_id"] for each in answer.json()["allocations"] if each["reservations"]}
        return {name for name, each in self.registered().items() if each["id"] in held}

    def host_of_server(self, server_id: str) -> str | None:
        """Return the host of a server."""
        return (self.server(server_id) or {}).get("OS-EXT-SRV-ATTR:host")

    def servers(self) -> list[Json]:
        """Return the servers of all projects."""
        answer = self.compute.get("/servers/detail", params={"all_tenants": "1"}, microversion=MICROVERSION)
        return list(answer.json()["servers"])

    def provider(self, name: str) -> Json | None:
        """Return the resource provider with exactly this name, or None."""
        answer = self.placement.get("/resource_providers", params={"name": name}, microversion="1.29")
        return next(iter(answer.json()["resource_providers"]), None)

    def registered(self) -> dict[str, Json]:
        """Return the registered hosts, by hypervisor host name."""
        return {each["hypervisor_hostname"]: dict(each) for each in self.blazar.host.list()}


def in_minutes(minutes: float) -> datetime:
    """Return the full minute this number of minutes ahead, or the one before it."""
    return (datetime.now(UTC) + timedelta(minutes=minutes)).replace(second=0, microsecond=0)  # noqa: TID251


def soon(seconds: float = 15) -> datetime:
    """Return the next full minute that is more than this number of seconds ahead."""
    next_one = in_minutes(1)
    return next_one if (next_one - datetime.now(UTC)).total_seconds() > seconds else in_minutes(2)  # noqa: TID251


def only(host: str) -> str:
    """Return the requirement that selects this host."""
    return json.dumps(["==", "$hypervisor_hostname", host])


def reservation_of(lease: Mapping[str, Any]) -> str:
    """Return the id of the only reservation of a lease."""
    (reservation,) = lease["reservations"]
    return str(reservation["id"])


def must(found: Json | None) -> Json:
    """Return a value that was found. Raises LabError if it is None."""
    if found is None:
        raise LabError("it is gone")
    return found
