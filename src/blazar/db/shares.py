"""Columns that store shares of resources in allocations."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from blazar.damage import damaged_rows
from blazar.domain.capacity import Demand, Group, Share, decode_group, encode_group

_CACHED = 65_536


def share_columns(share: Share | None) -> dict[str, Any]:
    """Return the columns of a share; nulls for None."""
    if share is None:
        return {"slots": None, "demand": None}
    return {"slots": share.slots, "demand": _encoded(share.demand)}


def read_share(slots: int | None, demand: str | None) -> Share | None:
    """Return the share stored in these columns."""
    if slots is None or demand is None:
        return None
    needed = read_demand(demand)
    return None if needed is None else Share(slots=slots, demand=needed)


@lru_cache(maxsize=_CACHED)
def read_demand(text: str) -> Demand | None:
    """Return a demand, or None if it is damaged; equal texts give the same object.

    A share with a damaged demand counts as the whole resource, so that nothing is reserved twice.
    """
    try:
        return _decoded(text)
    except (AttributeError, KeyError, TypeError, ValueError):
        damaged_rows.note("allocations", "demand", text)
        return None


def _decoded(text: str) -> Demand:
    stored = json.loads(text)
    return Demand.of(
        stored["amounts"],
        stored.get("required", ()),
        stored.get("forbidden", ()),
        groups=[decode_group(each) for each in stored.get("groups", ())],
        is_isolated=stored.get("isolated", False),
    )


@lru_cache(maxsize=_CACHED)
def _encoded(demand: Demand) -> str:
    stored = encode_group(
        Group(
            amounts=demand.ungrouped,
            required_traits=demand.required_traits,
            forbidden_traits=demand.forbidden_traits,
        )
    )
    if demand.groups:
        stored["groups"] = [encode_group(each) for each in demand.groups]
    if demand.is_isolated:
        stored["isolated"] = True
    return json.dumps(stored)
