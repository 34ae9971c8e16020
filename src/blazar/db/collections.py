"""The collections of resources that have tables of their own.

Resources of all other collections are rows of ``stock``. A collection with its own table needs one entry
here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa

from blazar.db import floatingips, hosts
from blazar.db.parts import Parts
from blazar.db.tables import stock
from blazar.domain.availability import Resource
from blazar.domain.lease import ResourceId

_Read = Callable[[sa.Connection, Collection[ResourceId] | None], tuple[Resource, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTable:
    """The table of a collection."""

    table: sa.Table[Any]
    name: sa.Column[Any]
    """The name of a resource that lessees and operators see."""
    facts: tuple[sa.Column[Any], ...]
    """The columns that identify a resource in the cloud."""
    read: _Read
    """Returns these resources with all facts, or all resources for None."""
    open: Callable[[Parts], Any]
    """Returns the collection's store, which its plugin declares as a port."""


OWN_TABLES: Final[Mapping[str, OwnTable]] = {
    hosts.COLLECTION: OwnTable(
        table=hosts.TABLE,
        name=hosts.TABLE.c.hypervisor_hostname,
        facts=(hosts.TABLE.c.hypervisor_hostname, hosts.TABLE.c.service_name),
        read=hosts.read_resources,
        open=hosts.SqlHosts,
    ),
    floatingips.COLLECTION: OwnTable(
        table=floatingips.TABLE,
        name=floatingips.TABLE.c.address,
        facts=(floatingips.TABLE.c.address, floatingips.TABLE.c.network_id, floatingips.TABLE.c.subnet_id),
        read=floatingips.read_resources,
        open=floatingips.SqlFloatingIPs,
    ),
}
"""By collection."""

ALL_TABLES: Final = (stock, *(each.table for each in OWN_TABLES.values()))
NAME_COLUMNS: Final = (*(each.name for each in OWN_TABLES.values()), stock.c.name)
