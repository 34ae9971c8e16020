"""Paged lists, as in Nova and Glance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from blazar.domain.errors import CloudRefused
from rig.cloud.messages import LARGEST_PAGE, Call

ItemT = TypeVar("ItemT")


def page_of(items: Sequence[ItemT], ids: Sequence[str], call: Call) -> tuple[Sequence[ItemT], bool]:
    """Return the page selected by ``marker`` and ``limit``, and whether another one follows.

    Args:
        items: All items, in the order of the pages.
        ids: The ids of the items, in the same order.
        call: The request.

    Raises:
        CloudRefused: The marker is not one of the ids.
    """
    marker = call.value("marker")
    if marker is not None and marker not in ids:
        raise CloudRefused(f"marker {marker} could not be found")
    start = 0 if marker is None else ids.index(marker) + 1
    end = start + min(int(call.value("limit") or LARGEST_PAGE), LARGEST_PAGE)
    return items[start:end], end < len(items)


def links(key: str, call: Call, *, has_next: bool) -> dict[str, object]:
    """Return the ``next`` link of a page in the form of Nova; empty if no page follows."""
    return {f"{key}_links": [{"rel": "next", "href": f"{call.base_url}/compute/v2.1"}]} if has_next else {}
