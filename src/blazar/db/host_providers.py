"""The providers of registered hosts, with their inventories and traits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import sqlalchemy as sa

from blazar.db.tables import host_inventories, host_providers, host_traits
from blazar.domain.hosts import Host, HostInventory, HostProvider
from blazar.domain.lease import ResourceId

_TABLES = (host_traits, host_inventories, host_providers)
_AMOUNTS = [host_inventories.c[each.name] for each in fields(HostInventory)]


def select_providers(connection: sa.Connection) -> Mapping[ResourceId, tuple[HostProvider, ...]]:
    """Return the providers of all hosts: three statements, however many there are."""
    inventories: dict[tuple[str, str], dict[str, HostInventory]] = defaultdict(dict)
    query = sa.select(
        host_inventories.c.host_id,
        host_inventories.c.provider_uuid,
        host_inventories.c.resource_class,
        *_AMOUNTS,
    )
    for host_id, uuid, resource_class, *amounts in connection.execute(query):
        named = {column.name: amount for column, amount in zip(_AMOUNTS, amounts, strict=True)}
        inventories[host_id, uuid][resource_class] = HostInventory(**named)
    traits: dict[tuple[str, str], set[str]] = defaultdict(set)
    for host_id, uuid, trait in connection.execute(
        sa.select(host_traits.c.host_id, host_traits.c.provider_uuid, host_traits.c.trait)
    ):
        traits[host_id, uuid].add(trait)
    found: dict[ResourceId, list[HostProvider]] = defaultdict(list)
    for row in connection.execute(sa.select(host_providers).order_by(host_providers.c.position)):
        key = row.host_id, row.uuid
        found[ResourceId(row.host_id)].append(
            HostProvider(
                uuid=row.uuid,
                name=row.name,
                parent_uuid=row.parent_uuid,
                inventories=inventories.get(key, {}),
                traits=frozenset(traits.get(key, ())),
            )
        )
    return {host_id: tuple(each) for host_id, each in found.items()}


def insert_providers(connection: sa.Connection, host: Host) -> None:
    """Add the providers of a host that has none yet."""
    rows: dict[sa.Table, list[dict[str, Any]]] = {table: [] for table in reversed(_TABLES)}
    for position, each in enumerate(host.providers):
        key = {"host_id": host.id, "provider_uuid": each.uuid}
        rows[host_providers].append(
            {
                "host_id": host.id,
                "uuid": each.uuid,
                "name": each.name,
                "parent_uuid": each.parent_uuid,
                "position": position,
            }
        )
        rows[host_inventories] += [
            {**key, "resource_class": name, **asdict(inventory)}
            for name, inventory in each.inventories.items()
        ]
        rows[host_traits] += [{**key, "trait": trait} for trait in sorted(each.traits)]
    for table, values in rows.items():
        if values:
            connection.execute(sa.insert(table), values)


def delete_providers(connection: sa.Connection, host_id: ResourceId) -> None:
    """Forget the providers of a host."""
    for table in _TABLES:
        connection.execute(sa.delete(table).where(table.c.host_id == host_id))
