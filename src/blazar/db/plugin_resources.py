"""Resources that plugins discover or that operators register for them."""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from blazar.db.changes import note_changes
from blazar.db.collections import OWN_TABLES
from blazar.db.connection import Connection
from blazar.db.health import read_diagnosis, resource_row
from blazar.db.tables import resource_properties, resources, stock
from blazar.db.usage_records import record_facts
from blazar.domain.lease import ResourceId
from blazar.domain.plugin_resources import PluginResource, ResourceProperty

_PROPERTY_NAMES: Final = sa.select(resource_properties.c.resource_type, resource_properties.c.name)


def select_plugin_resources(
    connection: Connection,
    collection: str | None = None,
    resource_ids: Collection[ResourceId] | None = None,
) -> tuple[PluginResource, ...]:
    """Return these resources, those of a collection, or all, by name, in two statements.

    The first one reads the facts with the generations. The second one adds only which facts are properties.
    """
    query = (
        sa.select(stock, resources)
        .join(resources, resources.c.id == stock.c.id)
        .order_by(resources.c.collection, stock.c.name)
    )
    if collection is not None:
        query = query.where(resources.c.collection == collection)
    if resource_ids is not None:
        query = query.where(stock.c.id.in_(list(resource_ids)))
    rows = connection.execute(query).all()
    names = _property_names(connection) if rows else {}
    return tuple(_plugin_resource(row, names.get(row.collection, frozenset())) for row in rows)


def _property_names(connection: Connection) -> Mapping[str, frozenset[str]]:
    """Return the names of the properties of each collection."""
    names: dict[str, set[str]] = defaultdict(set)
    for row in connection.execute(_PROPERTY_NAMES):
        names[row.resource_type].add(row.name)
    return {collection: frozenset(found) for collection, found in names.items()}


class SqlPluginResources:
    """Implements :class:`blazar.ports.plugin_resources.PluginResources`."""

    def __init__(self, connection: Connection, first_number: Callable[[], int]) -> None:
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
        self._record_facts(resource.id, at)
        self._connection.execute(
            sa.update(stock).where(stock.c.id == resource.id).values(**_description(resource), updated_at=at)
        )
        self._ensure_properties(resource.collection, resource.properties, at)
        note_changes(self._connection, [resource.id], at, facts_changed=True)

    def insert(self, resource: PluginResource, at: datetime) -> None:
        """Add a resource."""
        self.insert_many([resource], at)

    def insert_many(self, new: Sequence[PluginResource], at: datetime) -> None:
        """Add resources of one collection, in a few statements."""
        if not new:
            return
        rows = [resource_row(each, each.collection, self._first_number()) for each in new]
        self._connection.execute(sa.insert(resources), rows)
        described = [
            {"id": each.id, "name": each.name, "created_at": at, **_description(each)} for each in new
        ]
        self._connection.execute(sa.insert(stock), described)
        names = frozenset(name for each in new for name in each.properties)
        self._ensure_properties(new[0].collection, names, at)
        note_changes(self._connection, [each.id for each in new], at, facts_changed=True)

    def delete(self, resource_id: ResourceId, at: datetime) -> None:
        """Delete a resource, except its facts, which usage in the past needs."""
        self._record_facts(resource_id, at)
        self._connection.execute(sa.delete(stock).where(stock.c.id == resource_id))
        self._connection.execute(sa.delete(resources).where(resources.c.id == resource_id))
        note_changes(self._connection, [resource_id], at, facts_changed=True)

    def list_properties(self, collection: str) -> tuple[ResourceProperty, ...]:
        """Return the properties that resources of a collection have or had."""
        query = (
            sa.select(resource_properties)
            .where(resource_properties.c.resource_type == collection)
            .order_by(resource_properties.c.name)
        )
        return tuple(ResourceProperty(**row) for row in self._connection.execute(query).mappings())

    def set_property_private(self, collection: str, name: str, is_private: bool, at: datetime) -> None:
        """Make a property private or public."""
        self._connection.execute(
            sa.update(resource_properties)
            .where(resource_properties.c.resource_type == collection, resource_properties.c.name == name)
            .values(is_private=is_private, updated_at=at)
        )

    def private_names(self) -> frozenset[str]:
        """Return the names of the private properties of all collections."""
        query = sa.select(resource_properties.c.name).where(resource_properties.c.is_private == sa.true())
        return frozenset(self._connection.scalars(query))

    def _record_facts(self, resource_id: ResourceId, until: datetime) -> None:
        for each in self.get_many([resource_id]):
            record_facts(self._connection, each.name, each.as_resource(), until)

    def _ensure_properties(self, collection: str, names: frozenset[str], at: datetime) -> None:
        if not names:
            return
        known = {each.name for each in self.list_properties(collection)}
        rows = [
            {
                "id": str(uuid.uuid4()),
                "resource_type": collection,
                "name": name,
                "is_private": False,
                "created_at": at,
            }
            for name in sorted(names - known)
        ]
        if rows:
            self._connection.execute(sa.insert(resource_properties), rows)


def _description(resource: PluginResource) -> Mapping[str, str]:
    return {"facts": json.dumps(dict(resource.facts)), "amounts": json.dumps(dict(resource.amounts))}


def _plugin_resource(row: sa.Row[Any], property_names: frozenset[str]) -> PluginResource:
    facts = json.loads(row.facts)
    return PluginResource(
        collection=row.collection,
        name=row.name,
        facts=facts,
        properties=property_names & facts.keys(),
        amounts=json.loads(row.amounts),
        diagnosis=read_diagnosis(row.health, row.problem),
        generation=row.generation,
    )
