"""The providers of registered hosts, with their inventories and traits."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from functools import lru_cache

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.db.tables import host_providers
from blazar.domain.lease import ResourceId
from blazar.domain.providers import HostProvider, Inventory
from blazar.plugins.hosts.host import Host

_KINDS_OF_HOSTS = 4096


def select_providers(
    connection: Connection, host_ids: Collection[ResourceId] | None = None
) -> Mapping[ResourceId, tuple[HostProvider, ...]]:
    """Return the providers of these hosts, or of all, in one statement.

    Providers with equal inventories or traits share them, so that thousands of similar hosts use little
    memory.
    """
    query = sa.select(host_providers).order_by(host_providers.c.position)
    if host_ids is not None:
        query = query.where(host_providers.c.host_id.in_(list(host_ids)))
    found: dict[ResourceId, list[HostProvider]] = defaultdict(list)
    for row in connection.execute(query):
        found[ResourceId(row.host_id)].append(
            HostProvider(
                uuid=row.uuid,
                name=row.name,
                parent_uuid=row.parent_uuid,
                inventories=_inventories(row.inventories),
                traits=_traits(row.traits),
            )
        )
    return {host_id: tuple(each) for host_id, each in found.items()}


def insert_providers(connection: Connection, hosts: Iterable[Host]) -> None:
    """Add the providers of hosts that have none yet."""
    rows = [
        {
            "host_id": host.id,
            "uuid": each.uuid,
            "name": each.name,
            "parent_uuid": each.parent_uuid,
            "position": position,
            "inventories": json.dumps(
                {name: asdict(inventory) for name, inventory in sorted(each.inventories.items())}
            ),
            "traits": json.dumps(sorted(each.traits)),
        }
        for host in hosts
        for position, each in enumerate(host.providers)
    ]
    if rows:
        connection.execute(sa.insert(host_providers), rows)


def delete_providers(connection: Connection, host_id: ResourceId) -> None:
    """Delete the providers of a host."""
    connection.execute(sa.delete(host_providers).where(host_providers.c.host_id == host_id))


@lru_cache(maxsize=_KINDS_OF_HOSTS)
def _inventories(text: str) -> Mapping[str, Inventory]:
    return {name: Inventory(**amounts) for name, amounts in json.loads(text).items()}


@lru_cache(maxsize=_KINDS_OF_HOSTS)
def _traits(text: str) -> frozenset[str]:
    return frozenset(json.loads(text))
