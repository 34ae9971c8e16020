"""Pages of a list: how many items, in which order, and after which one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from blazar.domain.errors import InvalidParameter

_DESCENDING = {"": False, "asc": False, "desc": True}


@dataclass(frozen=True, slots=True)
class SortKey:
    """A key by which a list is sorted, and the direction."""

    name: str
    is_descending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A part of a sorted list. Items that are equal in all keys of *sort* are sorted by id."""

    limit: int
    """The most items of the page."""
    sort: tuple[SortKey, ...]
    marker: str | None = None
    """The id of the item before the page; None for the first page."""

    @property
    def order(self) -> tuple[SortKey, ...]:
        """Return all keys, the last of which is the id, in the direction of the key before it."""
        if any(each.name == "id" for each in self.sort):
            return self.sort
        return (*self.sort, SortKey("id", bool(self.sort) and self.sort[-1].is_descending))


def parse_limit(text: str, most: int) -> int:
    """Return the limit of a request. Raises InvalidParameter unless it is a number from 1 to *most*."""
    # The length is bounded because the conversion of long texts is slow.
    if text.isascii() and text.isdigit() and len(text) <= len(str(most)) and 1 <= int(text) <= most:
        return int(text)
    raise InvalidParameter("limit", f"must be a whole number from 1 to {most}")


def parse_page(query: Mapping[str, object], keys: Collection[str]) -> Page:
    """Return the page that a query asks for.

    Args:
        query: Has ``limit``, a number; optionally ``marker``, an id, and ``sort``, as in ``name:desc,id``.
        keys: The keys that may be sorted by, the default first.

    Raises:
        InvalidParameter: A key is unknown or repeated, a direction is unknown, or the marker is empty.
    """
    limit, marker = query["limit"], query.get("marker")
    assert isinstance(limit, int)
    if marker == "":
        raise InvalidParameter("marker", "must be the id of the last item of the previous page")
    sort = _parse_sort(str(query["sort"]), keys) if "sort" in query else (SortKey(next(iter(keys))),)
    return Page(limit=limit, sort=sort, marker=None if marker is None else str(marker))


def _parse_sort(text: str, keys: Collection[str]) -> tuple[SortKey, ...]:
    sort: list[SortKey] = []
    for part in text.split(",", len(keys)):
        name, _, direction = part.strip().partition(":")
        if name not in keys or direction not in _DESCENDING:
            raise InvalidParameter(
                "sort",
                f"must be keys of {', '.join(keys)}, separated by commas, with :asc or :desc if wanted",
            )
        if any(each.name == name for each in sort):
            raise InvalidParameter("sort", f"names {name} twice")
        sort.append(SortKey(name, _DESCENDING[direction]))
    return tuple(sort)
