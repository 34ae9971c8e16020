"""Transactions: explicit, isolated, and with clear errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from clocks import ManualClock
from databases import end_other_connections, make_database
from samples import make_host, make_lease
from wires import Wire

from blazar.db.engine import make_engine
from blazar.db.store import SqlStore
from blazar.domain.errors import LeaseNotFound, Unavailable
from blazar.domain.lease import ResourceId
from blazar.plugins.hosts.store import HOST_STORE

ONE = ResourceId("1")


def lease_ids(store: SqlStore) -> list[str]:
    with store.read() as transaction:
        return [each.id for each in transaction.leases.list()]


def test_nothing_is_kept_without_a_commit(store: SqlStore) -> None:
    with store.begin() as transaction:
        transaction.leases.insert(make_lease())

    assert lease_ids(store) == []


def test_a_failure_rolls_back_and_comes_out_as_it_is(store: SqlStore) -> None:
    def fail() -> None:
        with store.begin() as transaction:
            transaction.leases.insert(make_lease())
            raise LeaseNotFound("x")

    with pytest.raises(LeaseNotFound):
        fail()

    assert lease_ids(store) == []


def test_what_follows_a_commit_is_another_transaction(store: SqlStore) -> None:
    with store.begin() as transaction:
        transaction.leases.insert(make_lease("one"))
        transaction.commit()
        transaction.leases.insert(make_lease("two"))

    assert lease_ids(store) == ["one"]


def test_uncommitted_changes_are_invisible(store: SqlStore) -> None:
    with store.begin() as transaction:
        transaction.leases.insert(make_lease())
        assert lease_ids(store) == []
        transaction.commit()

    assert lease_ids(store) == ["lease"]


def test_a_reading_transaction_sees_one_instant(store: SqlStore) -> None:
    with store.begin() as transaction:
        transaction.of(HOST_STORE).insert(make_host())
        transaction.commit()

    with store.read() as reading:
        before = reading.availability.generations([ONE])
        with store.begin() as transaction:
            transaction.allocations.claim({ONE: 0})
            transaction.commit()
        after = reading.availability.generations([ONE])

    assert before == after == {ONE: 0}
    with store.read() as reading:
        assert reading.availability.generations([ONE]) == {ONE: 1}


def test_a_lost_connection_is_told_from_a_mistake_and_the_next_one_is_good(
    store: SqlStore, engine: sa.Engine
) -> None:
    if engine.dialect.name == "sqlite":
        return  # a file has no connection to lose

    def lose_the_connection() -> None:
        with store.begin() as transaction:
            transaction.allocations.count_on(ONE)
            end_other_connections(engine)
            transaction.allocations.count_on(ONE)

    with pytest.raises(Unavailable):
        lose_the_connection()

    assert lease_ids(store) == []


def test_a_server_that_is_not_there_is_told_from_a_mistake(engine: sa.Engine) -> None:
    if engine.dialect.name == "sqlite":
        return  # there is no server
    host, port = engine.url.host, engine.url.port
    assert host is not None
    assert port is not None
    wire = Wire(host, port)
    through = engine.url.set(host="127.0.0.1", port=wire.port)
    cut_off = make_engine(through.render_as_string(hide_password=False))

    wire.cut()

    with pytest.raises(Unavailable):
        lease_ids(SqlStore(cut_off, ManualClock(), {}))


def test_a_full_disk_is_told_from_a_mistake_and_the_rest_stays_readable(tmp_path: Path) -> None:
    with make_database("sqlite", tmp_path) as engine:
        store = SqlStore(engine, ManualClock(), {})

        @sa.event.listens_for(engine, "connect")
        def have_no_room(connection: Any, record: object) -> None:
            connection.execute("PRAGMA max_page_count = 1")

        engine.dispose()

        def fill() -> None:
            with store.begin() as transaction:
                for number in range(1000):
                    transaction.leases.insert(make_lease(f"lease-{number}"))
                transaction.commit()

        with pytest.raises(Unavailable, match="no room"):
            fill()

        assert lease_ids(store) == []
