"""Stored offers for changes of leases, on every database."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from clocks import EPOCH, ManualClock
from db.test_offers import ONE, TTL, TWO, find, free, insert_hosts, make_offer, write
from samples import SHARE, make_allocation, make_lease, window

from blazar.booking.index import AvailabilityIndex
from blazar.db.store import SqlStore
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import LeaseId, ReservationId, ResourceId
from blazar.domain.offers import EXPIRY_GRACE, Offer, OfferedChange
from blazar.domain.quotas import Held
from blazar.ports.store import Transaction


def make_change(offer_id: str = "longer", *hosts: str, lease_id: str = "lease", **fields: Any) -> Offer:
    """Return an offer that holds hosts for two hours after the end of a lease."""
    lease = make_lease(lease_id)
    (reservation,) = lease.reservations
    own: dict[ResourceId, Any] = {ResourceId(each): None for each in hosts}
    change = OfferedChange(
        lease_id=lease.id,
        asked={"end_date": "2030-01-01 00:00", "reservations": [{"id": reservation.id, "min": 1}]},
        before={reservation.id: own, ReservationId("gone"): {}},
        after={reservation.id: own, ReservationId("shared"): {ONE: SHARE}},
    )
    offer = make_offer(offer_id, *hosts, change=change)
    held = tuple(make_allocation(each, reservation.id, 5, 7) for each in hosts)
    return replace(offer, reservations=(replace(reservation, updated_at=EPOCH),), allocations=held, **fields)


def book_change(store: SqlStore, offer: Offer) -> None:
    def act(transaction: Transaction) -> None:
        held = {each.resource_id for each in offer.allocations}
        transaction.allocations.claim(transaction.availability.generations(held))
        transaction.offers.insert(offer)

    write(store, act)


def insert_lease(store: SqlStore, *hosts: str) -> None:
    held = [make_allocation(each, "lease-r0", 1, 5) for each in hosts]

    def act(transaction: Transaction) -> None:
        generations = transaction.availability.generations({each.resource_id for each in held})
        transaction.allocations.claim(generations, {each.pair for each in held})
        transaction.leases.insert(make_lease("lease"))
        transaction.allocations.insert(held)

    write(store, act)


def test_an_offer_for_a_change_is_read_as_it_was_stored(store: SqlStore) -> None:
    insert_hosts(store)
    offer = make_change("longer", ONE, TWO)

    book_change(store, offer)

    assert find(store, "longer") == offer
    with store.read() as transaction:
        assert transaction.offers.list_open("project", EPOCH) == [offer]


@pytest.mark.parametrize("how", ["following", "new", "confirming", "late"])
def test_what_it_holds_expires_beside_the_bookings_of_the_lease(
    store: SqlStore, clock: ManualClock, how: str
) -> None:
    insert_hosts(store)
    index = AvailabilityIndex(store, clock, "host")
    if how in ("following", "confirming", "late"):
        assert free(index, clock) == {ONE, TWO}
    insert_lease(store, ONE, TWO)
    if how == "following":
        assert free(index, clock) == set()
    book_change(store, make_change("longer", ONE))
    # A second one whose time overlaps.
    book_change(store, make_change("again", ONE, expires_at=EPOCH + TTL * 2))
    if how == "confirming":
        index.doubt([ONE, TWO])

    assert free(index, clock) == set()
    assert free(index, clock, 5, 7) == {TWO}
    with index.searching() as view:
        mine = [ReservationId("lease-r0")]
        hour = timedelta(hours=1)
        assert view.free(window(1, 7), now=clock.now(), cleaning_time=hour, ignoring=mine).all()
    clock.advance(TTL + EXPIRY_GRACE)
    assert free(index, clock, 5, 7) == {TWO}
    clock.advance(TTL)
    assert free(index, clock, 5, 7) == {ONE, TWO}
    assert free(index, clock) == set()


def test_a_change_of_the_lease_makes_open_offers_outdated(store: SqlStore) -> None:
    insert_hosts(store)
    insert_lease(store, ONE, TWO)
    first, second = make_change("first", ONE), make_change("second", TWO)
    expired, committed = make_change("expired", expires_at=EPOCH - TTL), make_change("committed")
    of_others = make_change("other", TWO, lease_id="other")
    for each in (first, second, expired, committed, of_others):
        book_change(store, each)
    write(store, lambda transaction: transaction.offers.commit(committed, EPOCH))

    with store.begin() as transaction:
        held = transaction.offers.held_for(LeaseId("lease"))
        assert held == {"first": {ONE}, "second": {TWO}, "expired": set(), "committed": set()}
        transaction.offers.outdate(LeaseId("lease"), EPOCH)
        transaction.commit()

    assert find(store, "first") == replace(first, allocations=(), outdated_at=EPOCH)
    assert find(store, "second") == replace(second, allocations=(), outdated_at=EPOCH)
    assert find(store, "expired") == expired
    assert find(store, "committed") == replace(committed, committed_at=EPOCH)
    assert find(store, "other") == of_others
    with pytest.raises(ConcurrentUpdate):
        write(store, lambda transaction: transaction.offers.commit(first, EPOCH))
    write(store, lambda transaction: transaction.offers.delete(first))
    with store.read() as transaction:
        assert transaction.offers.list_open("project", EPOCH) == [of_others]


def test_a_deleted_lease_has_no_offers(store: SqlStore) -> None:
    insert_hosts(store)
    of_others = make_change("other", TWO, lease_id="other")
    for each in (make_change("longer", ONE), make_change("expired", expires_at=EPOCH), of_others):
        book_change(store, each)

    write(store, lambda transaction: transaction.offers.delete_for(LeaseId("lease")))

    assert (find(store, "longer"), find(store, "expired"), find(store, "other")) == (
        None,
        None,
        of_others,
    )
    with store.read() as transaction:
        assert transaction.offers.held_for(LeaseId("lease")) == {}
        assert transaction.allocations.count_on(ONE) == 0


def test_it_counts_with_what_it_holds_but_is_no_lease(store: SqlStore) -> None:
    insert_hosts(store)
    book_change(store, make_change("longer", ONE))

    with store.read() as transaction:
        during = transaction.quotas.reserved("project", EPOCH)
        assert transaction.offers.count_open("project", EPOCH) == 1

    assert during.leases == 0
    assert during.held == (Held(resource_type="physical:host", window=window(5, 7), count=1),)
