"""The parts of a transaction that the store of one collection needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from blazar.db.connection import Connection
from blazar.db.specs import SpecColumn
from blazar.ports.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of a transaction."""

    connection: Connection
    clock: Clock
    specs: SpecColumn
    first_number: Callable[[], int]
    """Returns the initial value of a new row's counter."""
