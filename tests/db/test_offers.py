"""Stored offers, on every database."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from clocks import EPOCH, ManualClock
from samples import SHARE, at, make_allocation, make_host, make_lease, window
from statements import counted

from blazar.booking.index import AvailabilityIndex
from blazar.db.store import SqlStore
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import LeaseId, ReservationId, ResourceId
from blazar.domain.offers import EXPIRY_GRACE, Offer
from blazar.domain.quotas import Held
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.store import Transaction

ONE, TWO = ResourceId("1"), ResourceId("2")
TTL = timedelta(minutes=5)


def make_offer(offer_id: str = "offer", *hosts: str, **fields: Any) -> Offer:
    reservations = make_lease(offer_id).reservations
    (reservation,) = reservations
    defaults: dict[str, Any] = {
        "name": "",
        "user_id": "user",
        "project_id": "project",
        "start": at(1),
        "end": at(5),
        "before_end": at(4.5),
        "expires_at": EPOCH + TTL,
        "reservations": (replace(reservation, updated_at=EPOCH),),
        "allocations": tuple(make_allocation(each, reservation.id, 1, 5) for each in hosts),
        "created_at": EPOCH,
    }
    return Offer(id=LeaseId(offer_id), **{**defaults, **fields})


def write(store: SqlStore, act: Callable[[Transaction], object]) -> None:
    with store.begin() as transaction:
        act(transaction)
        transaction.commit()


def insert_hosts(store: SqlStore) -> None:
    for each in (ONE, TWO):
        write(store, lambda transaction, each=each: transaction.of(HOST_STORE).insert(make_host(each)))  # type: ignore[misc]


def book(store: SqlStore, offer: Offer) -> None:
    """Insert an offer as its use case does."""

    def act(transaction: Transaction) -> None:
        generations = transaction.availability.generations({each.resource_id for each in offer.allocations})
        transaction.allocations.claim(generations, {each.pair for each in offer.allocations})
        transaction.offers.insert(offer)

    write(store, act)


def find(store: SqlStore, offer_id: str = "offer") -> Offer | None:
    with store.read() as transaction:
        return transaction.offers.find(offer_id)


def free(index: AvailabilityIndex, clock: ManualClock, start: float = 1, end: float = 5) -> set[str]:
    with index.searching() as view:
        mask = view.free(window(start, end), now=clock.now(), cleaning_time=timedelta(0))
        return {str(view.resource_at(each).id) for each in view.in_order(mask)}


def test_an_offer_is_read_as_it_was_stored(store: SqlStore) -> None:
    insert_hosts(store)
    offer = make_offer("offer", ONE, TWO)
    shared = replace(offer, allocations=(offer.allocations[0], replace(offer.allocations[1], share=SHARE)))

    book(store, shared)

    assert find(store) == shared
    assert find(store, "another") is None


def test_open_offers_of_a_project_are_listed_in_two_statements(store: SqlStore, engine: sa.Engine) -> None:
    insert_hosts(store)
    later = make_offer("b", TWO, created_at=EPOCH + TTL / 2, before_end=None)
    for each in (
        later,
        make_offer("a", ONE),
        make_offer("other", project_id="other"),
        make_offer("no project's", project_id=None),
        make_offer("expired", expires_at=EPOCH),
        make_offer("committed"),
    ):
        book(store, each)
    write(store, lambda transaction: transaction.offers.commit(make_offer("committed"), EPOCH))

    with counted(engine) as statements, store.read() as transaction:
        found = transaction.offers.list_open("project", EPOCH)

    assert [each.id for each in found] == ["a", "b"]
    assert statements.count("SELECT") == 2
    with store.read() as transaction:
        assert transaction.offers.count_open("project", EPOCH) == 2
        assert transaction.offers.count_open("project", EPOCH + TTL) == 0
        assert [each.id for each in transaction.offers.list_open(None, EPOCH)] == ["no project's"]


@pytest.mark.parametrize("first", ["commit", "delete"])
@pytest.mark.parametrize("second", ["commit", "delete"])
def test_an_offer_is_committed_or_deleted_once(store: SqlStore, first: str, second: str) -> None:
    insert_hosts(store)
    offer = make_offer("offer", ONE)
    book(store, offer)

    def decide(how: str) -> None:
        def act(transaction: Transaction) -> None:
            if how == "commit":
                transaction.offers.commit(offer, EPOCH)
            else:
                transaction.offers.delete(offer)

        write(store, act)

    decide(first)
    with pytest.raises(ConcurrentUpdate):
        decide(second)

    left = find(store)
    if first == "delete":
        assert left is None
    else:
        assert left == replace(offer, allocations=(), committed_at=EPOCH)


def test_of_commits_at_the_same_time_one_takes_effect(store: SqlStore) -> None:
    insert_hosts(store)
    offer = make_offer("offer", ONE)
    book(store, offer)
    barrier = threading.Barrier(4)

    def commit(number: int) -> bool:
        barrier.wait()
        try:
            write(store, lambda each: each.offers.commit(offer, at(number)))
        except ConcurrentUpdate:
            return False
        return True

    with ThreadPoolExecutor(4) as executor:
        assert sorted(executor.map(commit, range(4))) == [False, False, False, True]


def test_expired_offers_are_deleted_in_two_steps(store: SqlStore) -> None:
    insert_hosts(store)
    book(store, make_offer("old", ONE))
    book(store, make_offer("new", TWO, expires_at=EPOCH + 2 * TTL))

    with store.begin() as transaction:
        assert transaction.offers.release_expired(EPOCH + TTL) == 1
        assert transaction.offers.purge(EPOCH + TTL) == 0
        transaction.commit()
    assert find(store, "old") == make_offer("old")
    with store.begin() as transaction:
        assert transaction.offers.purge(EPOCH + TTL + timedelta(microseconds=1)) == 1
        transaction.commit()

    assert find(store, "old") is None
    assert find(store, "new") == make_offer("new", TWO, expires_at=EPOCH + 2 * TTL)


@pytest.mark.parametrize("how", ["following", "new", "confirming"])
def test_an_index_knows_what_is_offered_until_it_expires(
    store: SqlStore, clock: ManualClock, how: str
) -> None:
    insert_hosts(store)
    index = AvailabilityIndex(store, clock, "host")
    if how != "new":
        assert free(index, clock) == {ONE, TWO}
    book(store, make_offer("offer", ONE))
    if how == "confirming":
        index.doubt([ONE, TWO])

    assert free(index, clock) == {TWO}
    assert free(index, clock, 5, 6) == {ONE, TWO}
    clock.advance(TTL + EXPIRY_GRACE - timedelta(microseconds=1))
    assert free(index, clock) == {TWO}
    clock.advance(timedelta(microseconds=1))
    assert free(index, clock) == {ONE, TWO}
    index.doubt([ONE])
    assert free(index, clock) == {ONE, TWO}


def test_an_index_that_follows_reads_an_offer_like_a_lease_in_one_statement(
    store: SqlStore, engine: sa.Engine, clock: ManualClock
) -> None:
    insert_hosts(store)
    index = AvailabilityIndex(store, clock, "host")
    for _ in range(2):
        free(index, clock)
    book(store, make_offer("offer", ONE))

    with counted(engine) as statements:
        assert free(index, clock) == {TWO}

    assert statements.count("SELECT") == 1


def test_what_becomes_a_lease_does_not_expire(store: SqlStore, clock: ManualClock) -> None:
    insert_hosts(store)
    index = AvailabilityIndex(store, clock, "host")
    offer = make_offer("offer", ONE)
    book(store, offer)
    assert free(index, clock) == {TWO}

    def commit(transaction: Transaction) -> None:
        generations = transaction.availability.generations([ONE])
        transaction.allocations.claim(generations, {each.pair for each in offer.allocations})
        transaction.offers.commit(offer, EPOCH)
        transaction.leases.insert(make_lease("offer"))
        transaction.allocations.insert(offer.allocations)

    write(store, commit)
    clock.advance(2 * TTL)

    assert free(index, clock) == {TWO}
    with index.searching() as view:
        mine = [ReservationId("offer-r0")]
        mask = view.free(window(1, 5), now=clock.now(), cleaning_time=timedelta(0), ignoring=mine)
        assert mask.all()


def test_the_clock_of_an_index_is_corrected(store: SqlStore, clock: ManualClock) -> None:
    insert_hosts(store)
    book(store, make_offer("offer", ONE))
    index = AvailabilityIndex(store, clock, "host")
    index.correct_clock(lambda: timedelta(seconds=2))
    clock.advance(TTL + EXPIRY_GRACE + timedelta(seconds=1))
    assert free(index, clock) == {TWO}

    clock.advance(timedelta(seconds=1))

    assert free(index, clock) == {ONE, TWO}


def test_open_offers_count_as_leases(store: SqlStore) -> None:
    insert_hosts(store)
    book(store, make_offer("offer", ONE, TWO))

    with store.read() as transaction:
        during = transaction.quotas.reserved("project", EPOCH)
        after = transaction.quotas.reserved("project", EPOCH + TTL)
        of_others = transaction.quotas.reserved("other", EPOCH)

    assert during.leases == 1
    assert during.held == (Held(resource_type="physical:host", window=window(1, 5), count=2),)
    assert (after.leases, after.held) == (of_others.leases, of_others.held) == (0, ())


def test_an_offered_resource_counts_as_held_until_the_offer_expires(
    store: SqlStore, clock: ManualClock
) -> None:
    insert_hosts(store)
    book(store, make_offer("offer", ONE))

    with store.read() as transaction:
        assert transaction.allocations.count_on(ONE) == 1
        assert transaction.allocations.count_on(TWO) == 0
    clock.advance(TTL + EXPIRY_GRACE)
    with store.read() as transaction:
        assert transaction.allocations.count_on(ONE) == 0
    write(store, lambda transaction: transaction.of(HOST_STORE).delete(ONE))
    left = find(store)
    assert left is not None
    assert left.allocations == ()
