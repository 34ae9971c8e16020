"""JSON in columns, which a manual change of the database may have damaged."""

from __future__ import annotations

import json
from typing import Any


def read_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in a column; None if the column has none."""
    found = _read(text)
    return found if isinstance(found, dict) else None


def read_list(text: str) -> list[Any] | None:
    """Return the JSON list in a column; None if the column has none."""
    found = _read(text)
    return found if isinstance(found, list) else None


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
