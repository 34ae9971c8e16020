"""Registered floating IPs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa
from oslo_db.exception import DBDuplicateEntry

from blazar.db.changes import note_changes
from blazar.db.connection import Connection
from blazar.db.health import read_diagnosis, resource_filters, resource_row
from blazar.db.own_table import OwnTable
from blazar.db.pages import Listing, select_page
from blazar.db.parts import Parts
from blazar.db.tables import floatingips, resources
from blazar.db.usage_records import record_facts
from blazar.domain.availability import Resource
from blazar.domain.lease import ResourceId
from blazar.domain.paging import Page
from blazar.plugins.floatingips.errors import FloatingIPAlreadyRegistered
from blazar.plugins.floatingips.floatingip import FloatingIP
from blazar.plugins.floatingips.store import FloatingIPFilter, FloatingIPStore

COLLECTION = "floatingip"
_LISTED_BY: Final = {
    "created_at": floatingips.c.created_at,
    "floating_ip_address": floatingips.c.address,
    "id": floatingips.c.id,
}
_INDEXES: Final = {
    "created_at": "ix_floatingips_created_at_id",
    "floating_ip_address": "ix_floatingips_address_id",
}


def select_floatingips(
    connection: Connection, floatingip_ids: Collection[ResourceId] | None = None
) -> tuple[FloatingIP, ...]:
    """Return these floating IPs, or all, oldest first, in one statement."""
    query = (
        sa.select(floatingips, resources.c.generation, resources.c.health, resources.c.problem)
        .join(resources, resources.c.id == floatingips.c.id)
        .order_by(floatingips.c.created_at, floatingips.c.id)
    )
    if floatingip_ids is not None:
        query = query.where(floatingips.c.id.in_(list(floatingip_ids)))
    return tuple(_floatingip(dict(row._mapping)) for row in connection.execute(query))


def read_resources(
    connection: Connection, floatingip_ids: Collection[ResourceId] | None
) -> tuple[Resource, ...]:
    """Return these floating IPs, or all, with their facts, for searches."""
    return tuple(each.as_resource() for each in select_floatingips(connection, floatingip_ids))


class SqlFloatingIPs:
    """Implements :class:`blazar.plugins.floatingips.store.FloatingIPStore`."""

    def __init__(self, parts: Parts) -> None:
        self._connection = parts.connection
        self._clock = parts.clock
        self._first_number = parts.first_number

    def find(self, floatingip_id: str) -> FloatingIP | None:
        """Return a floating IP, or None."""
        found = select_floatingips(self._connection, [ResourceId(floatingip_id)])
        return found[0] if found else None

    def find_by_address(self, network_id: str, address: str) -> FloatingIP | None:
        """Return the floating IP of this network and canonical address, or None."""
        query = sa.select(floatingips.c.id).where(
            floatingips.c.network_id == network_id, floatingips.c.address == address
        )
        floatingip_id = self._connection.scalar(query)
        return self.find(floatingip_id) if floatingip_id is not None else None

    def list(self) -> tuple[FloatingIP, ...]:
        """Return all floating IPs, oldest first."""
        return select_floatingips(self._connection)

    def list_page(self, which: FloatingIPFilter, page: Page) -> Sequence[ResourceId]:
        """Return the ids of a page of floating IPs. Raises InvalidParameter if the marker is unknown."""
        equal = {floatingips.c.network_id: which.network_id, floatingips.c.address: which.address}
        filters = resource_filters(floatingips.c.id, equal, which.is_reservable)
        listing = Listing(columns=_LISTED_BY, filters=filters, indexes=_INDEXES)
        found = select_page(self._connection, listing, page)
        return [ResourceId(each) for each in found]

    def get_many(self, floatingip_ids: Collection[ResourceId]) -> tuple[FloatingIP, ...]:
        """Return these floating IPs."""
        return select_floatingips(self._connection, floatingip_ids)

    def insert(self, floatingip: FloatingIP) -> None:
        """Add a floating IP. Raises FloatingIPAlreadyRegistered."""
        try:
            self.insert_many([floatingip])
        except DBDuplicateEntry as error:
            raise FloatingIPAlreadyRegistered(
                f"Floating IP {floatingip.address} of network {floatingip.network_id} is registered already"
            ) from error

    def insert_many(self, new: Sequence[FloatingIP]) -> None:
        """Add many floating IPs, in three statements."""
        if new:
            rows = [resource_row(each, COLLECTION, self._first_number()) for each in new]
            self._connection.execute(sa.insert(resources), rows)
            self._connection.execute(sa.insert(floatingips), [_row(each) for each in new])
            at = self._clock.now()
            note_changes(self._connection, [each.id for each in new], at, facts_changed=True)

    def delete(self, floatingip_id: ResourceId) -> None:
        """Delete a floating IP, except its facts, which usage in the past needs."""
        for each in self.get_many([floatingip_id]):
            record_facts(self._connection, each.address, each.as_resource(), self._clock.now())
        self._connection.execute(sa.delete(floatingips).where(floatingips.c.id == floatingip_id))
        self._connection.execute(sa.delete(resources).where(resources.c.id == floatingip_id))
        note_changes(self._connection, [floatingip_id], self._clock.now(), facts_changed=True)


def _row(floatingip: FloatingIP) -> Mapping[str, Any]:
    return {column.name: getattr(floatingip, column.name) for column in floatingips.columns}


def _floatingip(row: Mapping[str, Any]) -> FloatingIP:
    columns = {key: value for key, value in row.items() if key not in ("health", "problem")}
    return FloatingIP(diagnosis=read_diagnosis(row["health"], row["problem"]), **columns)


OWN_TABLE: Final = OwnTable(
    collection=COLLECTION,
    table=floatingips,
    name=floatingips.c.address,
    facts=(floatingips.c.address, floatingips.c.network_id, floatingips.c.subnet_id),
    read=read_resources,
    open=SqlFloatingIPs,
)

if TYPE_CHECKING:

    def _witness(store: SqlFloatingIPs) -> FloatingIPStore:
        return store
