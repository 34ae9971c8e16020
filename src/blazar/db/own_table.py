"""Declaration of the table of a collection, in a module of ``blazar.db.own``."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.db.parts import Parts
from blazar.domain.availability import Resource
from blazar.domain.lease import ResourceId

_Read = Callable[[Connection, Collection[ResourceId] | None], tuple[Resource, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTable:
    """The table of a collection."""

    collection: str
    table: sa.Table[Any]
    name: sa.Column[Any]
    """The column with the name of a resource that lessees and operators see."""
    facts: tuple[sa.Column[Any], ...]
    """The columns that identify a resource in the cloud."""
    read: _Read
    """Returns these resources with all facts, or all resources for None.

    It reads the generations in its first statement, so that facts that change meanwhile are not claimed."""
    open: Callable[[Parts], Any]
    """Returns the collection's store, which its plugin declares as a port."""
