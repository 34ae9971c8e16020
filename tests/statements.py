"""Counting what is asked of a database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa


class Statements:
    """The statements that were executed, by their first word."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, statement: str) -> None:
        """Count one."""
        self._counts[statement.split(maxsplit=1)[0].upper()] += 1

    def count(self, *words: str) -> int:
        """Return how many began with one of these words."""
        return sum(self._counts[word] for word in words)


@contextmanager
def counted(engine: sa.Engine) -> Iterator[Statements]:
    """Count every statement that is executed on *engine* meanwhile, by any thread."""
    statements = Statements()

    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        statements.add(statement)

    sa.event.listen(engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        sa.event.remove(engine, "before_cursor_execute", note)
