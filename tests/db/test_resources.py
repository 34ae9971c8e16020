"""Stored resources of every kind, and the leases that depend on one."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa
from clocks import EPOCH
from log import changes_after
from samples import make_allocation, make_host, make_lease
from statements import counted

from blazar.db.store import SqlStore
from blazar.domain.health import HEALTHY, Diagnosis, Health, ResourceState
from blazar.domain.lease import Lease, LeaseId, ReservationStatus, ResourceId
from blazar.plugins.hosts.store import HOST_STORE

FAILED = Diagnosis(health=Health.FAILED, problem="its compute service is down")
DISABLED = Diagnosis(health=Health.DISABLED, problem="maintenance")
IDS = [ResourceId(str(number)) for number in range(5)]


@pytest.fixture(autouse=True)
def hosts(store: SqlStore) -> None:
    with store.begin() as transaction:
        for each in IDS:
            transaction.of(HOST_STORE).insert(make_host(each))
        transaction.commit()


def diagnose(store: SqlStore, resource_id: ResourceId, diagnosis: Diagnosis) -> Diagnosis | None:
    with store.begin() as transaction:
        before = transaction.resources.set_diagnosis(resource_id, diagnosis, EPOCH)
        transaction.commit()
    return before


def test_states_of_many_are_read_at_once(store: SqlStore, engine: sa.Engine) -> None:
    diagnose(store, IDS[1], FAILED)

    with counted(engine) as statements, store.read() as transaction:
        states = transaction.resources.get_states([*IDS, ResourceId("unknown")])

    names = {"hypervisor_hostname": "node-1.example.org", "service_name": "node-1"}
    assert states.keys() == set(IDS)
    assert states[IDS[1]] == ResourceState(facts=names, diagnosis=FAILED)
    assert states[IDS[2]].diagnosis == HEALTHY
    assert statements.count("SELECT") == 1


def test_nothing_is_asked_for_no_resources(store: SqlStore, engine: sa.Engine) -> None:
    with counted(engine) as statements, store.read() as transaction:
        assert transaction.resources.get_states([]) == {}

    assert statements.count("SELECT") == 0


def test_a_diagnosis_moves_the_resource_on_and_shows_in_searches(store: SqlStore) -> None:
    with store.read() as transaction:
        before = transaction.availability.generations(IDS[:1])[IDS[0]]
        last = transaction.availability.last_change()

    assert diagnose(store, IDS[0], DISABLED) == HEALTHY

    with store.read() as transaction:
        assert transaction.availability.generations(IDS[:1]) == {IDS[0]: before + 1}
        assert [each[1:] for each in changes_after(transaction, last)] == [(IDS[0], True)]
        assert [each.is_reservable for each in transaction.availability.read("host", IDS[:1])] == [False]
        assert [each.diagnosis for each in transaction.of(HOST_STORE).list()] == [DISABLED, *[HEALTHY] * 4]


def test_only_what_is_not_sound_is_listed(store: SqlStore) -> None:
    diagnose(store, IDS[0], FAILED)
    diagnose(store, IDS[1], DISABLED)
    diagnose(store, IDS[2], FAILED)
    diagnose(store, IDS[2], HEALTHY)

    with store.read() as transaction:
        assert transaction.resources.list_unsound("host") == {IDS[0]: FAILED, IDS[1]: DISABLED}
        assert transaction.resources.list_unsound("floatingip") == {}


def test_a_resource_that_is_gone_has_no_diagnosis(store: SqlStore) -> None:
    assert diagnose(store, ResourceId("unknown"), FAILED) is None


def with_reservation(lease: Lease, **fields: object) -> Lease:
    return replace(lease, reservations=(replace(lease.reservations[0], **fields),))  # type: ignore[arg-type]


class TestLeasesConcerned:
    @pytest.fixture(autouse=True)
    def leases(self, store: SqlStore) -> None:
        leases = [
            make_lease("a"),
            with_reservation(make_lease("b"), missing_resources=True),
            with_reservation(make_lease("c"), lost_resources=frozenset({IDS[4]})),
            with_reservation(make_lease("d"), missing_resources=True, status=ReservationStatus.DELETED),
        ]
        with store.begin() as transaction:
            for number, lease in enumerate(leases):
                transaction.leases.insert(lease)
                transaction.allocations.insert([make_allocation(str(number), f"{lease.id}-r0", 1, 5)])
            transaction.commit()

    def test_those_who_hold_a_resource_or_lost_it_are_its_holders(self, store: SqlStore) -> None:
        with store.read() as transaction:
            assert transaction.resources.list_holders(IDS[0]) == ("a",)
            assert transaction.resources.list_holders(IDS[1]) == ("b",)
            assert transaction.resources.list_holders(IDS[4]) == ("c",)

    def test_who_misses_something_is_listed_unless_it_is_over(self, store: SqlStore) -> None:
        with store.read() as transaction:
            assert transaction.resources.list_missing() == (LeaseId("b"),)
