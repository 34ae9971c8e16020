"""Log and count damaged database rows where they are read."""

from __future__ import annotations

import logging
import sys
from typing import Final

from blazar.null_ports import NoMeter
from blazar.ports.meter import Meter
from blazar.ports.metrics import DAMAGED_ROWS

_logger = logging.getLogger(__name__)


class DamagedRows:
    """Log and count damaged rows; safe for use by several threads.

    Functions and caches that all parts of a process share decode the rows, so the process has one object.
    """

    def __init__(self) -> None:
        """Create a sink without a meter; until ``count_in`` is called, rows are only logged."""
        self._meter: Meter = NoMeter()

    def count_in(self, meter: Meter) -> None:
        """Use *meter* for counting from now on."""
        self._meter = meter

    def note(self, table: str, column: str, row: str) -> None:
        """Log and count a value that cannot be read; *row* identifies its row."""
        is_handled = sys.exc_info()[0] is not None
        _logger.error(
            "row is damaged: table=%s column=%s row=%.200s", table, column, row, exc_info=is_handled
        )
        self._meter.count(DAMAGED_ROWS, table)


damaged_rows: Final = DamagedRows()
"""The instance of this process."""
