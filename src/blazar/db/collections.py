"""The collections of resources that have tables of their own.

Resources of all other collections are rows of ``stock``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from blazar.db import own
from blazar.db.own_table import OwnTable
from blazar.db.tables import stock


def _list_tables() -> Iterator[OwnTable]:
    for each in iter_modules(own.__path__):
        declared = getattr(import_module(f"{own.__name__}.{each.name}"), "OWN_TABLE", None)
        if isinstance(declared, OwnTable):
            yield declared


OWN_TABLES: Final[Mapping[str, OwnTable]] = {each.collection: each for each in _list_tables()}
"""The tables by collection."""

ALL_TABLES: Final = (stock, *(each.table for each in OWN_TABLES.values()))
NAME_COLUMNS: Final = (*(each.name for each in OWN_TABLES.values()), stock.c.name)
