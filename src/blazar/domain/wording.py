"""Phrases shared by several messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def shortened(text: str, most: int) -> str:
    """Return a text of at most *most* characters; the end of a longer one is replaced by an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def with_short_texts(content: Mapping[str, object], most: int) -> dict[str, object]:
    """Return content whose values are shortened if they are longer texts."""
    return {
        key: shortened(value, most) if isinstance(value, str) else value for key, value in content.items()
    }


def first_few(names: Iterable[str], limit: int = 5) -> str:
    """Return the first *limit* of *names*, separated by commas, and the number of further ones."""
    listed = list(names)
    more = len(listed) - limit
    return ", ".join(listed[:limit]) + (f" and {more} more" if more > 0 else "")
