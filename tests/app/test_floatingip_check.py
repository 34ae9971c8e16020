"""Comparison of registered floating IPs with Neutron, and its effect on leases."""

from __future__ import annotations

import pytest
from app.floatingips import POOLS, UNKNOWN, Pool, address, make_pool
from app.world import LESSEE, World, refusal

from blazar.reconcile.periodic.floatingip_check import check_floatingips
from blazar.reconcile.sweep import sweep


def check(world: World) -> dict[str, str]:
    found = dict(check_floatingips(world.context, "manager"))
    world.work()
    return found


def test_what_is_as_it_should_be_stays_so_and_costs_no_write(world: World, pool: Pool) -> None:
    pool.register(1, 2)
    world.create("now", 60, asked=pool.asked(1, 1))
    world.work()
    before = world.snapshot()

    assert check(world) == {}

    assert world.snapshot() == before


def test_no_call_is_made_where_nothing_is_registered(world: World) -> None:
    before = world.cloud.calls

    assert check(world) == {}
    assert world.cloud.calls == before


def test_the_number_of_calls_is_that_of_networks(world: World, pool: Pool) -> None:
    pool.register(*range(1, 9))
    before = world.cloud.calls

    check(world)

    assert sum((world.cloud.calls - before).values()) == 3


def test_an_address_in_a_pool_is_not_promised_until_it_is_out_of_it(world: World, pool: Pool) -> None:
    pool.register(1, 2)
    world.cloud.set_allocation_pools(pool.subnet_id, ((address(1), address(1)),))

    assert "allocation pool" in check(world)[address(1)]
    assert pool.reservable() == {address(1): False, address(2): True}
    assert check(world).keys() == {address(1)}
    refusal(world.post("/leases", world.wish(asked=pool.asked(2)), who=LESSEE), 400)
    world.cloud.set_allocation_pools(pool.subnet_id, POOLS)
    assert check(world) == {}
    assert pool.reservable() == {address(1): True, address(2): True}


def test_an_address_in_use_is_replaced_before_its_pending_lease_starts(world: World, pool: Pool) -> None:
    pool.register(1, 2)
    lease = world.create(30, 60, asked=pool.asked())
    other = pool.put(1)

    assert other.id in check(world)[address(1)]

    world.create(30, 60, asked=pool.asked(0))
    refusal(world.post("/leases", world.wish(30, 60, asked=pool.asked(1, 2)), who=LESSEE), 400)
    assert world.lease(lease["id"])["degraded"] is False
    world.pass_time(31)
    assert pool.of(lease) == {address(2)}


def test_a_required_address_that_is_in_use_is_missing(world: World, pool: Pool) -> None:
    pool.register(1, 2)
    lease = world.create(30, 60, asked=pool.asked(1, 1))
    other = pool.put(1)
    check(world)
    assert world.lease(lease["id"])["degraded"] is True
    assert world.lease(lease["id"])["reservations"][0]["missing_resources"] is True

    world.cloud.networks.delete_floating_ip(other.id)
    check(world)

    assert world.lease(lease["id"])["degraded"] is False


@pytest.mark.parametrize(
    "tags",
    [
        frozenset({"blazar"}),
        frozenset[str](),
        frozenset({"blazar", f"reservation:{UNKNOWN}"}),
        frozenset({f"reservation:{UNKNOWN}"}),
    ],
    ids=lambda tags: " ".join(sorted(tags)) or "none",
)
def test_a_lessee_cannot_keep_an_address_by_editing_its_tags(
    world: World, pool: Pool, tags: frozenset[str]
) -> None:
    pool.register(1, 2)
    lease = world.create("now", 60, asked=pool.asked())
    world.work()
    (found,) = pool.existing().values()
    world.cloud.networks.set_floating_ip_tags(found.id, tags)

    assert check(world) == {}
    sweep(world.context, "manager")
    world.pass_time(30)
    sweep(world.context, "manager")
    world.change(lease, end_date=world.date(50))
    world.work()

    assert world.lease(lease["id"])["degraded"] is False
    assert pool.existing().keys() == {found.address}
    assert pool.of(lease) == {found.address}
    world.cloud.networks.set_floating_ip_tags(found.id, tags)
    world.pass_time(51)
    assert world.status(lease) == "TERMINATED"
    assert pool.existing() == {}


def test_a_successor_of_the_same_project_gets_an_address_of_its_own(world: World, pool: Pool) -> None:
    pool.register(1)
    first = world.create("now", 10, asked=pool.asked())
    second = world.create(10, 20, asked=pool.asked())
    world.work()
    (before,) = pool.existing().values()
    with world.failing("networks.delete_floating_ip"):
        world.pass_time(11)
    assert world.status(second) == "STARTING"
    assert pool.existing()[address(1)].id == before.id

    world.pass_time(15)

    assert (world.status(first), world.status(second)) == ("TERMINATED", "ACTIVE")
    assert pool.existing()[address(1)].id != before.id
    assert pool.of(second) == {address(1)}


def test_the_tag_of_a_lease_that_is_over_is_no_excuse(world: World, pool: Pool) -> None:
    pool.register(1)
    lease = world.create("now", 5, asked=pool.asked())
    world.work()
    tags = pool.existing()[address(1)].tags
    world.pass_time(6)
    pool.put(1, lease["project_id"], tags)

    assert check(world).keys() == {address(1)}


def test_an_active_lease_keeps_what_serves_it(world: World, pool: Pool) -> None:
    pool.register(1, 2)
    lease = world.create("now", 60, asked=pool.asked(1, 1))
    world.work()
    world.cloud.set_allocation_pools(pool.subnet_id, ((address(1), address(1)),))

    assert check(world).keys() == {address(1)}

    assert pool.of(lease) == {address(1)}
    assert world.lease(lease["id"])["degraded"] is False
    world.pass_time(61)
    assert pool.existing() == {}


def test_an_active_lease_gets_another_for_what_it_lost(world: World, pool: Pool) -> None:
    pool.register(1, 2)
    lease = world.create("now", 60, asked=pool.asked(1))
    world.work()
    world.cloud.networks.delete_floating_ip(pool.existing()[address(1)].id)
    pool.put(1)

    check(world)

    assert pool.of(lease) == {address(2)}
    assert world.lease(lease["id"])["reservations"][0]["resources_changed"] is True


@pytest.mark.parametrize("is_external", [True, False])
def test_addresses_go_with_their_network(world: World, pool: Pool, is_external: bool) -> None:
    pool.register(1)
    other = make_pool(world)
    other.register(2)
    if is_external:
        world.cloud.remove_network(pool.network_id)
    else:
        world.cloud.set_network_external(pool.network_id, False)

    assert pool.network_id in check(world)[address(1)]
    assert pool.reservable() == {address(1): False, address(2): True}


def test_addresses_go_with_their_subnet_even_if_another_one_takes_its_place(world: World, pool: Pool) -> None:
    pool.register(1)
    world.cloud.remove_subnet(pool.subnet_id)
    assert "no subnet" in check(world)[address(1)]

    world.cloud.add_subnet(pool.network_id, "203.0.113.0/24")

    assert pool.subnet_id in check(world)[address(1)]


def test_a_network_that_neutron_does_not_tell_of_does_not_stop_the_others(world: World, pool: Pool) -> None:
    other = make_pool(world)
    pool.register(1)
    other.register(2)
    pool.put(1)
    other.put(2)

    with world.failing("networks.find_network", status=403, nth=1):
        failed = check(world)

    assert len(failed) == 1
    assert check(world).keys() == {address(1), address(2)}
