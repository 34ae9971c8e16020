"""Declaration of the commands of a resource type, in ``commands.py`` of its folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCommands:
    """Sub-commands of ``blazar-manage`` for a resource type.

    The default ``run`` of a parser is called with the context and the arguments, and returns the exit code.
    """

    add_parsers: Callable[[Any], None]
    """Adds the parsers of the sub-commands to those of ``blazar-manage``."""
