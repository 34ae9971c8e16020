"""Shares of resources that count in addition to what is booked: those of other reservations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from blazar.domain.capacity import Share
from blazar.domain.lease import Holdings, ResourceId

Shares = Mapping[ResourceId, tuple[Share | None, ...]]
"""The shares of each resource, None for a whole one, as ``Wish.beside`` has them."""


def beside(holdings: Iterable[Holdings]) -> dict[ResourceId, tuple[Share | None, ...]]:
    """Return the combined holdings of each resource."""
    combined: dict[ResourceId, tuple[Share | None, ...]] = {}
    for each in holdings:
        for key, share in each.items():
            combined[key] = (*combined.get(key, ()), share)
    return combined


def together(one: Shares, other: Shares) -> Shares:
    """Return the shares of both."""
    if not one or not other:
        return one or other
    return {key: (*one.get(key, ()), *other.get(key, ())) for key in one.keys() | other.keys()}


def count_units(holdings: Holdings) -> int:
    """Return the number of whole resources and slots in some holdings."""
    return sum(1 if share is None else share.slots for share in holdings.values())
