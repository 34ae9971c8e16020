"""Resources that plugins find by themselves."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from blazar.db import floatingips, hosts
from blazar.db.changes import note_changes
from blazar.db.health import diagnosis_columns, read_diagnosis
from blazar.db.tables import resources, stock
from blazar.domain.lease import ResourceId
from blazar.domain.stock import StockedResource

_REGISTERED = frozenset({hosts.COLLECTION, floatingips.COLLECTION})
"""What operators register has tables of its own."""


def select_stock(
    connection: sa.Connection,
    collection: str | None = None,
    resource_ids: Collection[ResourceId] | None = None,
) -> tuple[StockedResource, ...]:
    """Return these resources, those of a collection, or all, by name: one statement."""
    query = (
        sa.select(stock, resources)
        .join(resources, resources.c.id == stock.c.id)
        .order_by(resources.c.collection, stock.c.name)
    )
    if collection is not None:
        query = query.where(resources.c.collection == collection)
    if resource_ids is not None:
        query = query.where(stock.c.id.in_(list(resource_ids)))
    return tuple(_stocked(row) for row in connection.execute(query))


class SqlStock:
    """Implements :class:`blazar.ports.stock.StockStore`."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def list(self, collection: str | None = None) -> tuple[StockedResource, ...]:
        """Return the stock of a collection, or all."""
        return select_stock(self._connection, collection)

    def get_many(self, resource_ids: Collection[ResourceId]) -> tuple[StockedResource, ...]:
        """Return these resources."""
        return select_stock(self._connection, resource_ids=resource_ids)

    def put(self, resource: StockedResource, at: datetime) -> None:
        """Add a resource, or replace what is known of it but for its health."""
        if resource.collection in _REGISTERED:
            raise ValueError(f"operators register what is in the collection {resource.collection}")
        moved_on = self._connection.execute(
            sa.update(resources)
            .where(resources.c.id == resource.id)
            .values(generation=resources.c.generation + 1)
        )
        facts, amounts = json.dumps(dict(resource.facts)), json.dumps(dict(resource.amounts))
        description = {"facts": facts, "amounts": amounts}
        if moved_on.rowcount:
            self._connection.execute(
                sa.update(stock).where(stock.c.id == resource.id).values(**description, updated_at=at)
            )
        else:
            self._connection.execute(
                sa.insert(resources).values(
                    id=resource.id,
                    collection=resource.collection,
                    generation=0,
                    **diagnosis_columns(resource.diagnosis),
                )
            )
            self._connection.execute(
                sa.insert(stock).values(id=resource.id, name=resource.name, created_at=at, **description)
            )
        note_changes(self._connection, [resource.id], at, facts_changed=True)

    def delete(self, resource_id: ResourceId, at: datetime) -> None:
        """Delete a resource."""
        self._connection.execute(sa.delete(stock).where(stock.c.id == resource_id))
        self._connection.execute(sa.delete(resources).where(resources.c.id == resource_id))
        note_changes(self._connection, [resource_id], at, facts_changed=True)


def _stocked(row: sa.Row[Any]) -> StockedResource:
    return StockedResource(
        collection=row.collection,
        name=row.name,
        facts=json.loads(row.facts),
        amounts=json.loads(row.amounts),
        diagnosis=read_diagnosis(row.health, row.problem),
        generation=row.generation,
    )
