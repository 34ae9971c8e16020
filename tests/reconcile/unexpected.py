"""Unexpected errors in the log."""

from __future__ import annotations

import logging

from blazar.domain.errors import BlazarError


class UnexpectedErrors(logging.Handler):
    """Log handler that collects errors other than the project's own."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, BlazarError):
            self.found.append(self.format(record))
