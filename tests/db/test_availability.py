"""Reads of the in-memory index."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from clocks import EPOCH, ManualClock
from databases import empty_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from log import changes_after
from samples import HOUR, SHARE, at, make_allocation, make_host, make_lease, window
from statements import counted

from blazar.db.store import SqlStore
from blazar.db.tables import resources
from blazar.domain.availability import Availability
from blazar.domain.bookings import Booking
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, ReservationId, ResourceId
from blazar.plugins.hosts.store import HOST_STORE

MICROSECOND = timedelta(microseconds=1)
ONE, TWO = ResourceId("1"), ResourceId("2")
OWNERS = [ReservationId(f"lease-r{number}") for number in range(3)]


def micros(instant: datetime) -> int:
    return (instant - datetime(1970, 1, 1, tzinfo=UTC)) // MICROSECOND


def insert_hosts(store: SqlStore, *host_ids: str) -> None:
    with store.begin() as transaction:
        for host_id in host_ids:
            transaction.of(HOST_STORE).insert(make_host(host_id, capabilities={"rack": f"r{host_id}"}))
        transaction.leases.insert(make_lease(reservations=len(OWNERS)))
        transaction.commit()


def insert(store: SqlStore, *new: Allocation) -> None:
    with store.begin() as transaction:
        transaction.allocations.insert(new)
        transaction.commit()


class TestReading:
    def test_resources_come_with_the_facts_that_requirements_ask_for(self, store: SqlStore) -> None:
        insert_hosts(store, "1", "2")

        with store.read() as transaction:
            everything = transaction.availability.read("host", None)
            [one] = transaction.availability.read("host", [ONE, ResourceId("gone")])
            nothing = transaction.availability.read("floatingip", None)

        assert one == make_host("1", capabilities={"rack": "r1"}).as_resource()
        assert {each.id for each in everything} == {"1", "2"}
        assert nothing == ()

    def test_generations_of_what_is_gone_are_missing(self, store: SqlStore) -> None:
        insert_hosts(store, "1")

        with store.read() as transaction:
            assert transaction.availability.generations([ONE, TWO]) == {ONE: 0}
            assert transaction.availability.generations([]) == {}

    def test_bookings_of_some_come_with_their_owners(self, store: SqlStore) -> None:
        insert_hosts(store, "1", "2")
        insert(store, make_allocation("1", OWNERS[0], 1, 2), make_allocation("2", OWNERS[1], 3, 4))

        with store.read() as transaction:
            some = list(transaction.availability.bookings([TWO]))
            nothing = list(transaction.availability.bookings([]))

        assert some == [Booking(resource_id=TWO, reservation_id=OWNERS[1], window=window(3, 4))]
        assert nothing == []

    @pytest.mark.parametrize("at_once", [1, 10_000])
    def test_all_bookings_of_a_collection_come_as_columns_in_parts(
        self, store: SqlStore, at_once: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("blazar.db.availability._ROWS_AT_ONCE", at_once)
        insert_hosts(store, "1", "2")
        with store.read() as transaction:
            assert list(transaction.availability.all_bookings("host")) == []
        insert(store, make_allocation("1", OWNERS[0], 1, 2), make_allocation("2", OWNERS[1], 3, 4))
        with store.begin() as transaction:
            transaction.allocations.release(OWNERS[1], [TWO], at(5) + MICROSECOND)
            transaction.commit()

        with store.read() as transaction:
            parts = list(transaction.availability.all_bookings("host"))
            of_others = list(transaction.availability.all_bookings("floatingip"))

        rows = [
            row
            for each in parts
            for row in zip(
                each.resource_ids,
                each.reservation_ids,
                each.starts.tolist(),
                each.ends.tolist(),
                each.held.tolist(),
                strict=True,
            )
        ]
        assert sorted(rows) == [
            (ONE, OWNERS[0], micros(at(1)), micros(at(2)), True),
            (TWO, OWNERS[1], micros(at(3)), micros(at(5)) + 1, False),
        ]
        assert len(parts) == (2 if at_once == 1 else 1)
        assert of_others == []


class TestLog:
    def test_changes_are_numbered_upwards_and_never_twice(self, store: SqlStore, clock: ManualClock) -> None:
        insert_hosts(store, "1", "2")
        with store.read() as transaction:
            first = transaction.availability.last_change()
        clock.advance(HOUR)
        with store.begin() as transaction:
            transaction.allocations.touch([ONE, TWO])
            transaction.commit()

        with store.read() as transaction:
            new = changes_after(transaction, first)
            last = transaction.availability.last_change()
        assert [each[1:] for each in new] == [(ONE, False), (TWO, False)]
        assert first < new[0][0] < new[1][0] == last

        with store.begin() as transaction:
            transaction.availability.purge_changes(EPOCH + 2 * HOUR)
            transaction.allocations.touch([ONE])
            transaction.commit()

        with store.read() as transaction:
            [(number, resource_id, facts_changed)] = changes_after(transaction, 0)
        assert number > last
        assert (resource_id, facts_changed) == (ONE, False)

    def test_what_reservations_free_is_logged_with_the_new_generation(self, store: SqlStore) -> None:
        insert_hosts(store, "1", "2")
        insert(store, make_allocation("1", OWNERS[0], 1, 2), make_allocation("2", OWNERS[1], 1, 2))
        with store.read() as transaction:
            last = transaction.availability.last_change()

        with store.begin() as transaction:
            transaction.allocations.remove(OWNERS[0])
            transaction.allocations.touch_bookings({(ONE, OWNERS[0])})
            transaction.allocations.touch_bookings(set())
            transaction.commit()

        with store.read() as transaction:
            (change,) = transaction.availability.changes("host", last)
        assert (change.resource_id, change.reservation_id, change.bookings) == (ONE, OWNERS[0], ())
        assert change.generation == change.present == 1

    def test_purging_keeps_what_is_not_older(self, store: SqlStore, clock: ManualClock) -> None:
        insert_hosts(store, "1")
        clock.advance(HOUR)
        with store.begin() as transaction:
            transaction.allocations.touch([ONE])
            transaction.availability.purge_changes(EPOCH + HOUR)
            transaction.commit()

        with store.read() as transaction:
            assert len(changes_after(transaction, 0)) == 1

    def test_an_empty_log_ends_at_zero(self, store: SqlStore) -> None:
        with store.read() as transaction:
            assert transaction.availability.last_change() == 0
            assert changes_after(transaction, 0) == ()


HOST_IDS = [ResourceId(str(number)) for number in range(4)]
WINDOWS = st.tuples(st.integers(0, 12), st.integers(1, 5)).map(lambda each: window(each[0], sum(each)))
BOOKINGS = st.tuples(
    st.sampled_from(HOST_IDS),
    st.sampled_from([*OWNERS, None]),
    WINDOWS,
    st.none() | st.integers(0, 16).map(at),
)
SEARCHES = st.tuples(WINDOWS, st.integers(0, 14).map(at), st.sampled_from([*OWNERS, None]))


@settings(max_examples=40, deadline=None)
@given(st.lists(BOOKINGS, max_size=12), st.lists(SEARCHES, min_size=1, max_size=8))
def test_an_index_that_was_loaded_finds_free_what_one_that_was_filled_does(
    database: sa.Engine,
    bookings: list[tuple[ResourceId, ReservationId | None, Interval, datetime | None]],
    searches: list[tuple[Interval, datetime, ReservationId | None]],
) -> None:
    store = SqlStore(database, ManualClock(), {})
    insert_hosts(store, *HOST_IDS)
    # Shares, so that they may overlap.
    insert(
        store,
        *(
            Allocation(
                resource_id=host_id,
                reservation_id=owner,  # type: ignore[arg-type]
                window=each,
                share=SHARE,
                released_at=released_at,
            )
            for host_id, owner, each, released_at in bookings
        ),
    )

    try:
        with store.read() as transaction:
            reader = transaction.availability
            loaded, put = Availability(), Availability()
            loaded.load(reader.read("host", None), reader.all_bookings("host"))
            for resource in reader.read("host", None):
                put.put(resource, reader.bookings([resource.id]))
            for search in searches:
                assert free_in(loaded, *search) == free_in(put, *search)
                assert slots_in(loaded, *search) == slots_in(put, *search)
    finally:
        empty_tables(database)


def free_in(
    index: Availability, wanted: Interval, now: datetime, ignoring: ReservationId | None
) -> set[ResourceId]:
    ignored = () if ignoring is None else (ignoring,)
    free = index.free(wanted, now=now, cleaning_time=timedelta(0), ignoring=ignored)
    return {index.resource_at(int(each)).id for each in free.nonzero()[0]}


def slots_in(
    index: Availability, wanted: Interval, now: datetime, ignoring: ReservationId | None
) -> dict[ResourceId, int]:
    ignored = () if ignoring is None else (ignoring,)
    headroom = index.headroom(SHARE.demand, wanted, now=now, cleaning_time=timedelta(0), ignoring=ignored)
    positions = range(len(index))
    return {
        index.resource_at(each).id: int(slots)
        for each, slots in zip(positions, headroom.slots(positions), strict=True)
    }


def test_all_generations_take_one_statement(store: SqlStore, engine: sa.Engine) -> None:
    insert_hosts(store, "1", "2", "3")
    with store.begin() as transaction:
        transaction.allocations.claim({ONE: 0, TWO: 0})
        transaction.allocations.insert([make_allocation("1", OWNERS[0], 1, 5)])
        transaction.commit()

    with counted(engine) as statements, store.read() as transaction:
        generations = transaction.availability.all_generations("host")

    assert generations == {ONE: 1, TWO: 1, ResourceId("3"): 0}
    assert statements.count("SELECT") == 1
    with store.read() as transaction:
        assert transaction.availability.all_generations("floatingip") == {}


def test_the_database_and_the_index_summarize_generations_alike(store: SqlStore, engine: sa.Engine) -> None:
    insert_hosts(store, "1", "2", "3")
    large = sa.update(resources).values(generation=2**62 + sa.cast(resources.c.id, sa.BigInteger))
    with engine.begin() as connection:
        connection.execute(large)
    index = Availability()

    with store.begin() as transaction:
        index.load(transaction.availability.read("host", None), [])
        before = transaction.availability.generation_summary("host")
        transaction.allocations.claim({ONE: 2**62 + 1})
        transaction.commit()
        after = transaction.availability.generation_summary("host")
        nothing = transaction.availability.generation_summary("floatingip")

    assert before == index.summary()
    assert after != before
    assert after.resources == before.resources == 3
    assert (nothing.resources, nothing.total) == (0, 0)
