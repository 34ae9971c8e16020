"""Registered hosts, their capabilities and the properties these have."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import sqlalchemy as sa
from clocks import EPOCH, ManualClock
from log import changes_after
from samples import HOUR, at, make_allocation, make_host, make_lease
from statements import counted

from blazar.db.store import SqlStore
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import ResourceId, StoredSpec
from blazar.domain.providers import HostProvider, Inventory
from blazar.plugins.hosts.errors import HostAlreadyRegistered
from blazar.plugins.hosts.host import Host
from blazar.plugins.hosts.store import HOST_STORE

ONE = ResourceId("1")
ROOT = HostProvider(
    uuid="11111111-1111-4111-8111-111111111111",
    name="node-1.example.org",
    inventories={
        "VCPU": Inventory(total=8, reserved=1, min_unit=1, max_unit=8, step_size=1, allocation_ratio=1.1)
    },
    traits=frozenset({"HW_A", "HW_B"}),
)
CHILD = HostProvider(
    uuid="00000000-0000-4000-8000-000000000000",
    name="node-1.example.org_NUMA0",
    parent_uuid=ROOT.uuid,
    traits=frozenset({"HW_A"}),
)


def insert(store: SqlStore, *hosts: Host) -> None:
    with store.begin() as transaction:
        for host in hosts:
            transaction.of(HOST_STORE).insert(host)
        transaction.commit()


def delete(store: SqlStore, host_id: str) -> None:
    with store.begin() as transaction:
        transaction.of(HOST_STORE).delete(ResourceId(host_id))
        transaction.commit()


def find(store: SqlStore, host_id: str = "1") -> Host | None:
    with store.read() as transaction:
        return transaction.of(HOST_STORE).find(host_id)


def capabilities(store: SqlStore, host_id: str = "1") -> dict[str, str]:
    host = find(store, host_id)
    assert host is not None
    return dict(host.capabilities)


def set_capabilities(store: SqlStore, changes: dict[str, str | None], host_id: str = "1") -> None:
    with store.begin() as transaction:
        transaction.of(HOST_STORE).set_capabilities(ResourceId(host_id), changes, at(1))
        transaction.commit()


def properties(store: SqlStore) -> dict[str, tuple[bool, tuple[str, ...]]]:
    with store.read() as transaction:
        listed = transaction.of(HOST_STORE).list_properties()
    assert [each.name for each, _ in listed] == sorted(each.name for each, _ in listed)
    return {each.name: (each.is_private, values) for each, values in listed}


class TestRegistration:
    def test_a_host_comes_back_as_it_went(self, store: SqlStore) -> None:
        disabled = Diagnosis(health=Health.DISABLED, problem="maintenance")
        host = make_host(cpu_info='{"model": "Zen"}' * 10_000, diagnosis=disabled, availability_zone="")

        insert(store, host)

        assert find(store) == host
        with store.read() as transaction:
            assert transaction.of(HOST_STORE).find_by_hostname(host.hypervisor_hostname) == host
            assert transaction.of(HOST_STORE).list() == (host,)

    def test_an_unknown_host_is_not_found(self, store: SqlStore) -> None:
        insert(store, make_host())

        with store.read() as transaction:
            assert transaction.of(HOST_STORE).find("2") is None
            assert transaction.of(HOST_STORE).find_by_hostname("node") is None
            assert transaction.of(HOST_STORE).find_by_hostname("NODE-1.example.org") is None

    def test_providers_are_kept_in_their_order_with_what_they_have(self, store: SqlStore) -> None:
        insert(store, make_host(providers=(ROOT, CHILD)), make_host("2"))

        with store.read() as transaction:
            assert transaction.of(HOST_STORE).list_providers() == {"1": (ROOT, CHILD)}

    def test_what_nova_and_placement_say_is_replaced_and_the_rest_stays(self, store: SqlStore) -> None:
        host = make_host(providers=(ROOT, CHILD), capabilities={"gpu": "yes"})
        insert(store, host)
        changed = replace(host, vcpus=99, availability_zone="az2", capabilities={}, providers=(CHILD,))

        with store.begin() as transaction:
            transaction.of(HOST_STORE).update(changed, {}, at(1))
            transaction.commit()

        with store.read() as transaction:
            assert transaction.of(HOST_STORE).list_providers() == {"1": (CHILD,)}
            (found,) = transaction.of(HOST_STORE).list()
            assert changes_after(transaction, 0)[-1][1:] == ("1", True)
        assert (found.vcpus, found.availability_zone, found.updated_at) == (99, "az2", at(1))
        assert found.capabilities == {"gpu": "yes"}

    def test_a_host_that_goes_takes_its_providers_with_it(self, store: SqlStore) -> None:
        insert(store, make_host(providers=(ROOT, CHILD)))

        delete(store, "1")

        with store.read() as transaction:
            assert transaction.of(HOST_STORE).list_providers() == {}

    @pytest.mark.parametrize(
        "again",
        [
            make_host("1", hypervisor_hostname="other"),
            make_host("2", hypervisor_hostname="node-1.example.org"),
        ],
    )
    def test_a_host_is_registered_once(self, store: SqlStore, again: Host) -> None:
        insert(store, make_host())

        with pytest.raises(HostAlreadyRegistered):
            insert(store, again)

        with store.read() as transaction:
            assert transaction.of(HOST_STORE).list() == (make_host(),)

    def test_weakness_36_the_number_of_statements_is_the_same_however_many_hosts(
        self, store: SqlStore, engine: sa.Engine
    ) -> None:
        counts = []
        for number in range(20):
            insert(store, make_host(str(number), capabilities={"rack": str(number)}))
            with counted(engine) as statements, store.read() as transaction:
                listed = transaction.of(HOST_STORE).list()
            counts.append(statements.count("SELECT"))
            assert listed[-1].capabilities == {"rack": listed[-1].id}

        assert set(counts) == {2}

    def test_a_deleted_host_can_be_registered_again(self, store: SqlStore) -> None:
        host = make_host(capabilities={"rack": "a"}, providers=(ROOT,))
        insert(store, host, make_host("2", capabilities={"rack": "b"}))

        delete(store, "1")

        assert find(store) is None
        assert properties(store) == {"rack": (False, ("b",))}
        insert(store, make_host("1"))
        assert capabilities(store) == {}

    def test_a_host_that_was_booked_meanwhile_is_not_deleted(self, store: SqlStore) -> None:
        insert(store, make_host())
        with store.begin() as transaction:
            transaction.leases.insert(make_lease())
            transaction.allocations.insert([make_allocation("1", "lease-r0", 1, 5)])
            transaction.commit()

        with pytest.raises(ConcurrentUpdate):
            delete(store, "1")

        assert find(store) == make_host()

    def test_indexes_are_told_of_every_change_of_facts(self, store: SqlStore) -> None:
        insert(store, make_host())
        set_capabilities(store, {"rack": "a"})
        delete(store, "1")

        with store.read() as transaction:
            last = transaction.availability.last_change()
            changes = [each[1:] for each in changes_after(transaction, 0) if each[0] > last - 10]
        assert changes
        assert set(changes) == {(ONE, True)}


class TestCapabilities:
    def test_capabilities_are_set_changed_and_removed(self, store: SqlStore) -> None:
        insert(store, make_host(capabilities={"rack": "a", "gpu": "yes"}), make_host("2"))

        set_capabilities(store, {"rack": "b", "gpu": None, "room": "x" * 70_000, "never": None})
        set_capabilities(store, {})

        assert capabilities(store) == {"rack": "b", "room": "x" * 70_000}
        assert capabilities(store, "2") == {}
        host = find(store)
        assert host is not None
        assert host.updated_at == at(1)

    def test_names_that_differ_in_case_only_are_two(self, store: SqlStore) -> None:
        insert(store, make_host(capabilities={"rack": "a", "Rack": "A"}))

        set_capabilities(store, {"RACK": "ä", "Rack": None})

        assert capabilities(store) == {"rack": "a", "RACK": "ä"}
        assert properties(store) == {"rack": (False, ("a",)), "RACK": (False, ("ä",))}

    def test_values_that_differ_in_case_only_are_two(self, store: SqlStore) -> None:
        insert(store, make_host("1", capabilities={"rack": "a"}), make_host("2", capabilities={"rack": "A"}))
        insert(store, make_host("3", capabilities={"rack": "a"}))

        assert properties(store) == {"rack": (False, ("A", "a"))}

    def test_a_property_that_no_host_has_any_more_is_not_listed_but_found(self, store: SqlStore) -> None:
        insert(store, make_host(capabilities={"rack": "a"}))

        set_capabilities(store, {"rack": None})

        assert properties(store) == {}
        with store.read() as transaction:
            found = transaction.of(HOST_STORE).find_property("rack")
            assert transaction.of(HOST_STORE).find_property("Rack") is None
        assert found is not None
        assert (found.name, found.resource_type, found.created_at) == ("rack", "physical:host", EPOCH)

    def test_a_property_is_hidden_and_shown(self, store: SqlStore, clock: ManualClock) -> None:
        insert(store, make_host(capabilities={"rack": "a", "Rack": "b"}))

        with store.begin() as transaction:
            transaction.of(HOST_STORE).set_property_private("rack", True, clock.now() + HOUR)
            transaction.commit()

        assert properties(store) == {"rack": (True, ("a",)), "Rack": (False, ("b",))}
        set_capabilities(store, {"rack": "c"})
        assert properties(store)["rack"] == (True, ("c",))
        with store.read() as transaction:
            found = transaction.of(HOST_STORE).find_property("rack")
        assert found is not None
        assert found.updated_at == at(1)

    def test_concurrent_inventions_of_a_property_create_one(self, store: SqlStore) -> None:
        hosts = [make_host(str(number)) for number in range(4)]
        insert(store, *hosts)
        barrier = threading.Barrier(len(hosts))

        def invent(host: Host) -> bool:
            barrier.wait(timeout=10)
            try:
                set_capabilities(store, {"rack": host.id}, host.id)
            except ConcurrentUpdate:
                return False
            return True

        with ThreadPoolExecutor(len(hosts)) as threads:
            outcomes = list(threads.map(invent, hosts))

        winners = tuple(host.id for host, has_won in zip(hosts, outcomes, strict=True) if has_won)
        assert winners
        assert properties(store) == {"rack": (False, winners)}

    def test_those_reservations_are_told_that_hold_a_host(self, store: SqlStore) -> None:
        insert(store, make_host("1"), make_host("2"))
        lease = make_lease(reservations=3)
        first, *others = lease.reservations
        with store.begin() as transaction:
            transaction.leases.insert(
                replace(lease, reservations=(replace(first, spec=StoredSpec({"min": 7})), *others))
            )
            transaction.allocations.insert(
                [
                    make_allocation("1", "lease-r0", 1, 2),
                    make_allocation("1", "lease-r0", 3, 4),
                    make_allocation("1", "lease-r1", 5, 6),
                    make_allocation("2", "lease-r2", 1, 2),
                ]
            )
            transaction.allocations.release(others[0].id, [ONE], at(6))
            transaction.commit()

        with store.read() as transaction:
            assert transaction.of(HOST_STORE).reservations_on(ONE) == (
                ("lease-r0", "physical:host", StoredSpec({"min": 7})),
            )
