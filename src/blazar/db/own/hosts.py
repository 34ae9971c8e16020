"""Registered hosts and the properties of their capabilities."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa
from oslo_db.exception import DBDuplicateEntry

from blazar.db.changes import note_changes
from blazar.db.columns import read_object
from blazar.db.connection import Connection
from blazar.db.health import read_diagnosis, resource_filters, resource_row
from blazar.db.own.host_providers import delete_providers, insert_providers, select_providers
from blazar.db.own_table import OwnTable
from blazar.db.pages import Listing, select_page
from blazar.db.parts import Parts
from blazar.db.tables import (
    allocations,
    host_capabilities,
    hosts,
    reservations,
    resource_properties,
    resources,
)
from blazar.db.usage_records import record_facts
from blazar.domain.availability import Resource
from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.paging import Page
from blazar.domain.plugin_resources import ResourceProperty
from blazar.domain.providers import HostProvider
from blazar.plugins.hosts.errors import HostAlreadyRegistered
from blazar.plugins.hosts.host import HOST_DETAILS, Host
from blazar.plugins.hosts.store import HostFilter, HostStore

RESOURCE_TYPE = "physical:host"
COLLECTION = "host"


def select_hosts(connection: Connection, host_ids: Collection[ResourceId] | None = None) -> tuple[Host, ...]:
    """Return these hosts, or all, with their capabilities, in two statements.

    The first statement reads the generations: if another transaction changes a host before the second one,
    the returned generation is too old, and a claim that relies on the capabilities is refused.
    """
    query = sa.select(hosts, resources.c.generation, resources.c.health, resources.c.problem).join(
        resources, resources.c.id == hosts.c.id
    )
    capabilities = sa.select(
        host_capabilities.c.host_id, resource_properties.c.name, host_capabilities.c.value
    ).join(resource_properties, resource_properties.c.id == host_capabilities.c.property_id)
    if host_ids is not None:
        query = query.where(hosts.c.id.in_(list(host_ids)))
        capabilities = capabilities.where(host_capabilities.c.host_id.in_(list(host_ids)))
    rows = connection.execute(query.order_by(hosts.c.created_at, hosts.c.id)).all()
    capabilities_of: dict[str, dict[str, str]] = defaultdict(dict)
    for host_id, name, value in connection.execute(capabilities):
        capabilities_of[host_id][name] = value
    return tuple(_host(dict(row._mapping), capabilities_of.get(row.id, {})) for row in rows)


def read_resources(connection: Connection, host_ids: Collection[ResourceId] | None) -> tuple[Resource, ...]:
    """Return these hosts, or all, with their facts and providers, for searches."""
    found = select_hosts(connection, host_ids)
    # After the generations, for the same reason as the capabilities.
    providers = select_providers(connection, host_ids)
    return tuple(replace(each, providers=providers.get(each.id, ())).as_resource() for each in found)


class SqlHosts:
    """Implements :class:`blazar.plugins.hosts.store.HostStore`."""

    def __init__(self, parts: Parts) -> None:
        self._connection = parts.connection
        self._clock = parts.clock
        self._specs = parts.specs
        self._first_number = parts.first_number

    def find(self, host_id: str) -> Host | None:
        """Return a host, or None."""
        found = select_hosts(self._connection, [ResourceId(host_id)])
        return found[0] if found else None

    def find_by_hostname(self, hypervisor_hostname: str) -> Host | None:
        """Return the host with this hypervisor host name, or None."""
        query = sa.select(hosts.c.id).where(hosts.c.hypervisor_hostname == hypervisor_hostname)
        host_id = self._connection.scalar(query)
        return self.find(host_id) if host_id is not None else None

    def has_service(self, service_name: str) -> bool:
        """Return whether a host of this compute service is registered."""
        query = sa.select(hosts.c.id).where(hosts.c.service_name == service_name).limit(1)
        return self._connection.scalar(query) is not None

    def list(self) -> tuple[Host, ...]:
        """Return all hosts, oldest first, without providers."""
        return select_hosts(self._connection)

    def list_page(self, which: HostFilter, page: Page) -> Sequence[ResourceId]:
        """Return the ids of a page of hosts. Raises InvalidParameter if the marker is unknown."""
        equal = {
            hosts.c.hypervisor_hostname: which.hypervisor_hostname,
            hosts.c.availability_zone: which.availability_zone,
        }
        filters = resource_filters(hosts.c.id, equal, which.is_reservable)
        columns = {key: hosts.c[key] for key in ("created_at", "hypervisor_hostname", "id")}
        indexes = {"created_at": "ix_hosts_created_at_id"}
        listing = Listing(columns=columns, filters=filters, indexes=indexes)
        found = select_page(self._connection, listing, page)
        return [ResourceId(each) for each in found]

    def get_many(self, host_ids: Collection[ResourceId]) -> tuple[Host, ...]:
        """Return these hosts, without providers."""
        return select_hosts(self._connection, host_ids)

    def list_providers(self) -> Mapping[ResourceId, tuple[HostProvider, ...]]:
        """Return the providers of all hosts, roots first; hosts without providers are omitted."""
        return select_providers(self._connection)

    def insert(self, host: Host) -> None:
        """Add a host. Raises HostAlreadyRegistered."""
        try:
            self.insert_many([replace(host, capabilities={})])
        except DBDuplicateEntry as error:
            raise HostAlreadyRegistered(f"Host {host.hypervisor_hostname} is registered already") from error
        self._write_capabilities(host.id, host.capabilities, self._clock.now())

    def insert_many(self, new: Sequence[Host]) -> None:
        """Add many hosts whose properties already exist, in a few statements."""
        if not new:
            return
        rows = [resource_row(each, COLLECTION, self._first_number()) for each in new]
        self._connection.execute(sa.insert(resources), rows)
        self._connection.execute(sa.insert(hosts), [_host_row(each) for each in new])
        if any(each.capabilities for each in new):
            property_ids = {
                each.name: each.id for each in self.all_properties() if each.resource_type == RESOURCE_TYPE
            }
            rows = [
                {"host_id": each.id, "property_id": property_ids[name], "value": value}
                for each in new
                for name, value in each.capabilities.items()
            ]
            self._connection.execute(sa.insert(host_capabilities), rows)
        insert_providers(self._connection, new)
        note_changes(self._connection, [each.id for each in new], self._clock.now(), facts_changed=True)

    def insert_properties(self, properties: Sequence[ResourceProperty]) -> None:
        """Add properties that no host has yet."""
        if properties:
            self._connection.execute(sa.insert(resource_properties), [asdict(each) for each in properties])

    def all_properties(self) -> tuple[ResourceProperty, ...]:
        """Return all properties, including those that no host has."""
        query = sa.select(resource_properties).order_by(resource_properties.c.name)
        return tuple(_property(row) for row in self._connection.execute(query))

    def update(self, host: Host, capabilities: Mapping[str, str | None], at: datetime) -> None:
        """Replace the details and the providers of a host, and set these capabilities; None removes one."""
        self._record_facts(host.id, at)
        self._write_capabilities(host.id, capabilities, at)
        details = {key: value for key, value in _host_row(host).items() if key in HOST_DETAILS}
        self._connection.execute(
            sa.update(hosts).where(hosts.c.id == host.id).values(**details, updated_at=at)
        )
        delete_providers(self._connection, host.id)
        insert_providers(self._connection, [host])
        note_changes(self._connection, [host.id], at, facts_changed=True)

    def set_capabilities(self, host_id: ResourceId, changes: Mapping[str, str | None], at: datetime) -> None:
        """Set capabilities and create missing properties as public; None removes a capability."""
        if not changes:
            return
        self._record_facts(host_id, at)
        self._write_capabilities(host_id, changes, at)
        self._connection.execute(sa.update(hosts).where(hosts.c.id == host_id).values(updated_at=at))
        note_changes(self._connection, [host_id], at, facts_changed=True)

    def delete(self, host_id: ResourceId) -> None:
        """Delete a host with all its data, except its facts, which usage in the past needs."""
        self._record_facts(host_id, self._clock.now())
        delete_providers(self._connection, host_id)
        self._connection.execute(sa.delete(host_capabilities).where(host_capabilities.c.host_id == host_id))
        self._connection.execute(sa.delete(hosts).where(hosts.c.id == host_id))
        self._connection.execute(sa.delete(resources).where(resources.c.id == host_id))
        note_changes(self._connection, [host_id], self._clock.now(), facts_changed=True)

    def list_properties(self) -> tuple[tuple[ResourceProperty, tuple[str, ...]], ...]:
        """Return each property that any host has, with its distinct values, ordered by name."""
        query = (
            sa.select(resource_properties, host_capabilities.c.value)
            .join(host_capabilities, host_capabilities.c.property_id == resource_properties.c.id)
            .distinct()
        )
        values: dict[ResourceProperty, set[str]] = defaultdict(set)
        for row in self._connection.execute(query):
            values[_property(row)].add(row.value)
        return tuple(
            (each, tuple(sorted(values[each]))) for each in sorted(values, key=lambda each: each.name)
        )

    def find_property(self, name: str) -> ResourceProperty | None:
        """Return a property of hosts, or None."""
        query = sa.select(resource_properties).where(
            resource_properties.c.resource_type == RESOURCE_TYPE, resource_properties.c.name == name
        )
        row = self._connection.execute(query).first()
        return _property(row) if row else None

    def set_property_private(self, name: str, is_private: bool, at: datetime) -> None:
        """Make a property private or public."""
        self._connection.execute(
            sa.update(resource_properties)
            .where(resource_properties.c.resource_type == RESOURCE_TYPE, resource_properties.c.name == name)
            .values(is_private=is_private, updated_at=at)
        )

    def reservations_on(self, host_id: ResourceId) -> tuple[tuple[ReservationId, str, object], ...]:
        """Return (id, resource type, spec) of every reservation that holds the host."""
        query = (
            sa.select(reservations.c.id, reservations.c.resource_type, reservations.c.spec)
            .join(allocations, allocations.c.reservation_id == reservations.c.id)
            .where(allocations.c.resource_id == host_id, allocations.c.released_at.is_(None))
            .distinct()
        )
        return tuple(
            (
                ReservationId(row.id),
                row.resource_type,
                self._specs.decode(read_object(row.spec) or {}, row.resource_type, row.id),
            )
            for row in self._connection.execute(query)
        )

    def _record_facts(self, host_id: ResourceId, until: datetime) -> None:
        """Record the present facts of a host, which are valid up to an instant."""
        for each in read_resources(self._connection, [host_id]):
            record_facts(self._connection, str(each.facts["hypervisor_hostname"]), each, until)

    def _write_capabilities(
        self, host_id: ResourceId, changes: Mapping[str, str | None], at: datetime
    ) -> None:
        if not changes:
            return
        property_ids = self._ensure_properties(changes, at)
        self._connection.execute(
            sa.delete(host_capabilities).where(
                host_capabilities.c.host_id == host_id,
                host_capabilities.c.property_id.in_(list(property_ids.values())),
            )
        )
        rows = [
            {"host_id": host_id, "property_id": property_ids[name], "value": value}
            for name, value in changes.items()
            if value is not None
        ]
        if rows:
            self._connection.execute(sa.insert(host_capabilities), rows)

    def _ensure_properties(self, names: Collection[str], at: datetime) -> dict[str, str]:
        query = sa.select(resource_properties.c.name, resource_properties.c.id).where(
            resource_properties.c.resource_type == RESOURCE_TYPE,
            resource_properties.c.name.in_(list(names)),
        )
        known = {row.name: row.id for row in self._connection.execute(query)}
        new = {name: str(uuid.uuid4()) for name in names if name not in known}
        if new:
            self._connection.execute(
                sa.insert(resource_properties),
                [
                    {
                        "id": property_id,
                        "resource_type": RESOURCE_TYPE,
                        "name": name,
                        "is_private": False,
                        "created_at": at,
                    }
                    for name, property_id in new.items()
                ],
            )
        return known | new


def _host(row: Mapping[str, Any], capabilities: Mapping[str, str]) -> Host:
    columns = {key: value for key, value in row.items() if key not in ("health", "problem")}
    diagnosis = read_diagnosis(row["health"], row["problem"])
    return Host(capabilities=capabilities, diagnosis=diagnosis, **columns)


def _host_row(host: Host) -> dict[str, Any]:
    return {column.name: getattr(host, column.name) for column in hosts.columns}


def _property(row: sa.Row[Any]) -> ResourceProperty:
    return ResourceProperty(
        id=row.id,
        resource_type=row.resource_type,
        name=row.name,
        is_private=row.is_private,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


OWN_TABLE: Final = OwnTable(
    collection=COLLECTION,
    table=hosts,
    name=hosts.c.hypervisor_hostname,
    facts=(hosts.c.hypervisor_hostname, hosts.c.service_name),
    read=read_resources,
    open=SqlHosts,
)

if TYPE_CHECKING:

    def _witness(store: SqlHosts) -> HostStore:
        return store
