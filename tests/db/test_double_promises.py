"""The database itself refuses to allocate a resource twice, whatever the code above it does."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from clocks import ManualClock
from databases import make_database
from samples import SHARE, at, make_allocation, make_host, make_lease, window

from blazar.db.allocations import SqlAllocations
from blazar.db.connection import Connection
from blazar.db.drivers import WRITES
from blazar.db.store import SqlStore
from blazar.db.tables import allocations
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, ReservationId
from blazar.plugins.hosts.store import HOST_STORE

SMALLEST = timedelta(microseconds=1)


@pytest.fixture(autouse=True)
def booked(store: SqlStore) -> None:
    """Book host 1 from 2 to 4 by ``lease-r0``; leave host 2 free."""
    insert_two_hosts(store)
    with store.begin() as transaction:
        transaction.allocations.insert([make_allocation("1", "lease-r0", 2, 4)])
        transaction.commit()


def insert_two_hosts(store: SqlStore) -> None:
    with store.begin() as transaction:
        transaction.leases.insert(make_lease(reservations=3))
        transaction.of(HOST_STORE).insert(make_host("1"))
        transaction.of(HOST_STORE).insert(make_host("2"))
        transaction.commit()


def insert(store: SqlStore, *new: Allocation) -> None:
    with store.begin() as transaction:
        transaction.allocations.insert(new)
        transaction.commit()


def windows_on(engine: sa.Engine, host_id: str) -> list[Interval]:
    query = sa.select(allocations.c.start_at, allocations.c.end_at).where(
        allocations.c.resource_id == host_id
    )
    with engine.connect() as connection:
        return sorted(Interval(*row) for row in connection.execute(query))


@pytest.mark.parametrize("hours", [(1, 3), (3, 5), (2, 4), (1, 5), (2.5, 3.5), (2, 3), (3, 4)])
def test_weakness_04_an_overlapping_exclusive_allocation_is_refused(
    store: SqlStore, engine: sa.Engine, hours: tuple[float, float]
) -> None:
    with pytest.raises(ConcurrentUpdate):
        insert(store, make_allocation("1", "lease-r1", *hours))

    assert windows_on(engine, "1") == [window(2, 4)]


def test_an_overlap_of_a_microsecond_is_refused(store: SqlStore) -> None:
    early = make_allocation("1", "lease-r1", 1, 2)

    with pytest.raises(ConcurrentUpdate):
        insert(
            store,
            Allocation(
                resource_id=early.resource_id,
                reservation_id=early.reservation_id,
                window=Interval(at(1), at(2) + SMALLEST),
            ),
        )


def test_two_overlapping_allocations_of_one_statement_are_refused(store: SqlStore, engine: sa.Engine) -> None:
    with pytest.raises(ConcurrentUpdate):
        insert(store, make_allocation("2", "lease-r1", 1, 3), make_allocation("2", "lease-r2", 2, 4))

    assert windows_on(engine, "2") == []


def test_windows_that_touch_are_fine(store: SqlStore, engine: sa.Engine) -> None:
    insert(store, make_allocation("1", "lease-r1", 1, 2), make_allocation("1", "lease-r2", 4, 5))

    assert windows_on(engine, "1") == [window(1, 2), window(2, 4), window(4, 5)]


def test_another_resource_may_be_booked_meanwhile(store: SqlStore, engine: sa.Engine) -> None:
    insert(store, make_allocation("2", "lease-r1", 2, 4))

    assert windows_on(engine, "2") == [window(2, 4)]


def test_shared_allocations_never_conflict(store: SqlStore, engine: sa.Engine) -> None:
    shared = [make_allocation("1", f"lease-r{number}", 1, 5, share=SHARE) for number in (1, 2)]

    insert(store, *shared, make_allocation("2", "lease-r1", 1, 5, share=SHARE))
    insert(store, make_allocation("2", "lease-r2", 2, 3))

    assert windows_on(engine, "1") == [window(1, 5), window(1, 5), window(2, 4)]


@contextmanager
def impatient(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Yield a connection that waits for a lock for one second at most."""
    is_postgresql = engine.dialect.name == "postgresql"
    with engine.connect().execution_options(**{WRITES: True}) as connection:
        connection.exec_driver_sql(
            "SET lock_timeout = '1s'" if is_postgresql else "SET innodb_lock_wait_timeout = 1"
        )
        yield connection


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_shares_of_one_resource_are_inserted_at_the_same_time(kind: str, tmp_path: Path) -> None:
    with make_database(kind, tmp_path) as engine:
        insert_two_hosts(SqlStore(engine, ManualClock(), {}))
        with impatient(engine) as one, impatient(engine) as other:
            for number, connection in enumerate((one, other, one, other)):
                share = make_allocation("2", "lease-r1", number, number + 5, share=SHARE)
                sending = Connection(connection)
                SqlAllocations(sending, ManualClock()).insert([share])
                assert sending.scalar(sa.select(1)) == 1
            other.commit()
            one.commit()

        assert len(windows_on(engine, "2")) == 4


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_an_overlap_with_what_is_not_committed_yet_waits_and_is_refused(kind: str, tmp_path: Path) -> None:
    with make_database(kind, tmp_path) as engine, ThreadPoolExecutor(1) as pool:
        store = SqlStore(engine, ManualClock(), {})
        insert_two_hosts(store)
        with store.begin() as transaction:
            transaction.allocations.insert([make_allocation("2", "lease-r1", 1, 3)])
            assert transaction.allocations.of_reservations([ReservationId("lease-r1")])
            overlapping = pool.submit(insert, store, make_allocation("2", "lease-r2", 2, 4))
            assert wait([overlapping], timeout=0.5).not_done
            transaction.commit()

        with pytest.raises(ConcurrentUpdate):
            overlapping.result()
        assert windows_on(engine, "2") == [window(1, 3)]


def test_moving_an_allocation_onto_another_is_refused(store: SqlStore, engine: sa.Engine) -> None:
    insert(store, make_allocation("1", "lease-r1", 4, 5))

    def move() -> None:
        with store.begin() as transaction:
            transaction.allocations.move([ReservationId("lease-r1")], window(3, 5), began_at=at(4))
            transaction.commit()

    with pytest.raises(ConcurrentUpdate):
        move()

    assert windows_on(engine, "1") == [window(2, 4), window(4, 5)]


def test_an_allocation_may_be_moved_across_its_own_old_window(store: SqlStore, engine: sa.Engine) -> None:
    with store.begin() as transaction:
        transaction.allocations.move([ReservationId("lease-r0")], window(1, 6), began_at=at(2))
        transaction.allocations.move([ReservationId("lease-r0")], window(3, 7), began_at=at(1))
        transaction.commit()

    assert windows_on(engine, "1") == [window(3, 7)]


def test_giving_an_allocation_back_does_not_conflict_with_itself(store: SqlStore, engine: sa.Engine) -> None:
    insert(store, make_allocation("1", "lease-r1", 4, 5))

    with store.begin() as transaction:
        transaction.allocations.release(ReservationId("lease-r0"), [make_host("1").id], at(4.5))
        transaction.commit()

    assert windows_on(engine, "1") == [window(2, 4), window(4, 5)]


def test_room_that_was_given_up_can_be_promised_again_in_one_transaction(
    store: SqlStore, engine: sa.Engine
) -> None:
    with store.begin() as transaction:
        transaction.allocations.remove(ReservationId("lease-r0"))
        transaction.allocations.insert([make_allocation("1", "lease-r1", 1, 9)])
        transaction.commit()

    assert windows_on(engine, "1") == [window(1, 9)]
