"""Port: registered hosts in the database; errors as in :mod:`blazar.ports.store`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.paging import Page
from blazar.domain.plugin_resources import ResourceProperty
from blazar.domain.providers import HostProvider
from blazar.plugins.hosts.host import Host
from blazar.ports.store import StoreKey


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFilter:
    """Conditions on the hosts of a list; None for no condition."""

    hypervisor_hostname: str | None = None
    availability_zone: str | None = None
    is_reservable: bool | None = None


class HostStore(Protocol):
    """Registered hosts and the properties of their capabilities."""

    def find(self, host_id: str) -> Host | None:
        """Return a host, or None."""

    def find_by_hostname(self, hypervisor_hostname: str) -> Host | None:
        """Return the host with this hypervisor host name, or None."""

    def has_service(self, service_name: str) -> bool:
        """Return whether a host of this compute service is registered."""

    def list(self) -> tuple[Host, ...]:
        """Return all hosts, oldest first, with capabilities but without providers."""

    def list_page(self, which: HostFilter, page: Page) -> Sequence[ResourceId]:
        """Return the ids of a page of hosts. Raises InvalidParameter if the marker is unknown."""

    def get_many(self, host_ids: Collection[ResourceId]) -> tuple[Host, ...]:
        """Return these hosts, with capabilities but without providers; hosts that are gone are omitted."""

    def list_providers(self) -> Mapping[ResourceId, tuple[HostProvider, ...]]:
        """Return the providers of all hosts, roots first; hosts without providers are omitted."""

    def insert(self, host: Host) -> None:
        """Add a host. Raises HostAlreadyRegistered."""

    def insert_many(self, hosts: Sequence[Host]) -> None:
        """Add many hosts whose properties already exist, in a few statements."""

    def insert_properties(self, properties: Sequence[ResourceProperty]) -> None:
        """Add properties that no host has yet."""

    def all_properties(self) -> tuple[ResourceProperty, ...]:
        """Return all properties, including those that no host has."""

    def update(self, host: Host, capabilities: Mapping[str, str | None], at: datetime) -> None:
        """Replace what Nova and Placement report of a host: its details and its providers.

        Also set these capabilities, as :meth:`set_capabilities`; others are kept.
        """

    def set_capabilities(self, host_id: ResourceId, changes: Mapping[str, str | None], at: datetime) -> None:
        """Set capabilities and create missing properties as public; None removes a capability."""

    def delete(self, host_id: ResourceId) -> None:
        """Delete a host."""

    def list_properties(self) -> tuple[tuple[ResourceProperty, tuple[str, ...]], ...]:
        """Return each property that any host has, with its distinct values, ordered by name."""

    def find_property(self, name: str) -> ResourceProperty | None:
        """Return a property, or None."""

    def set_property_private(self, name: str, is_private: bool, at: datetime) -> None:
        """Make a property private or public."""

    def reservations_on(self, host_id: ResourceId) -> tuple[tuple[ReservationId, str, object], ...]:
        """Return (id, resource type, spec) of every reservation that holds the host."""


HOST_STORE: Final[StoreKey[HostStore]] = StoreKey("host")
