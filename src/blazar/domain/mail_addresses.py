"""Mail addresses."""

from __future__ import annotations

import re
from typing import Final

_LONGEST: Final = 254
# The usual characters only: no quotes, comments, lists, spaces or line ends, which could add recipients.
_ADDRESS: Final = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@((?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)"
)


def domain_of(address: str) -> str | None:
    """Return the domain of one plain address, in lower case; None if the text is not such an address."""
    match = _ADDRESS.fullmatch(address) if len(address) <= _LONGEST else None
    return None if match is None or len(address.partition("@")[0]) > 64 else match[1].lower()
