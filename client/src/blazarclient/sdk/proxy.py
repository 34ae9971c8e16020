"""Methods of ``conn.reservation``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from openstack import exceptions, resource

from blazarclient.sdk.base_resource import reason
from blazarclient.sdk.queries import QueriesProxy
from blazarclient.sdk.resources import (
    Allocation,
    Feed,
    FloatingIP,
    Host,
    Lease,
    Maintenance,
    Network,
    NetworkAllocation,
    NetworkProperty,
    ResourceProperty,
    StoragePool,
    StoragePoolAllocation,
    StoragePoolProperty,
    Subscription,
)


class Proxy(QueriesProxy):
    """Proxy of the reservation service.

    A resource may be passed as an object or by its id, unless a method says otherwise. Errors are those
    of openstacksdk.
    """

    api_version = "1"

    def leases(self, **query: Any) -> Iterator[Lease]:
        """Yield the leases that the user can see and that match the attributes in *query*."""
        found: Iterator[Lease] = self._list(Lease, **query)
        return found

    def get_lease(self, lease: str | Lease) -> Lease:
        """Return a lease."""
        found: Lease = self._get(Lease, lease)
        return found

    def find_lease(self, name_or_id: str, ignore_missing: bool = True) -> Lease | None:
        """Return the lease with a name or id; None if none has it and *ignore_missing* is true."""
        return self._find(Lease, name_or_id, ignore_missing=ignore_missing)

    def create_lease(self, **attrs: Any) -> Lease:
        """Create a lease; ``name``, ``start_date``, ``end_date`` and ``reservations`` are required."""
        created: Lease = self._create(Lease, **attrs)
        return created

    def update_lease(self, lease: str | Lease, **attrs: Any) -> Lease:
        """Change attributes of a lease and return it."""
        changed: Lease = self._update(Lease, lease, **attrs)
        return changed

    def delete_lease(self, lease: str | Lease, ignore_missing: bool = True) -> None:
        """End a lease and delete it."""
        self._delete(Lease, lease, ignore_missing=ignore_missing)

    def wait_for_lease(
        self, lease: Lease, status: str = "ACTIVE", interval: float = 2, wait: float = 600
    ) -> Lease:
        """Wait until the lease has a status, and return it.

        Args:
            lease: The lease.
            status: Status to wait for.
            interval: Seconds between requests.
            wait: Timeout in seconds.

        Raises:
            ResourceFailure: The lease is in ERROR.
            ResourceTimeout: The lease did not reach the status within the timeout.
        """
        found: Lease = resource.wait_for_status(self, lease, status, ["ERROR"], interval, wait)
        return found

    def wait_for_delete(self, lease: Lease, interval: float = 2, wait: float = 600) -> Lease:
        """Wait until a deleted lease no longer exists; its active reservations end first.

        Args:
            lease: The lease.
            interval: Seconds between requests.
            wait: Timeout in seconds.

        Raises:
            ResourceTimeout: The lease still exists after the timeout.
        """
        gone: Lease = resource.wait_for_delete(self, lease, interval, wait)
        return gone

    def hosts(self, **query: Any) -> Iterator[Host]:
        """Yield the hosts that match the attributes in *query*."""
        found: Iterator[Host] = self._list(Host, **query)
        return found

    def get_host(self, host: str | Host) -> Host:
        """Return a host."""
        found: Host = self._get(Host, host)
        return found

    def find_host(self, name_or_id: str, ignore_missing: bool = True) -> Host | None:
        """Return the host with a host name or id; None if none has it and *ignore_missing* is true."""
        return self._find(Host, name_or_id, ignore_missing=ignore_missing)

    def create_host(self, name: str, **extra_capabilities: Any) -> Host:
        """Register a hypervisor as a host and return it."""
        created: Host = self._create(Host, name=name, **extra_capabilities)
        return created

    def update_host(self, host: str | Host, **extra_capabilities: Any) -> Host:
        """Set extra capabilities of a host and return it; the value None removes a capability."""
        changed: Host = self._update(Host, host, **extra_capabilities)
        return changed

    def delete_host(self, host: str | Host, ignore_missing: bool = True) -> None:
        """Unregister a host, so that it can no longer be reserved."""
        self._delete(Host, host, ignore_missing=ignore_missing)

    def floating_ips(self, **query: Any) -> Iterator[FloatingIP]:
        """Yield the floating IPs that match the attributes in *query*."""
        found: Iterator[FloatingIP] = self._list(FloatingIP, **query)
        return found

    def get_floating_ip(self, floating_ip: str | FloatingIP) -> FloatingIP:
        """Return a floating IP."""
        found: FloatingIP = self._get(FloatingIP, floating_ip)
        return found

    def create_floating_ip(self, floating_network_id: str, floating_ip_address: str) -> FloatingIP:
        """Register an address of an external network as a floating IP and return it."""
        created: FloatingIP = self._create(
            FloatingIP, floating_network_id=floating_network_id, floating_ip_address=floating_ip_address
        )
        return created

    def delete_floating_ip(self, floating_ip: str | FloatingIP, ignore_missing: bool = True) -> None:
        """Unregister a floating IP, so that it can no longer be reserved."""
        self._delete(FloatingIP, floating_ip, ignore_missing=ignore_missing)

    def feeds(self, **query: Any) -> Iterator[Feed]:
        """Yield the feeds that match the attributes in *query*; needs API version 1.1."""
        found: Iterator[Feed] = self._list(Feed, **query)
        return found

    def get_feed(self, feed: str | Feed) -> Feed:
        """Return a feed, without its address."""
        found: Feed = self._get(Feed, feed)
        return found

    def create_feed(self, **attributes: Any) -> Feed:
        """Create a feed and return it, with the address of its calendar.

        Args:
            attributes: ``kind``, and those of :class:`Feed` that the kind has.
        """
        created: Feed = self._create(Feed, **attributes)
        return created

    def delete_feed(self, feed: str | Feed, ignore_missing: bool = True) -> None:
        """Delete a feed; its calendar can no longer be read."""
        self._delete(Feed, feed, ignore_missing=ignore_missing)

    def maintenances(self, **query: Any) -> Iterator[Maintenance]:
        """Yield the maintenances that match the attributes in *query*; needs API version 1.1."""
        found: Iterator[Maintenance] = self._list(Maintenance, **query)
        return found

    def get_maintenance(self, maintenance: str | Maintenance) -> Maintenance:
        """Return a maintenance, with the resources that leases hold."""
        found: Maintenance = self._get(Maintenance, maintenance)
        return found

    def create_maintenance(self, **attributes: Any) -> Maintenance:
        """Keep leases away from resources, and return the maintenance with its effects on leases.

        Args:
            attributes: ``resources``, ``filter`` or ``aggregate``, and those of :class:`Maintenance`.
        """
        created: Maintenance = self._create(Maintenance, **attributes)
        return created

    def update_maintenance(self, maintenance: str | Maintenance, **attributes: Any) -> Maintenance:
        """Change ``end_date`` or ``reason``, or take ``remove_resources`` out, and return the maintenance."""
        changed: Maintenance = self._update(Maintenance, maintenance, **attributes)
        return changed

    def delete_maintenance(self, maintenance: str | Maintenance, ignore_missing: bool = True) -> None:
        """End a maintenance, and delete it."""
        self._delete(Maintenance, maintenance, ignore_missing=ignore_missing)

    def subscriptions(self, **query: Any) -> Iterator[Subscription]:
        """Yield the subscriptions to notices that match the attributes in *query*; needs API version 1.1."""
        found: Iterator[Subscription] = self._list(Subscription, **query)
        return found

    def get_subscription(self, subscription: str | Subscription) -> Subscription:
        """Return a subscription, with the reason if nothing can be delivered."""
        found: Subscription = self._get(Subscription, subscription)
        return found

    def create_subscription(self, **attributes: Any) -> Subscription:
        """Subscribe to notices, and return the subscription; that of a webhook with its ``secret``."""
        created: Subscription = self._create(Subscription, **attributes)
        return created

    def update_subscription(self, subscription: str | Subscription, **attributes: Any) -> Subscription:
        """Change, enable, disable or confirm a subscription, and return it."""
        changed: Subscription = self._update(Subscription, subscription, **attributes)
        return changed

    def delete_subscription(self, subscription: str | Subscription, ignore_missing: bool = True) -> None:
        """Delete a subscription with its undelivered notices."""
        self._delete(Subscription, subscription, ignore_missing=ignore_missing)

    def networks(self, **query: Any) -> Iterator[Network]:
        """Yield the network segments that match the attributes in *query*."""
        found: Iterator[Network] = self._list(Network, **query)
        return found

    def get_network(self, network: str | Network) -> Network:
        """Return a network segment."""
        found: Network = self._get(Network, network)
        return found

    def create_network(self, network_type: str, **attributes: Any) -> Network:
        """Register a network segment and return it.

        Args:
            network_type: ``vlan``, ``vxlan`` or ``flat``.
            attributes: ``physical_network``, not for ``vxlan``; ``segment_id``, not for ``flat``; and extra
                capabilities.
        """
        created: Network = self._create(Network, network_type=network_type, **attributes)
        return created

    def create_networks(self, network_type: str, segment_ids: str, **attributes: Any) -> list[Network]:
        """Register all network segments of a range, or none, and return them.

        Args:
            network_type: ``vlan`` or ``vxlan``.
            segment_ids: The first and the last id, as in ``201-240``.
            attributes: ``physical_network``, not for ``vxlan``, and extra capabilities.
        """
        body = {"network_type": network_type, "segment_id": segment_ids, **attributes}
        response = self.post("/networks", json=body)
        exceptions.raise_from_response(response, error_message=reason(response))
        return [Network.existing(**each) for each in response.json()["networks"]]

    def update_network(self, network: str | Network, **extra_capabilities: Any) -> Network:
        """Change a network segment that is not reserved and return it; None removes an extra capability."""
        changed: Network = self._update(Network, network, **extra_capabilities)
        return changed

    def delete_network(self, network: str | Network, ignore_missing: bool = True) -> None:
        """Unregister a network segment, so that it can no longer be reserved."""
        self._delete(Network, network, ignore_missing=ignore_missing)

    def network_allocations(self, **query: Any) -> Iterator[NetworkAllocation]:
        """Yield the allocations of each network segment; filters are those of :meth:`allocations`."""
        found: Iterator[NetworkAllocation] = self._list(NetworkAllocation, **query)
        return found

    def network_properties(self, **query: Any) -> Iterator[NetworkProperty]:
        """Yield the properties of network segments; ``all=True`` includes private properties."""
        found: Iterator[NetworkProperty] = self._list(NetworkProperty, detail=True, **query)
        return found

    def update_network_property(self, name: str, is_private: bool) -> NetworkProperty:
        """Make a property of network segments private or public and return it."""
        changed: NetworkProperty = self._update(NetworkProperty, name, is_private=is_private)
        return changed

    def storage_pools(self, **query: Any) -> Iterator[StoragePool]:
        """Yield the storage pools that match the attributes in *query*; needs API version 1.1."""
        found: Iterator[StoragePool] = self._list(StoragePool, **query)
        return found

    def get_storage_pool(self, storage_pool: str | StoragePool) -> StoragePool:
        """Return a storage pool."""
        found: StoragePool = self._get(StoragePool, storage_pool)
        return found

    def create_storage_pool(self, name: str, **attributes: Any) -> StoragePool:
        """Register a pool of Cinder and return it.

        Args:
            name: The name of the pool, ``host@backend#pool``.
            attributes: ``gibibytes``, the capacity that can be reserved, and extra capabilities.
        """
        created: StoragePool = self._create(StoragePool, name=name, **attributes)
        return created

    def update_storage_pool(self, storage_pool: str | StoragePool, **attributes: Any) -> StoragePool:
        """Change a storage pool that is not reserved and return it; None removes an extra capability."""
        changed: StoragePool = self._update(StoragePool, storage_pool, **attributes)
        return changed

    def delete_storage_pool(self, storage_pool: str | StoragePool, ignore_missing: bool = True) -> None:
        """Unregister a storage pool, so that it can no longer be reserved."""
        self._delete(StoragePool, storage_pool, ignore_missing=ignore_missing)

    def storage_pool_allocations(self, **query: Any) -> Iterator[StoragePoolAllocation]:
        """Yield the allocations of each storage pool; filters are those of :meth:`allocations`."""
        found: Iterator[StoragePoolAllocation] = self._list(StoragePoolAllocation, **query)
        return found

    def storage_pool_properties(self, **query: Any) -> Iterator[StoragePoolProperty]:
        """Yield the properties of storage pools; ``all=True`` includes private properties."""
        found: Iterator[StoragePoolProperty] = self._list(StoragePoolProperty, detail=True, **query)
        return found

    def update_storage_pool_property(self, name: str, is_private: bool) -> StoragePoolProperty:
        """Make a property of storage pools private or public and return it."""
        changed: StoragePoolProperty = self._update(StoragePoolProperty, name, is_private=is_private)
        return changed

    def allocations(self, **query: Any) -> Iterator[Allocation]:
        """Yield the allocations of each host; ``lease_id`` and ``reservation_id`` filter them."""
        found: Iterator[Allocation] = self._list(Allocation, **query)
        return found

    def get_allocation(self, host: str | Host) -> Allocation:
        """Return the allocations of a host."""
        response = self.get(f"/os-hosts/{Host._get_id(host)}/allocation")
        exceptions.raise_from_response(response)
        return Allocation.existing(**response.json()["allocation"])

    def resource_properties(self, **query: Any) -> Iterator[ResourceProperty]:
        """Yield the resource properties of hosts; ``all=True`` includes private properties."""
        found: Iterator[ResourceProperty] = self._list(ResourceProperty, detail=True, **query)
        return found

    def update_resource_property(self, name: str, is_private: bool) -> ResourceProperty:
        """Make a resource property private or public and return it."""
        changed: ResourceProperty = self._update(ResourceProperty, name, is_private=is_private)
        return changed
