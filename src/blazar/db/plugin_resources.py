"""Resources that plugins discover or that operators register for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from blazar.db.changes import note_changes
from blazar.db.collections import OWN_TABLES
from blazar.db.health import read_diagnosis, resource_row
from blazar.db.tables import resources, stock
from blazar.domain.lease import ResourceId
from blazar.domain.plugin_resources import PluginResource


def select_plugin_resources(
    connection: sa.Connection,
    collection: str | None = None,
    resource_ids: Collection[ResourceId] | None = None,
) -> tuple[PluginResource, ...]:
    """Return these resources, those of a collection, or all, by name, in one statement."""
    query = (
        sa.select(stock, resources)
        .join(resources, resources.c.id == stock.c.id)
        .order_by(resources.c.collection, stock.c.name)
    )
    if collection is not None:
        query = query.where(resources.c.collection == collection)
    if resource_ids is not None:
        query = query.where(stock.c.id.in_(list(resource_ids)))
    return tuple(_plugin_resource(row) for row in connection.execute(query))


class SqlPluginResources:
    """Implements :class:`blazar.ports.plugin_resources.PluginResources`."""

    def __init__(self, connection: sa.Connection, first_number: Callable[[], int]) -> None:
        self._connection = connection
        self._first_number = first_number

    def list(self, collection: str | None = None) -> tuple[PluginResource, ...]:
        """Return the resources of a collection, or of all collections."""
        return select_plugin_resources(self._connection, collection)

    def get_many(self, resource_ids: Collection[ResourceId]) -> tuple[PluginResource, ...]:
        """Return these resources."""
        return select_plugin_resources(self._connection, resource_ids=resource_ids)

    def put(self, resource: PluginResource, at: datetime) -> None:
        """Add a resource, or replace its facts and amounts; the health of an existing one is kept."""
        if resource.collection in OWN_TABLES:
            raise ValueError(f"operators register the resources of the collection {resource.collection}")
        moved_on = self._connection.execute(
            sa.update(resources)
            .where(resources.c.id == resource.id)
            .values(generation=resources.c.generation + 1)
        )
        if not moved_on.rowcount:
            self.insert(resource, at)
            return
        self._connection.execute(
            sa.update(stock).where(stock.c.id == resource.id).values(**_description(resource), updated_at=at)
        )
        note_changes(self._connection, [resource.id], at, facts_changed=True)

    def insert(self, resource: PluginResource, at: datetime) -> None:
        """Add a resource."""
        row = resource_row(resource, resource.collection, self._first_number())
        self._connection.execute(sa.insert(resources).values(**row))
        self._connection.execute(
            sa.insert(stock).values(
                id=resource.id, name=resource.name, created_at=at, **_description(resource)
            )
        )
        note_changes(self._connection, [resource.id], at, facts_changed=True)

    def delete(self, resource_id: ResourceId, at: datetime) -> None:
        """Delete a resource."""
        self._connection.execute(sa.delete(stock).where(stock.c.id == resource_id))
        self._connection.execute(sa.delete(resources).where(resources.c.id == resource_id))
        note_changes(self._connection, [resource_id], at, facts_changed=True)


def _description(resource: PluginResource) -> Mapping[str, str]:
    return {"facts": json.dumps(dict(resource.facts)), "amounts": json.dumps(dict(resource.amounts))}


def _plugin_resource(row: sa.Row[Any]) -> PluginResource:
    return PluginResource(
        collection=row.collection,
        name=row.name,
        facts=json.loads(row.facts),
        amounts=json.loads(row.amounts),
        diagnosis=read_diagnosis(row.health, row.problem),
        generation=row.generation,
    )
