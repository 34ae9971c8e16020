"""The header ``Idempotency-Key``, with which a client can safely repeat a request."""

from __future__ import annotations

import re
from collections.abc import Mapping

from blazar.api.microversions import IDEMPOTENCY_KEYS, Version
from blazar.domain.errors import InvalidParameter

KEY_HEADER = "Idempotency-Key"
REPLAYED = {"Idempotency-Replayed": "true"}
"""The header of a response that repeats a stored answer."""

KEY_PATTERN = "^[!-~]{1,255}$"


def sent_key(headers: Mapping[str, str], version: Version) -> str | None:
    """Return the key of a request; None if it has none, or if its version ignores keys.

    Raises:
        InvalidParameter: The key is malformed.
    """
    key = headers.get(KEY_HEADER.upper())
    if key is None or version < IDEMPOTENCY_KEYS:
        return None
    if re.fullmatch(KEY_PATTERN, key) is None:
        raise InvalidParameter(KEY_HEADER, "must have 1 to 255 visible ASCII characters, without spaces")
    return key
