"""Statements about single reservations and leases use an index, because their tables grow for years."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
import sqlalchemy as sa
from samples import at

from blazar.db.store import SqlStore
from blazar.ports.store import Transaction

ACTS: Final[dict[str, tuple[Callable[[Transaction], object], tuple[str, ...]]]] = {
    "usage": (
        lambda tx: tx.usage.delete_before(at(1)),
        ("DELETE FROM reservation_states", "DELETE FROM used_periods"),
    ),
    "journal": (
        lambda tx: tx.journal.known_reservations(["one", "two"]),
        ("SELECT DISTINCT journal",),
    ),
    "history": (
        lambda tx: tx.journal.list_latest("lease", ["update", "create"], 1_000),
        ("SELECT journal.id",),
    ),
}
INDEXES: Final = {
    "usage": "ix_held_periods_reservation_id",
    "journal": "ix_journal_reservation_id",
    "history": "_journal_lease_id",
}
EXPLAIN: Final = {"sqlite": "EXPLAIN QUERY PLAN ", "mysql": "EXPLAIN ", "postgresql": "EXPLAIN "}


@pytest.mark.parametrize("kind", ACTS)
def test_the_records_of_a_reservation_are_found_by_an_index(
    store: SqlStore, engine: sa.Engine, kind: str
) -> None:
    act, beginnings = ACTS[kind]
    executed: list[tuple[str, Any]] = []

    def note(connection: Any, cursor: Any, statement: str, parameters: Any, *rest: Any) -> None:
        if statement.startswith(beginnings):
            executed.append((statement, parameters))

    sa.event.listen(engine, "before_cursor_execute", note)
    try:
        with store.begin() as transaction:
            act(transaction)
    finally:
        sa.event.remove(engine, "before_cursor_execute", note)

    assert len(executed) == len(beginnings)
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            # Otherwise it reads small tables whole.
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        for statement, parameters in executed:
            plan = connection.exec_driver_sql(EXPLAIN[engine.dialect.name] + statement, parameters)
            assert INDEXES[kind] in str(plan.all())
