"""Shares of resources as rows of allocations have them."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from blazar.domain.capacity import Demand, Share

_CACHED = 65_536


def share_columns(share: Share | None) -> dict[str, Any]:
    """Return the columns of a share; of none, nulls."""
    if share is None:
        return {"slots": None, "demand": None}
    return {"slots": share.slots, "demand": _encoded(share.demand)}


def read_share(slots: int | None, demand: str | None) -> Share | None:
    """Return the share that has these columns."""
    if slots is None or demand is None:
        return None
    return Share(slots=slots, demand=read_demand(demand))


@lru_cache(maxsize=_CACHED)
def read_demand(text: str) -> Demand:
    """Return a demand; equal texts give the same object."""
    stored = json.loads(text)
    return Demand.of(stored["amounts"], stored.get("required", ()), stored.get("forbidden", ()))


@lru_cache(maxsize=_CACHED)
def _encoded(demand: Demand) -> str:
    stored: dict[str, Any] = {"amounts": dict(demand.amounts)}
    if demand.required_traits:
        stored["required"] = sorted(demand.required_traits)
    if demand.forbidden_traits:
        stored["forbidden"] = sorted(demand.forbidden_traits)
    return json.dumps(stored)
