"""Phrases shared by several messages."""

from __future__ import annotations

from collections.abc import Iterable


def first_few(names: Iterable[str], limit: int = 5) -> str:
    """Return the first *limit* of *names*, separated by commas, and the number of further ones."""
    listed = list(names)
    more = len(listed) - limit
    return ", ".join(listed[:limit]) + (f" and {more} more" if more > 0 else "")
