"""The operator who runs a command."""

from __future__ import annotations

import getpass


def operator() -> str:
    """Return the name recorded in the journal for the operator."""
    return f"blazar-manage of {getpass.getuser()}"
