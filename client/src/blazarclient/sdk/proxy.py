"""The methods of ``conn.reservation``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from openstack import exceptions, resource
from openstack import proxy as sdk_proxy

from blazarclient.sdk.resources import Allocation, FloatingIP, Host, Lease, ResourceProperty


class Proxy(sdk_proxy.Proxy):
    """Everything that the reservation service offers.

    What is expected may be a resource or its id, where nothing else is said. Errors are openstacksdk's.
    """

    api_version = "1"

    def leases(self, **query: Any) -> Iterator[Lease]:
        """Yield all leases that the caller may see, those that fit the attributes in *query*."""
        found: Iterator[Lease] = self._list(Lease, **query)
        return found

    def get_lease(self, lease: str | Lease) -> Lease:
        """Return a lease."""
        found: Lease = self._get(Lease, lease)
        return found

    def find_lease(self, name_or_id: str, ignore_missing: bool = True) -> Lease | None:
        """Return the lease of that name or id; None if there is none and *ignore_missing*."""
        return self._find(Lease, name_or_id, ignore_missing=ignore_missing)

    def create_lease(self, **attrs: Any) -> Lease:
        """Return a new lease; ``name``, ``start_date``, ``end_date`` and ``reservations`` are needed."""
        created: Lease = self._create(Lease, **attrs)
        return created

    def update_lease(self, lease: str | Lease, **attrs: Any) -> Lease:
        """Return the lease after these attributes were changed."""
        changed: Lease = self._update(Lease, lease, **attrs)
        return changed

    def delete_lease(self, lease: str | Lease, ignore_missing: bool = True) -> None:
        """End a lease and delete it."""
        self._delete(Lease, lease, ignore_missing=ignore_missing)

    def wait_for_lease(
        self, lease: Lease, status: str = "ACTIVE", interval: float = 2, wait: float = 600
    ) -> Lease:
        """Return the lease when it has that status.

        Args:
            lease: Which lease.
            status: What to wait for.
            interval: Seconds between looks.
            wait: For how many seconds at most.

        Raises:
            ResourceFailure: It is in ERROR.
            ResourceTimeout: It has not come to that in time.
        """
        found: Lease = resource.wait_for_status(self, lease, status, ["ERROR"], interval, wait)
        return found

    def wait_for_delete(self, lease: Lease, interval: float = 2, wait: float = 600) -> Lease:
        """Return a lease that was deleted when it is gone; what is active is taken back first.

        Args:
            lease: Which lease.
            interval: Seconds between looks.
            wait: For how many seconds at most.

        Raises:
            ResourceTimeout: It is still there.
        """
        gone: Lease = resource.wait_for_delete(self, lease, interval, wait)
        return gone

    def hosts(self, **query: Any) -> Iterator[Host]:
        """Yield all hosts, those that fit the attributes in *query*."""
        found: Iterator[Host] = self._list(Host, **query)
        return found

    def get_host(self, host: str | Host) -> Host:
        """Return a host."""
        found: Host = self._get(Host, host)
        return found

    def find_host(self, name_or_id: str, ignore_missing: bool = True) -> Host | None:
        """Return the host of that hypervisor name or id; None if there is none and *ignore_missing*."""
        return self._find(Host, name_or_id, ignore_missing=ignore_missing)

    def create_host(self, name: str, **extra_capabilities: Any) -> Host:
        """Return a hypervisor, registered as a host."""
        created: Host = self._create(Host, name=name, **extra_capabilities)
        return created

    def update_host(self, host: str | Host, **extra_capabilities: Any) -> Host:
        """Return the host after these extra capabilities were set; None removes one."""
        changed: Host = self._update(Host, host, **extra_capabilities)
        return changed

    def delete_host(self, host: str | Host, ignore_missing: bool = True) -> None:
        """Give a host back to ordinary use."""
        self._delete(Host, host, ignore_missing=ignore_missing)

    def floating_ips(self, **query: Any) -> Iterator[FloatingIP]:
        """Yield all floating IPs, those that fit the attributes in *query*."""
        found: Iterator[FloatingIP] = self._list(FloatingIP, **query)
        return found

    def get_floating_ip(self, floating_ip: str | FloatingIP) -> FloatingIP:
        """Return a floating IP."""
        found: FloatingIP = self._get(FloatingIP, floating_ip)
        return found

    def create_floating_ip(self, floating_network_id: str, floating_ip_address: str) -> FloatingIP:
        """Return an address of an external network, registered as a floating IP."""
        created: FloatingIP = self._create(
            FloatingIP, floating_network_id=floating_network_id, floating_ip_address=floating_ip_address
        )
        return created

    def delete_floating_ip(self, floating_ip: str | FloatingIP, ignore_missing: bool = True) -> None:
        """Take a floating IP out of the service's hands."""
        self._delete(FloatingIP, floating_ip, ignore_missing=ignore_missing)

    def allocations(self, **query: Any) -> Iterator[Allocation]:
        """Yield what each host is allocated to; ``lease_id`` and ``reservation_id`` narrow it down."""
        found: Iterator[Allocation] = self._list(Allocation, **query)
        return found

    def get_allocation(self, host: str | Host) -> Allocation:
        """Return what one host is allocated to."""
        response = self.get(f"/os-hosts/{Host._get_id(host)}/allocation")
        exceptions.raise_from_response(response)
        return Allocation.existing(**response.json()["allocation"])

    def resource_properties(self, **query: Any) -> Iterator[ResourceProperty]:
        """Yield the properties that hosts have; ``all=True`` yields private ones, too."""
        found: Iterator[ResourceProperty] = self._list(ResourceProperty, detail=True, **query)
        return found

    def update_resource_property(self, name: str, is_private: bool) -> ResourceProperty:
        """Return a resource property after it was made private or public."""
        changed: ResourceProperty = self._update(ResourceProperty, name, is_private=is_private)
        return changed
