"""An index that reads only changes equals one that reads everything."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
import sqlalchemy as sa
from clocks import ManualClock
from databases import empty_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import HOUR, SHARE, at, make_allocation, make_host, make_lease, window
from statements import counted

from blazar.booking.index import AvailabilityIndex
from blazar.db.availability import SqlAvailability
from blazar.db.store import SqlStore
from blazar.db.tables import resources
from blazar.domain.availability import Availability
from blazar.domain.errors import Unavailable
from blazar.domain.lease import ReservationId, ResourceId
from blazar.domain.providers import HostProvider, Inventory
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.store import Transaction

HOST_IDS = [ResourceId(str(number)) for number in range(3)]
ONE, TWO = HOST_IDS[1:]
HOURS, FIRST_HOURS = 14, 6
LONG_SECONDS, SHORT_SECONDS = 30, 0.2


def known(index: Availability, owners: list[ReservationId], end: int = HOURS) -> object:
    """Return the visible state of an index: when each host is free, and for which reservations."""
    hours = [window(hour, hour + 1) for hour in range(end)]
    now = at(3)
    return {
        host_id: [
            (
                index.generation_of(host_id),
                bool((index.free(hour, now=now, cleaning_time=HOUR / 2, ignoring=ignored) & mask).any()),
                index.headroom(SHARE.demand, hour, now=now, cleaning_time=HOUR / 2, ignoring=ignored).slots(
                    [position]
                )[0],
            )
            for hour in hours
            for ignored in ([], *([each] for each in owners))
        ]
        for host_id in HOST_IDS
        if (position := index.position_of(host_id)) is not None
        for mask in [index.mask_of([host_id])]
    }


def provider(host_id: ResourceId) -> HostProvider:
    """Return a provider with room for many slots of the booked share."""
    room = {name: Inventory(total=50 * amount) for name, amount in SHARE.demand.amounts}
    return HostProvider(
        uuid=f"provider-{host_id}", name=host_id, inventories=room, traits=SHARE.demand.required_traits
    )


def insert_hosts(store: SqlStore) -> None:
    with store.begin() as transaction:
        for host_id in HOST_IDS:
            transaction.of(HOST_STORE).insert(make_host(host_id, providers=[provider(host_id)]))
        transaction.commit()


@dataclass
class Life:
    """Changes of leases and allocations by lessees and managers, written as the service does."""

    store: SqlStore
    leases: list[str] = field(default_factory=list)
    made: int = 0
    cleaned: set[ReservationId] = field(default_factory=set)
    """Reservations with released allocations, which are kept while their resources are cleaned."""

    def step(self, act: str, host_ids: list[ResourceId], number: int) -> None:
        """Make a change, unless it needs a lease and there is none."""
        if self.leases or act in ("create", "refuse", "purge", "describe"):
            getattr(self, act)(host_ids, number)

    def write(self, act: Callable[[Transaction], None]) -> None:
        with self.store.begin() as transaction:
            act(transaction)
            transaction.commit()

    def owner(self, number: int) -> ReservationId:
        return ReservationId(f"{self.leases[number % len(self.leases)]}-r0")

    def create(self, host_ids: list[ResourceId], number: int) -> None:
        name = f"lease{self.made}"
        self.made += 1

        def act(transaction: Transaction) -> None:
            expected = transaction.availability.generations(host_ids)
            # Shares, so that they may overlap.
            new = [make_allocation(each, f"{name}-r0", number, number + 2, share=SHARE) for each in expected]
            transaction.allocations.claim(expected, {each.pair for each in new})
            transaction.leases.insert(make_lease(name))
            transaction.allocations.insert(new)

        self.write(act)
        self.leases.append(name)

    def move(self, host_ids: list[ResourceId], number: int) -> None:
        def act(transaction: Transaction) -> None:
            owner = self.owner(number)
            held = transaction.allocations.of_reservations([owner])
            transaction.allocations.touch_bookings({each.pair for each in held})
            transaction.allocations.move([owner], window(number, number + 3), began_at=at(0))

        self.write(act)

    def remove(self, host_ids: list[ResourceId], number: int) -> None:
        def act(transaction: Transaction) -> None:
            transaction.allocations.remove(self.owner(number), host_ids)
            self.touch_freed(transaction, self.owner(number), host_ids)

        self.write(act)

    def touch_freed(
        self, transaction: Transaction, owner: ReservationId, host_ids: Collection[ResourceId]
    ) -> None:
        if owner in self.cleaned:
            transaction.allocations.touch(host_ids)
        else:
            transaction.allocations.touch_bookings({(each, owner) for each in host_ids})

    def release(self, host_ids: list[ResourceId], number: int) -> None:
        released_at = None if number % 3 == 0 else at(number)
        if released_at is not None:
            self.cleaned.add(self.owner(number))
        self.write(lambda each: each.allocations.release(self.owner(number), host_ids, released_at))

    def forget(self, host_ids: list[ResourceId], number: int) -> None:
        """Delete a lease; from then on, its released resources need no cleaning."""
        name = self.leases.pop(number % len(self.leases))

        def act(transaction: Transaction) -> None:
            owner = ReservationId(f"{name}-r0")
            held = transaction.allocations.of_reservations([owner])
            transaction.allocations.remove(owner)
            self.touch_freed(transaction, owner, {each.resource_id for each in held})
            lease = transaction.leases.find(name)
            assert lease is not None
            transaction.leases.delete(lease)

        self.write(act)

    def purge(self, host_ids: list[ResourceId], number: int) -> None:
        def act(transaction: Transaction) -> None:
            transaction.allocations.purge_released(at(number))

        self.write(act)

    def refuse(self, host_ids: list[ResourceId], number: int) -> None:
        """Begin a booking, and roll it back."""
        with self.store.begin() as transaction:
            transaction.allocations.touch(host_ids)

    def describe(self, host_ids: list[ResourceId], number: int) -> None:
        self.write(
            lambda each: each.of(HOST_STORE).set_capabilities(host_ids[0], {"rack": f"r{number}"}, at(number))
        )


ACTS = ["create", "create", "create", "move", "remove", "release", "forget", "purge", "refuse", "describe"]
STEPS = st.tuples(
    st.sampled_from(ACTS),
    st.lists(st.sampled_from(HOST_IDS), min_size=1, max_size=3, unique=True),
    st.integers(0, 11),
    st.sampled_from(["", "", "first", "both"]),
)


@settings(max_examples=10, deadline=None)
@given(st.lists(STEPS, min_size=8, max_size=20))
def test_an_index_that_follows_knows_what_one_that_is_new_does(
    database: sa.Engine, steps: list[tuple[str, list[ResourceId], int, str]]
) -> None:
    clock = ManualClock()
    store = SqlStore(database, clock, {})
    insert_hosts(store)
    life = Life(store)
    first, second = (AvailabilityIndex(store, clock, "host") for _ in range(2))
    with first.searching(), second.searching():
        pass

    try:
        for act, host_ids, number, who_searches in steps:
            life.step(act, host_ids, number)
            clock.advance(timedelta(seconds=7))
            followers = {"": [], "first": [first], "both": [first, second]}[who_searches]
            for index in followers:
                assert_knows_all(index, store, life)
        assert_knows_all(first, store, life)
        assert_knows_all(second, store, life)
    finally:
        empty_tables(database)


@settings(max_examples=5, deadline=None)
@given(st.lists(STEPS, min_size=2, max_size=8), st.lists(STEPS, min_size=2, max_size=8))
def test_an_index_with_the_first_bookings_knows_the_first_hours_until_it_has_loaded_all(
    database: sa.Engine,
    before: list[tuple[str, list[ResourceId], int, str]],
    after: list[tuple[str, list[ResourceId], int, str]],
) -> None:
    clock = ManualClock()
    store = SqlStore(database, clock, {})
    insert_hosts(store)
    life, index = Life(store), AvailabilityIndex(store, clock, "host")

    def live(steps: list[tuple[str, list[ResourceId], int, str]]) -> None:
        for act, host_ids, number, _ in steps:
            life.step(act, host_ids, number)
            clock.advance(timedelta(seconds=7))

    try:
        live(before)
        # A search in the last of these hours also looks at the cleaning time after it.
        index.load_first(at(FIRST_HOURS + 1))
        assert not index.has_all
        assert_knows_all(index, store, life, FIRST_HOURS)
        live(after)
        assert_knows_all(index, store, life, FIRST_HOURS)
        index.load_all()
        assert index.has_all
        assert_knows_all(index, store, life)
    finally:
        empty_tables(database)


def assert_knows_all(index: AvailabilityIndex, store: SqlStore, life: Life, hours: int = HOURS) -> None:
    """Check that an index knows what the database has, in all hours or the first ones."""
    owners = [ReservationId(f"{each}-r0") for each in life.leases]
    until = None if hours == HOURS else at(hours + 1)
    with index.searching(until) as followed, store.read() as transaction:
        reader = transaction.availability
        loaded = Availability()
        loaded.load(reader.read("host", None), reader.all_bookings("host"))
        assert known(followed, owners, hours) == known(loaded, owners, hours)


def test_only_changed_bookings_are_read(store: SqlStore, engine: sa.Engine) -> None:
    insert_hosts(store)
    life, index = Life(store), AvailabilityIndex(store, ManualClock(), "host")
    # The second search checks all transactions that were in progress at the first one.
    for _ in range(2):
        with index.searching():
            pass
    life.create([ONE], 1)
    life.create([ONE, TWO], 5)
    life.move([], 0)
    life.move([], 1)

    with counted(engine) as statements, index.searching():
        pass

    assert statements.count("SELECT") == 1
    assert_knows_all(index, store, life)


def test_a_booking_that_is_changed_at_once_is_read_as_it_is(store: SqlStore) -> None:
    insert_hosts(store)
    life, index = Life(store), AvailabilityIndex(store, ManualClock(), "host")
    with index.searching():
        pass

    life.create([ONE], 1)
    life.release([ONE], 1)
    life.forget([ONE], 0)

    assert_knows_all(index, store, life)


# SQLite serializes writing transactions.
@pytest.mark.parametrize("database", ["mariadb", "postgresql"], indirect=True, scope="session")
def test_what_was_under_way_at_a_search_is_found_at_the_next(store: SqlStore) -> None:
    insert_hosts(store)
    life, index = Life(store), AvailabilityIndex(store, ManualClock(), "host")
    life.create([ONE], 1)
    with index.searching():
        pass

    added = [make_allocation(TWO, life.owner(0), 4, 9, share=SHARE)]
    with store.begin() as transaction:
        transaction.allocations.claim({TWO: 0}, {each.pair for each in added})
        life.create([ONE], 5)
        assert_knows_all(index, store, life)
        transaction.allocations.insert(added)
        transaction.commit()

    assert_knows_all(index, store, life)
    with index.searching() as availability:
        assert availability.generation_of(TWO) == 1


@pytest.mark.parametrize("generation", [0, 2**61])
def test_a_host_that_was_registered_again_unseen_is_read_whole(
    store: SqlStore, engine: sa.Engine, generation: int
) -> None:
    insert_hosts(store)
    life, index = Life(store), AvailabilityIndex(store, ManualClock(), "host")
    life.create([ONE], 1)
    life.create([ONE], 2)
    with index.searching():
        pass
    with engine.begin() as connection:
        which = resources.c.id == ONE
        connection.execute(sa.update(resources).where(which).values(generation=generation))

    life.create([ONE], 5)

    assert_knows_all(index, store, life)


def test_a_search_that_needs_later_bookings_waits_until_all_are_loaded(store: SqlStore) -> None:
    insert_hosts(store)
    life, index = Life(store), AvailabilityIndex(store, ManualClock(), "host")
    life.create([ONE], 1)
    life.create([TWO], 10)
    index.load_first(at(FIRST_HOURS))
    searches = {"near": at(FIRST_HOURS), "later": at(11), "at any time": None}
    done = {name: threading.Event() for name in searches}

    def search(name: str) -> int:
        with index.searching(searches[name]) as view:
            done[name].set()
            return int(view.free(window(10, 11), now=at(0), cleaning_time=HOUR / 2).sum())

    with ThreadPoolExecutor(len(searches)) as pool:
        found = {name: pool.submit(search, name) for name in searches}
        try:
            assert done["near"].wait(LONG_SECONDS)
            assert not done["later"].wait(SHORT_SECONDS)
            assert not done["at any time"].is_set()
        finally:
            index.load_all()
        assert found["later"].result() == found["at any time"].result() == len(HOST_IDS) - 1


def test_only_hosts_that_changed_are_read_again_with_all_bookings(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert_hosts(store)
    life, index = Life(store), AvailabilityIndex(store, ManualClock(), "host")
    index.load_first(at(FIRST_HOURS))
    life.create([ONE], 1)
    life.describe([TWO], 7)
    added = ResourceId("9")
    life.write(lambda each: each.of(HOST_STORE).delete(HOST_IDS[0]))
    life.write(lambda each: each.of(HOST_STORE).insert(make_host(added, providers=[provider(added)])))
    asked: list[Collection[ResourceId] | None] = []
    read = SqlAvailability.read

    def noted(reader: SqlAvailability, collection: str, ids: Collection[ResourceId] | None) -> object:
        asked.append(ids)
        return read(reader, collection, ids)

    monkeypatch.setattr(SqlAvailability, "read", noted)
    index.load_all()

    assert [set(each or ()) for each in asked] == [{ONE, added}]
    with index.searching() as availability:
        facts = {each.id: each.facts for each in availability.resources()}
    assert facts.keys() == {ONE, TWO, added}
    assert facts[TWO]["rack"] == "r7"


def test_bookings_that_could_not_be_loaded_are_loaded_by_the_next_search(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert_hosts(store)
    life, index = Life(store), AvailabilityIndex(store, ManualClock(), "host")
    life.create([TWO], 10)
    index.load_first(at(FIRST_HOURS))
    with monkeypatch.context() as patched:
        patched.setattr(store, "read", no_database)
        with pytest.raises(Unavailable):
            index.load_all()
        with pytest.raises(Unavailable), index.searching_on():
            pass

    assert_knows_all(index, store, life)


@contextmanager
def no_database(*, of_one_instant: bool = True) -> Iterator[Transaction]:
    raise Unavailable("away")
    yield
