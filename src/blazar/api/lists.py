"""Lists in pages, from microversion 1.1 on: their parameters, and the links to the next page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from blazar.api.call import Call
from blazar.api.microversions import PAGES
from blazar.domain.errors import BadRequest
from blazar.domain.paging import parse_limit
from blazar.ports.manager import JsonObject

RANGES: Final = ("starts_after", "starts_before", "ends_after", "ends_before")

Find = Callable[[JsonObject | None], Sequence[JsonObject]]
"""Returns a complete list for None, and otherwise the page of it that the argument describes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedList:
    """A list that has pages from 1.1 on."""

    path: str
    key: str
    """The key of the list in the response."""
    filters: tuple[str, ...]
    sort_keys: tuple[str, ...]
    """The sort keys, for the documentation; the first one is the default. The manager checks them."""
    marker: str = "id"
    """The key of an item whose value is the marker of the next page."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of all parameters of the query."""
        return ("limit", "marker", "sort", *self.filters)


def respond_with(listed: PagedList, call: Call, find: Find) -> Mapping[str, object]:
    """Return the response with a list: complete at 1.0, and a page of it from 1.1 on.

    Raises:
        BadRequest: A parameter is unknown.
        InvalidParameter: A value is invalid.
    """
    if call.version < PAGES:
        return {listed.key: find(None)}
    refuse_unknown(call, listed.parameters)
    limit = parse_limit(call.query.get("limit", str(call.max_limit)), call.max_limit)
    # One item more than shown tells whether another page follows.
    found = find({**call.query, "limit": limit + 1})
    shown = found[:limit]
    if len(found) <= limit:
        return {listed.key: shown}
    following = {**call.query, "limit": limit, "marker": shown[-1][listed.marker]}
    link = f"{call.base_url}{listed.path}?{urlencode(following)}"
    return {listed.key: shown, f"{listed.key}_links": [{"rel": "next", "href": link}]}


def refuse_unknown(call: Call, parameters: Sequence[str]) -> None:
    """Raise BadRequest if the query has other parameters."""
    unknown = sorted(call.query.keys() - set(parameters))
    if unknown:
        names = ", ".join(each[:64] for each in unknown[:5])
        raise BadRequest(f"Unknown query parameter: {names}; known are {', '.join(parameters)}")
