"""Leases, written and read back."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
import sqlalchemy as sa
from clocks import EPOCH
from oslo_db.exception import DBError
from samples import HOUR, at, make_allocation, make_host, make_lease
from statements import counted

from blazar.db.store import SqlStore
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import (
    Event,
    EventStatus,
    EventType,
    Lease,
    LeaseStatus,
    ReservationStatus,
    ResourceId,
    StoredSpec,
)
from blazar.manager.collections import COLLECTIONS
from blazar.plugins.hosts.store import HOST_STORE
from blazar.reconcile.periodic.tasks import periodic_tasks
from blazar.settings import Settings

ODD = timedelta(hours=1, minutes=2, seconds=3, microseconds=456_789)


def insert(store: SqlStore, *leases: Lease) -> None:
    with store.begin() as transaction:
        for lease in leases:
            transaction.leases.insert(lease)
        transaction.commit()


def replaced(store: SqlStore, before: Lease, after: Lease, at_: datetime = EPOCH) -> Lease:
    with store.begin() as transaction:
        written = transaction.leases.replace(before, after, at_)
        transaction.commit()
    return written


def find(store: SqlStore, lease_id: str) -> Lease | None:
    with store.read() as transaction:
        return transaction.leases.find(lease_id)


class TestRoundTrip:
    def test_a_lease_comes_back_as_it_went(self, store: SqlStore) -> None:
        lease = make_lease(reservations=3)
        first, second, third = lease.reservations
        lease = replace(
            lease,
            name="Nächte im Rechenzentrum 🌙",
            status=LeaseStatus.ERROR,
            is_deleting=True,
            revision=7,
            updated_at=EPOCH + ODD,
            reservations=(
                replace(
                    first,
                    spec=StoredSpec({"min": 1, "nested": {"list": [None, True, 1.5, "ü"]}}),
                    is_deployed=True,
                ),
                replace(second, status=ReservationStatus.ERROR, problem="x" * 5000, missing_resources=True),
                replace(third, lost_resources=frozenset({ResourceId("7")}), updated_at=EPOCH + ODD),
            ),
        )

        insert(store, lease)

        assert find(store, "lease") == lease

    def test_a_lease_without_owner_and_children_comes_back(self, store: SqlStore) -> None:
        lease = make_lease(reservations=0, events=(), user_id=None, project_id=None, name="")

        insert(store, lease)

        assert find(store, "lease") == lease

    def test_an_unknown_lease_is_not_found(self, store: SqlStore) -> None:
        insert(store, make_lease("lease"))

        assert find(store, "LEASE") is None
        assert find(store, "lease2") is None

    def test_microseconds_survive_and_zones_become_utc(self, store: SqlStore) -> None:
        zone = timezone(timedelta(hours=-7))
        lease = make_lease(created_at=(EPOCH + ODD).astimezone(zone))

        insert(store, replace(lease, start=(EPOCH + ODD).astimezone(zone)))
        found = find(store, "lease")

        assert found is not None
        assert found.start == found.created_at == EPOCH + ODD
        assert found.start.utcoffset() == timedelta(0)

    @pytest.mark.parametrize("year", [1, 1969, 9999])
    def test_any_year_of_the_calendar_survives(self, store: SqlStore, year: int) -> None:
        start = EPOCH.replace(year=year, month=12, day=31, hour=23, minute=59)
        lease = make_lease(start=1)

        insert(store, replace(lease, start=start))
        found = find(store, "lease")

        assert found is not None
        assert found.start == start

    def test_an_instant_without_a_zone_is_refused(self, store: SqlStore) -> None:
        with pytest.raises((DBError, ValueError), match="timezone-aware"):
            insert(store, replace(make_lease(), start=EPOCH.replace(tzinfo=None)))

        assert find(store, "lease") is None

    def test_reservations_keep_their_order_and_events_follow_time(self, store: SqlStore) -> None:
        lease = make_lease(reservations=12)
        lease = replace(lease, reservations=lease.reservations[::-1], events=lease.events[::-1])

        insert(store, lease)
        found = find(store, "lease")

        assert found is not None
        assert found.reservations == lease.reservations
        assert [each.event_type for each in found.events] == list(EventType)

    def test_events_of_one_instant_come_in_one_order(self, store: SqlStore) -> None:
        names = ["c", "a", "b"]
        lease = make_lease(
            events=tuple(
                Event(id=name, event_type=kind, time=at(1))
                for name, kind in zip(names, EventType, strict=True)
            )
        )

        insert(store, lease)
        found = find(store, "lease")

        assert found is not None
        assert [each.event_type for each in found.events] == [
            EventType.START,
            EventType.END,
            EventType.BEFORE_END,
        ]


class TestListing:
    def test_leases_are_listed_oldest_first_each_with_its_own_children(self, store: SqlStore) -> None:
        leases = [make_lease(f"l{number}", created_at=EPOCH - number * HOUR) for number in range(4)]
        insert(store, *leases)

        with store.read() as transaction:
            listed = transaction.leases.list()

        assert listed == tuple(leases[::-1])

    def test_a_project_sees_its_own(self, store: SqlStore) -> None:
        insert(store, make_lease("a"), make_lease("b", project_id="other"), make_lease("c", project_id=None))

        with store.read() as transaction:
            assert [each.id for each in transaction.leases.list("project")] == ["a"]
            assert [each.id for each in transaction.leases.list("PROJECT")] == []
            assert [each.id for each in transaction.leases.list()] == ["a", "b", "c"]
            assert transaction.leases.list("other") == (make_lease("b", project_id="other"),)

    @pytest.mark.parametrize("project_id", [None, "project"])
    def test_weakness_35_the_number_of_statements_is_the_same_however_many_leases(
        self, store: SqlStore, engine: sa.Engine, project_id: str | None
    ) -> None:
        counts = []
        for number in range(1, 30):
            insert(store, make_lease(f"lease-{number}", reservations=3))
            if number in (1, 29):
                with counted(engine) as statements, store.read() as transaction:
                    assert len(transaction.leases.list(project_id)) == number
                counts.append(statements.count("SELECT"))

        assert counts == [3, 3]

    def test_those_reservations_are_told_of_which_something_may_exist(self, store: SqlStore) -> None:
        lease = make_lease(reservations=2)
        first, second = lease.reservations
        insert(store, replace(lease, reservations=(first, replace(second, is_deployed=True))))

        with store.read() as transaction:
            ids = ["lease-r0", "lease-r1", "lease", "unknown"]
            assert transaction.leases.deployed_reservations(ids) == {"lease-r1"}
            assert transaction.leases.deployed_reservations([]) == frozenset()

    def test_a_lease_is_never_seen_half_deleted(self, store: SqlStore) -> None:
        lease = make_lease()
        insert(store, lease, make_lease("other"))

        with store.read() as transaction:
            transaction.leases.find("other")
            with store.begin() as deletion:
                deletion.leases.delete(lease)
                deletion.commit()
            assert transaction.leases.find("lease") == lease

        assert find(store, "lease") is None


class TestReplacing:
    def test_what_differs_is_written_and_stamped(self, store: SqlStore) -> None:
        before = make_lease(reservations=2)
        insert(store, before)
        first, second = before.reservations
        changed = replace(first, status=ReservationStatus.ACTIVE, spec=StoredSpec({"min": 5}), problem="slow")
        events = tuple(
            replace(each, status=EventStatus.DONE) if each.event_type is EventType.START else each
            for each in before.events
        )

        after = replaced(
            store,
            before,
            replace(before, name="new", end=at(9), events=events, reservations=(changed, second)),
            EPOCH + ODD,
        )

        assert after.revision == 1
        assert after.updated_at == EPOCH + ODD
        assert [each.updated_at for each in after.reservations] == [EPOCH + ODD, None]
        assert [each.updated_at for each in after.events] == [EPOCH + ODD, None, None]
        assert find(store, "lease") == after

    def test_a_new_event_is_added(self, store: SqlStore) -> None:
        whole = make_lease()
        before = replace(whole, events=(whole.events[0], whole.events[2]))
        insert(store, before)

        after = replaced(store, before, replace(before, events=whole.events))

        assert find(store, "lease") == after
        assert [each.event_type for each in after.events] == list(EventType)

    def test_a_stale_revision_is_refused_and_changes_nothing(self, store: SqlStore) -> None:
        stale = make_lease()
        insert(store, stale)
        current = replaced(store, stale, replace(stale, name="first"))

        with pytest.raises(ConcurrentUpdate):
            replaced(store, stale, replace(stale, name="second"))

        assert find(store, "lease") == current

    def test_a_lease_that_is_gone_cannot_be_replaced(self, store: SqlStore) -> None:
        lease = make_lease()

        with pytest.raises(ConcurrentUpdate):
            replaced(store, lease, lease)

    def test_a_lease_is_checked_to_be_as_it_was_read(self, store: SqlStore) -> None:
        lease = make_lease()
        insert(store, lease)

        with store.begin() as transaction:
            transaction.leases.check(lease)
        current = replaced(store, lease, replace(lease, name="new"))

        for stale in (lease, make_lease("unknown")):
            with pytest.raises(ConcurrentUpdate), store.begin() as transaction:
                transaction.leases.check(stale)
        with store.begin() as transaction:
            transaction.leases.check(current)

    def test_other_leases_are_left_alone(self, store: SqlStore) -> None:
        one, other = make_lease("one"), make_lease("other")
        insert(store, one, other)

        replaced(store, one, replace(one, name="new"))

        assert find(store, "other") == other


class TestDeleting:
    def test_a_lease_goes_with_its_children_and_leaves_others(self, store: SqlStore) -> None:
        lease, other = make_lease("lease"), make_lease("other")
        insert(store, lease, other)

        with store.begin() as transaction:
            transaction.leases.delete(lease)
            transaction.commit()

        with store.read() as transaction:
            assert transaction.leases.list() == (other,)
        with store.begin() as transaction:
            transaction.leases.insert(lease)  # the deletion left nothing behind
            transaction.commit()

    def test_another_revision_is_left_alone(self, store: SqlStore) -> None:
        stale = make_lease()
        insert(store, stale)
        current = replaced(store, stale, replace(stale, name="new"))

        with store.begin() as transaction:
            transaction.leases.delete(stale)
            transaction.commit()

        assert find(store, "lease") == current

    def test_what_is_being_cleaned_outlives_its_lease(self, store: SqlStore) -> None:
        lease, host = make_lease(), make_host("1")
        with store.begin() as transaction:
            transaction.of(HOST_STORE).insert(host)
            transaction.leases.insert(lease)
            transaction.allocations.insert([make_allocation("1", "lease-r0", 1, 5)])
            transaction.allocations.release(lease.reservations[0].id, [host.id], at(5))
            transaction.leases.delete(lease)
            transaction.commit()

        with store.read() as transaction:
            [booking] = transaction.availability.bookings([host.id])

        assert (booking.reservation_id, booking.released_at) == (None, at(5))


def test_no_lease_has_the_key_of_a_periodic_task_as_its_id(store: SqlStore) -> None:
    for key in periodic_tasks(Settings(), COLLECTIONS):
        with pytest.raises(ValueError, match="periodic task"), store.begin() as transaction:
            transaction.leases.insert(make_lease(key))
        with store.begin() as transaction:
            transaction.work.schedule([key], EPOCH)
            transaction.work.forget(key)
            assert transaction.work.is_due(key, EPOCH)
