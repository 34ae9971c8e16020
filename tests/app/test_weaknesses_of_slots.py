"""Known weaknesses of the reference service with instances, none of which may exist here.

Each test names its entry in the contract's list of known weaknesses.
"""

from __future__ import annotations

import pytest
from app.conftest import EnvWith
from app.http_env import LESSEE, HttpEnv, good, quiet_settings, refusal, shortage
from app.slots import FLAVOR, instances, inventories, of_flavor, reservation_of, slots

from blazar.cloud.simulated.shape import HostShape
from blazar.plugins.slots.names import reservation_class


@pytest.fixture
def host(env: HttpEnv) -> HttpEnv:
    """Return a service with one host of nine VCPU: one is Nova's own, eight are overcommitted twofold."""
    shape = HostShape(vcpus=9, allocation_ratios={"VCPU": 2.0}, reserved={"VCPU": 1})
    env.cloud.add_hypervisor("big", shape)
    good(env.post("/os-hosts", {"name": "big"}), 201)
    env.cloud.flavors.create_flavor(FLAVOR)
    return env


def test_weakness_05_every_slot_counts(host: HttpEnv) -> None:
    host.create(10, 60, asked=instances(amount=3))

    shortage(host.post("/leases", host.wish(10, 60, asked=instances(amount=2))))
    host.create(10, 60, asked=instances(amount=1))


def test_weakness_06_a_flavor_counts_where_it_is_and_nowhere_else(host: HttpEnv) -> None:
    host.register("other")
    lease = host.create(10, 60, asked=of_flavor(amount=16, affinity=None))
    assert sorted(slots(host, lease).values()) == [8, 8]
    host.delete(f"/leases/{lease['id']}", who=LESSEE)

    host.create(10, 60, asked=of_flavor(amount=9))
    host.create(10, 60, asked=of_flavor(amount=7))


def test_weakness_07_both_types_are_on_one_host_in_either_order(host: HttpEnv) -> None:
    host.create(10, 60, asked=of_flavor(amount=4))
    host.create(10, 60, asked=instances(amount=2))
    shortage(host.post("/leases", host.wish(10, 60, asked=instances(amount=1))))

    host.create(100, 160, asked=instances(amount=2))
    host.create(100, 160, asked=of_flavor(amount=4))
    shortage(host.post("/leases", host.wish(100, 160, asked=of_flavor(amount=1))))


def test_weakness_08_hourly_leases_touch_and_peaks_outside_do_not_count(host: HttpEnv) -> None:
    for hour in range(4):
        host.create(60 * hour + 60, 60 * hour + 120, asked=instances(amount=4 if hour % 2 else 1))

    host.create(180, 240, asked=instances(amount=3))


def test_weakness_09_what_is_overcommitted_and_what_nova_keeps_count(host: HttpEnv) -> None:
    host.create(10, 60, asked=instances(vcpus=1, memory_mb=1, disk_gb=0, amount=16))

    shortage(host.post("/leases", host.wish(10, 60, asked=instances(vcpus=1, amount=1))))


def test_weakness_10_cleaning_time_is_owed_after_slots_too(env_with: EnvWith) -> None:
    env = env_with(quiet_settings(cleaning_minutes=30))
    env.register("big")
    lease = env.create(60, 120, asked=instances(amount=4))
    env.create(150, 200)

    shortage(env.put(f"/leases/{lease['id']}", {"end_date": env.date(121)}, who=LESSEE))
    shortage(env.post("/leases", env.wish(121, 149, asked=instances(amount=1))))


def test_weakness_11_an_update_needs_no_second_copy(host: HttpEnv) -> None:
    lease = host.create(10, 60, asked=instances(amount=4))

    lease = host.change(lease, reservation={"amount": 4, "memory_mb": 1024})
    lease = host.change(lease, end_date=host.date(90))
    lease = host.change(lease, reservation={"amount": 2})

    assert sum(slots(host, lease).values()) == 2


def test_weakness_14_a_lease_that_fails_leaves_nothing(host: HttpEnv) -> None:
    lease = host.create("now", 60, asked=instances(affinity=True))
    with host.failing("placement.create_resource_class", status=400):
        host.work()
    assert host.status(lease) == "ERROR"

    host.delete(f"/leases/{lease['id']}", who=LESSEE)
    host.work()

    assert host.cloud.server_groups.list_server_groups() == ()
    assert host.cloud.flavors.find_flavor(reservation_of(lease)["id"]) is None
    assert host.aggregates().keys() == {"freepool"}


def test_weakness_20_a_class_that_is_in_use_is_waited_for(host: HttpEnv) -> None:
    lease = host.create("now", 30, asked=instances())
    host.work()
    name = reservation_class(reservation_of(lease)["id"])
    with host.failing("placement.delete_inventory", status=409):
        host.pass_time(35)
        assert name in host.cloud.placement.list_resource_classes()
        assert host.status(lease) == "TERMINATING"

    host.pass_time(40)

    assert host.status(lease) == "TERMINATED"
    assert name not in host.cloud.placement.list_resource_classes()
    assert inventories(host, lease) == {}


def test_weakness_62_a_flavor_of_nothing_is_refused(host: HttpEnv) -> None:
    specs = {"resources:VCPU": "0", "resources:MEMORY_MB": "0", "resources:DISK_GB": "0"}
    host.cloud.flavors.set_flavor_extra_specs(FLAVOR.id, specs)

    assert "flavor_id" in refusal(host.post("/leases", host.wish(asked=of_flavor()), who=LESSEE), 400)
