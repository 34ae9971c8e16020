"""Records of usage, on every database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from clocks import ManualClock
from samples import HOUR, at, make_allocation, make_host, make_lease, window

from blazar.db.store import SqlStore
from blazar.domain.capacity import Demand, Share
from blazar.domain.health import Diagnosis, Health
from blazar.domain.interval import Interval
from blazar.domain.lease import Allocation, Lease, ReservationId, ReservationStatus, ResourceId
from blazar.domain.plugin_resources import PluginResource
from blazar.domain.usage.records import UsageRecords
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.usage import UsageFilter

IDS = [ResourceId(str(number)) for number in range(3)]
SHARE = Share(slots=2, demand=Demand.of({"VCPU": 4}))
LEASE = make_lease()
OWN = LEASE.reservations[0].id
FAILED = Diagnosis(health=Health.FAILED, problem="no power")
SOUND = Diagnosis(health=Health.HEALTHY)
DISABLED = Diagnosis(health=Health.DISABLED, problem="soon")


@pytest.fixture(autouse=True)
def hosts(store: SqlStore) -> None:
    with store.begin() as transaction:
        for each in IDS:
            transaction.of(HOST_STORE).insert(make_host(each, capabilities={"rack": "r1"}))
        transaction.commit()


def insert(store: SqlStore, lease: Lease, *allocations: Allocation) -> None:
    with store.begin() as transaction:
        transaction.leases.insert(lease)
        transaction.allocations.insert(allocations)
        transaction.commit()


def read(store: SqlStore, start: float = -99, end: float = 99, **which: str) -> UsageRecords:
    with store.read() as transaction:
        return transaction.usage.read(window(start, end), UsageFilter(**which), at(50))


def held(records: UsageRecords) -> list[tuple[ResourceId, Interval]]:
    return sorted((each.resource_id, each.window) for each in records.holdings)


def test_a_later_start_of_the_records_stays(store: SqlStore) -> None:
    starts = []
    for instant in (at(5), at(3), at(7)):
        with store.begin() as transaction:
            transaction.usage.start_at(instant)
            transaction.commit()
        starts.append(read(store).complete_since)

    assert starts == [at(5), at(5), at(7)]


class TestHoldings:
    def test_what_is_removed_counts_until_then(self, store: SqlStore, clock: ManualClock) -> None:
        insert(store, LEASE, *(make_allocation(each, OWN, 1, 5) for each in IDS))
        clock.set(at(3))

        with store.begin() as transaction:
            transaction.allocations.remove(OWN, IDS[:1])
            transaction.commit()

        assert held(read(store)) == [(IDS[0], window(1, 3)), *((key, window(1, 5)) for key in IDS[1:])]

    def test_what_is_removed_before_it_began_never_counted(self, store: SqlStore, clock: ManualClock) -> None:
        insert(store, LEASE, make_allocation(IDS[0], OWN, 1, 5))
        clock.set(at(1))

        with store.begin() as transaction:
            transaction.allocations.remove(OWN)
            transaction.commit()

        assert held(read(store)) == []

    def test_a_lease_is_counted_after_it_is_gone(self, store: SqlStore, clock: ManualClock) -> None:
        insert(store, LEASE, make_allocation(IDS[0], OWN, 1, 5, share=SHARE))
        clock.set(at(9))

        with store.begin() as transaction:
            transaction.allocations.release(OWN, IDS[:1], None)
            stored = transaction.leases.find(LEASE.id)
            assert stored is not None
            transaction.leases.delete(stored)
            transaction.commit()

        (found,) = read(store).holdings
        assert (found.window, found.share) == (window(1, 5), SHARE)
        assert (found.project_id, found.user_id) == ("project", "user")
        assert (found.reservation_id, found.resource_type) == (OWN, "physical:host")

    def test_what_is_cleaned_counts_once(self, store: SqlStore, clock: ManualClock) -> None:
        insert(store, LEASE, make_allocation(IDS[0], OWN, 1, 5))
        clock.set(at(6))

        with store.begin() as transaction:
            transaction.allocations.release(OWN, IDS[:1], at(6))
            transaction.commit()
        assert held(read(store)) == [(IDS[0], window(1, 5))]

        with store.begin() as transaction:
            transaction.allocations.purge_released(at(99))
            transaction.commit()
        assert held(read(store)) == [(IDS[0], window(1, 5))]

    def test_only_those_of_the_question_are_read(self, store: SqlStore, clock: ManualClock) -> None:
        other = make_lease("other", project_id="other")
        insert(store, LEASE, make_allocation(IDS[0], OWN, 1, 5))
        insert(store, other, make_allocation(IDS[1], other.reservations[0].id, 2, 6))

        assert len(read(store, 5, 6).holdings) == 1
        assert read(store, 6, 7).holdings == []
        assert held(read(store, project_id="other")) == [(IDS[1], window(2, 6))]
        assert read(store, resource_type="network").holdings == []
        clock.set(at(9))
        with store.begin() as transaction:
            for each in (OWN, other.reservations[0].id):
                transaction.allocations.remove(each)
            transaction.commit()
        assert len(read(store, 5, 6).holdings) == 1
        assert held(read(store, project_id="other")) == [(IDS[1], window(2, 6))]
        assert read(store, resource_type="network").holdings == []


def test_changes_of_states_are_recorded_once(store: SqlStore) -> None:
    insert(store, LEASE, make_allocation(IDS[0], OWN, 1, 5))

    with_state(store, 2, status=ReservationStatus.ACTIVE)
    with_state(store, 3, status=ReservationStatus.ACTIVE, problem="waits")
    with_state(store, 4, missing_resources=True)

    found = read(store).states[OWN]
    assert [(each.since, each.status, each.is_missing) for each in found] == [
        (at(2), ReservationStatus.ACTIVE, False),
        (at(4), ReservationStatus.ACTIVE, True),
    ]


def with_state(store: SqlStore, when: float, **fields: object) -> None:
    with store.begin() as transaction:
        before = transaction.leases.find(LEASE.id)
        assert before is not None
        changed = tuple(replace(each, **fields) for each in before.reservations)  # type: ignore[arg-type]
        transaction.leases.replace(before, replace(before, reservations=changed), at(when))
        transaction.commit()


def test_imported_leases_have_their_state_from_their_start(store: SqlStore) -> None:
    active = replace(LEASE.reservations[0], status=ReservationStatus.ACTIVE)
    insert(store, replace(LEASE, reservations=(active,)), make_allocation(IDS[0], OWN, 1, 5))

    assert [each.since for each in read(store).states[OWN]] == [LEASE.start]


def test_a_failure_lasts_until_the_resource_recovers(store: SqlStore) -> None:
    insert(store, LEASE, *(make_allocation(each, OWN, 1, 5) for each in IDS[:2]))

    with store.begin() as transaction:
        for when, diagnosis in ((1, DISABLED), (2, FAILED), (3, FAILED), (4, DISABLED), (5, SOUND)):
            transaction.resources.set_diagnosis(IDS[0], diagnosis, at(when))
        transaction.resources.set_diagnosis(IDS[1], FAILED, at(2))
        transaction.commit()

    assert read(store).failures == {IDS[0]: [window(2, 4)], IDS[1]: [window(2, 50)]}


class TestFacts:
    def test_of_a_host_that_was_changed_and_deleted(self, store: SqlStore, clock: ManualClock) -> None:
        insert(store, LEASE, make_allocation(IDS[0], OWN, 1, 5))
        with store.begin() as transaction:
            hosts = transaction.of(HOST_STORE)
            hosts.set_capabilities(IDS[0], {"rack": "r2"}, at(2))
            host = hosts.find(IDS[0])
            assert host is not None
            hosts.update(replace(host, availability_zone="z2"), {}, at(3))
            transaction.commit()
        clock.set(at(6))
        racks = [(each.until, each.values["rack"]) for each in read(store).facts[IDS[0]]]
        assert racks == [(at(2), "r1"), (at(3), "r2"), (None, "r2")]

        with store.begin() as transaction:
            transaction.allocations.remove(OWN)
            transaction.of(HOST_STORE).delete(IDS[0])
            transaction.commit()

        found = read(store).facts[IDS[0]]
        assert [each.until for each in found] == [at(2), at(3), at(6)]
        assert [each.values["availability_zone"] for each in found] == ["nova", "nova", "z2"]
        assert {each.name for each in found} == {"node-0.example.org"}

    def test_of_resources_of_plugins(self, store: SqlStore, clock: ManualClock) -> None:
        shelf = PluginResource(collection="shelf", name="s1", facts={"row": 1}, amounts={"SLOT": 4})
        with store.begin() as transaction:
            transaction.plugin_resources.put(shelf, at(0))
            transaction.plugin_resources.put(replace(shelf, facts={"row": 2}), at(2))
            transaction.commit()
        insert(store, LEASE, make_allocation(shelf.id, OWN, 1, 5))
        clock.set(at(3))
        with store.begin() as transaction:
            transaction.allocations.remove(OWN)
            transaction.plugin_resources.delete(shelf.id, at(4))
            transaction.commit()

        found = read(store).facts[shelf.id]

        assert [(each.until, each.name, each.values, each.amounts) for each in found] == [
            (at(2), "s1", {"row": 1}, {"SLOT": 4}),
            (at(4), "s1", {"row": 2}, {"SLOT": 4}),
        ]


class TestObservations:
    @pytest.fixture(autouse=True)
    def lease(self, store: SqlStore) -> None:
        insert(store, LEASE, *(make_allocation(each, OWN, 1, 40) for each in IDS[:2]))

    def test_a_number_counts_until_another_one_is_seen(self, store: SqlStore) -> None:
        for when, used in ((1, []), (2, [3]), (3, [3]), (4, [1, 1]), (5, [0, 1])):
            observe(store, when, used)

        records = read(store)
        assert records.observed == {"physical:host": [window(1, 5)]}
        uses = {key: [(each.window, each.units) for each in found] for key, found in records.used.items()}
        assert uses[OWN, IDS[0]] == [(window(2, 4), 3), (window(4, 5), 1)]
        ((started, units),) = [(each.window.start, each.units) for each in records.used[OWN, IDS[1]]]
        assert (started, units) == (at(4), 1)
        assert records.arrived == {OWN}

    def test_without_observations_for_too_long_nothing_is_known(self, store: SqlStore) -> None:
        for when in (1, 3, 6, 7):
            observe(store, when, [1])

        assert read(store).observed == {"physical:host": [window(1, 3), window(6, 7)]}
        with store.read() as transaction:
            assert transaction.usage.last_observed("physical:host") == window(6, 7)
            assert transaction.usage.last_observed("network") is None

    def test_a_clock_that_was_set_back_changes_nothing(self, store: SqlStore) -> None:
        for when in (3, 5, 4, 6):
            observe(store, when, [])

        assert read(store).observed == {"physical:host": [window(3, 6)]}

    def test_types_are_observed_apart(self, store: SqlStore) -> None:
        observe(store, 1, [1])
        with store.begin() as transaction:
            transaction.usage.observe("network", {}, at(2), 2 * HOUR)
            transaction.commit()
        observe(store, 3, [1])

        (used,) = read(store).used[OWN, IDS[0]]
        assert used.window.start == at(1)


def observe(store: SqlStore, when: float, units: Sequence[int]) -> None:
    used = {(ReservationId(OWN), key): each for key, each in zip(IDS, units, strict=False)}
    with store.begin() as transaction:
        transaction.usage.observe("physical:host", used, at(when), timedelta(hours=2))
        transaction.commit()


def test_old_records_are_deleted_but_not_states_of_what_is_left(store: SqlStore, clock: ManualClock) -> None:
    other = make_lease("other")
    insert(store, LEASE, make_allocation(IDS[0], OWN, 1, 5))
    insert(store, other, make_allocation(IDS[1], other.reservations[0].id, 1, 5))
    with_state(store, 2, status=ReservationStatus.ACTIVE)
    observe(store, 2, [1])
    observe(store, 4, [])
    clock.set(at(6))
    with store.begin() as transaction:
        transaction.allocations.remove(OWN)
        stored = transaction.leases.find(LEASE.id)
        assert stored is not None
        transaction.leases.delete(stored)
        transaction.commit()

    assert delete(store, 5) == 1  # the observed period
    records = read(store)
    assert len(records.holdings) == 2
    assert records.arrived == {OWN}
    assert OWN in records.states

    assert delete(store, 5.5) == 3
    records = read(store)
    assert [each.reservation_id for each in records.holdings] == [other.reservations[0].id]


def delete(store: SqlStore, before: float) -> int:
    with store.begin() as transaction:
        gone = transaction.usage.delete_before(at(before))
        transaction.commit()
    return gone


def test_holdings_can_be_listed_alone(store: SqlStore, clock: ManualClock) -> None:
    insert(store, LEASE, *(make_allocation(each, OWN, 1, 5, share=SHARE) for each in IDS))
    clock.set(at(3))
    with store.begin() as transaction:
        transaction.allocations.release(OWN, IDS[:1], at(3))
        transaction.commit()

    with store.read() as transaction:
        listed = transaction.usage.list_held(window(2, 4))
        nothing = transaction.usage.list_held(window(6, 9))

    assert sorted(listed, key=str) == sorted(read(store, 2, 4).holdings, key=str) != []
    assert nothing == []


def test_refused_requests_are_recorded_once_and_deleted_with_other_records(store: SqlStore) -> None:
    again = make_lease("again")
    with store.begin() as transaction:
        assert transaction.usage.record_refused(LEASE, at(1))
        assert not transaction.usage.record_refused(again, at(2))
        assert transaction.usage.record_refused(replace(again, end=LEASE.end + HOUR), at(3))
        transaction.commit()

    with store.read() as transaction:
        first, second = transaction.usage.list_refused(at(1))
        assert transaction.usage.list_refused(at(2)) == [second]

    assert (first.id, first.name, first.project_id) == (LEASE.id, LEASE.name, LEASE.project_id)
    assert [each.spec for each in first.reservations] == [each.spec for each in LEASE.reservations]
    assert (first.start, first.end, first.created_at) == (LEASE.start, LEASE.end, at(1))
    assert delete(store, 2) == 1
