"""Log lines with the ids in their context."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from oslo_context import context as oslo


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A log line. ``about`` has the context values that oslo.log would add."""

    name: str
    level: int
    text: str
    about: dict[str, Any] = field(default_factory=dict)


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[Line] = []

    def emit(self, record: logging.LogRecord) -> None:
        present = oslo.get_current()
        about = {} if present is None else present.get_logging_values()
        text = logging.Formatter().format(record)
        self.lines.append(Line(name=record.name, level=record.levelno, text=text, about=about))


@contextmanager
def listening(name: str | None = "blazar", level: int = logging.DEBUG) -> Iterator[list[Line]]:
    """Collect the lines of a logger and its children, from a level up; None for all loggers."""
    logger, handler = logging.getLogger(name), _Lines()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield handler.lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
