"""Who is at the keyboard."""

from __future__ import annotations

import getpass


def operator() -> str:
    """Return what the journal says of who did it."""
    return f"blazar-manage of {getpass.getuser()}"
