"""Pages of sorted lists, read without skipping over the rows before them.

A page begins after the values that its marker has in the sort columns. The rows after it are read in up to
one statement per column: first those that equal the marker in all columns but the last, then those that
equal it in all but the last two, and so on. Each statement reads one range of an index that has the sort
columns, where a single condition with ``OR`` would read all rows from the start.

For rows that equal the marker, which can be many, such as leases of one name, MariaDB needs two hints: the
index, because it would choose one with fewer columns, and an order without the columns that are equal,
because it would sort the rows by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from blazar.db.connection import Connection
from blazar.domain.errors import InvalidParameter
from blazar.domain.paging import Page

Condition = sa.ColumnElement[bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A list that can be read in pages."""

    columns: Mapping[str, sa.Column[Any]]
    """The column of each sort key; ``id`` is among them, and is unique."""
    scope: Sequence[Condition] = ()
    """Conditions on the rows that exist for the caller; a marker outside them is unknown."""
    filters: Sequence[Condition] = ()
    """Conditions on the rows of the list."""
    indexes: Mapping[str, str] = field(default_factory=dict)
    """By sort key, the index with the columns of the scope, the key and the id; none for a unique key."""


@dataclass(frozen=True, slots=True)
class _Term:
    """A sort column, with the marker's value in it."""

    column: sa.Column[Any]
    is_descending: bool
    value: Any = None


@dataclass(frozen=True, slots=True)
class _Range:
    """Rows that equal the marker in a number of columns."""

    equal: int
    conditions: Sequence[Condition]


def select_page(connection: Connection, listing: Listing, page: Page) -> list[str]:
    """Return the ids of a page. Raises InvalidParameter if the marker is unknown."""
    return [row[0] for row in select_rows(connection, listing, page)]


def select_rows(
    connection: Connection, listing: Listing, page: Page, *columns: sa.Column[Any]
) -> Sequence[sa.Row[Any]]:
    """Return the ids of a page with these columns. Raises InvalidParameter if the marker is unknown."""
    terms = [_Term(listing.columns[each.name], each.is_descending) for each in page.order]
    # PostgreSQL sorts NULL after all values, the other databases before them.
    nulls_are_last = connection.dialect.name == "postgresql"
    ranges: Iterator[_Range] = iter([_Range(0, ())])
    if page.marker is not None:
        ranges = _ranges_after(_marked(connection, listing, terms, page.marker), nulls_are_last)
    query = sa.select(listing.columns["id"], *columns).where(*listing.scope, *listing.filters)
    index = listing.indexes.get(page.order[0].name)
    found: list[sa.Row[Any]] = []
    for each in ranges:
        if len(found) == page.limit:
            break
        order = [term.column.desc() if term.is_descending else term.column for term in terms[each.equal :]]
        part = query.where(*each.conditions).order_by(*order).limit(page.limit - len(found))
        if each.equal and index is not None:
            part = part.with_hint(listing.columns["id"].table, f"FORCE INDEX ({index})", "mysql")
        found += connection.execute(part)
    return found


def _marked(connection: Connection, listing: Listing, terms: Sequence[_Term], marker: str) -> Sequence[_Term]:
    """Return the terms with the values of the marker's row."""
    columns = [each.column.label(f"term_{number}") for number, each in enumerate(terms)]
    query = sa.select(*columns).where(listing.columns["id"] == marker, *listing.scope)
    row = connection.execute(query).first()
    if row is None:
        raise InvalidParameter("marker", f"{marker[:64]} is not the id of an item that you may list")
    return [
        _Term(each.column, each.is_descending, value) for each, value in zip(terms, tuple(row), strict=True)
    ]


def _ranges_after(terms: Sequence[_Term], nulls_are_last: bool) -> Iterator[_Range]:
    """Return the ranges after the marker, in the order of the list."""
    for place in reversed(range(len(terms))):
        # Compared with None, this is IS NULL.
        equal = [each.column == each.value for each in terms[:place]]
        for beyond in _beyond(terms[place], nulls_are_last):
            yield _Range(place, [*equal, beyond])


def _beyond(term: _Term, nulls_are_last: bool) -> Iterator[Condition]:
    nulls_follow = nulls_are_last is not term.is_descending
    if term.value is not None:
        yield term.column < term.value if term.is_descending else term.column > term.value
        if nulls_follow and term.column.nullable:
            yield term.column.is_(None)
    elif not nulls_follow:
        yield term.column.is_not(None)
