"""Sequences in portions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

ItemT = TypeVar("ItemT")


def in_portions(items: Sequence[ItemT], size: int) -> Iterator[Sequence[ItemT]]:
    """Yield the items in portions of *size*, in order; the last one may be smaller."""
    for first in range(0, len(items), size):
        yield items[first : first + size]
