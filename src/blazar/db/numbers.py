"""Initial values of counters that protect rows against concurrent updates."""

from __future__ import annotations

import secrets
from typing import Final

_BITS: Final = 62
"""Chosen so that a counter fits into 63 bits, however often it is incremented."""


def first_number() -> int:
    """Return a random initial value for the counter of a new row.

    A row may be removed and added again under the same key. If its counter started at a fixed value, a number
    read from the removed row could match again.
    """
    return secrets.randbits(_BITS)
