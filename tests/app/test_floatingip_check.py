"""Comparison of registered floating IPs with Neutron, and its effect on leases."""

from __future__ import annotations

import pytest
from app.floatingips import POOLS, UNKNOWN, Pool, address, make_pool
from app.http_env import LESSEE, HttpEnv, refusal

from blazar.plugins.floatingips.check import check_floatingips
from blazar.reconcile.sweep import sweep


def check(env: HttpEnv) -> dict[str, str]:
    found = dict(check_floatingips(env.context, "manager"))
    env.work()
    return found


def test_what_is_as_it_should_be_stays_so_and_costs_no_write(env: HttpEnv, pool: Pool) -> None:
    pool.register(1, 2)
    env.create("now", 60, asked=pool.asked(1, 1))
    env.work()
    before = env.snapshot()

    assert check(env) == {}

    assert env.snapshot() == before


def test_no_call_is_made_where_nothing_is_registered(env: HttpEnv) -> None:
    before = env.cloud.calls

    assert check(env) == {}
    assert env.cloud.calls == before


def test_the_number_of_calls_is_that_of_networks(env: HttpEnv, pool: Pool) -> None:
    pool.register(*range(1, 9))
    before = env.cloud.calls

    check(env)

    assert sum((env.cloud.calls - before).values()) == 3


def test_an_address_in_a_pool_is_not_promised_until_it_is_out_of_it(env: HttpEnv, pool: Pool) -> None:
    pool.register(1, 2)
    env.cloud.set_allocation_pools(pool.subnet_id, ((address(1), address(1)),))

    assert "allocation pool" in check(env)[address(1)]
    assert pool.reservable() == {address(1): False, address(2): True}
    assert check(env).keys() == {address(1)}
    refusal(env.post("/leases", env.wish(asked=pool.asked(2)), who=LESSEE), 400)
    env.cloud.set_allocation_pools(pool.subnet_id, POOLS)
    assert check(env) == {}
    assert pool.reservable() == {address(1): True, address(2): True}


def test_an_address_in_use_is_replaced_before_its_pending_lease_starts(env: HttpEnv, pool: Pool) -> None:
    pool.register(1, 2)
    lease = env.create(30, 60, asked=pool.asked())
    other = pool.put(1)

    assert other.id in check(env)[address(1)]

    env.create(30, 60, asked=pool.asked(0))
    refusal(env.post("/leases", env.wish(30, 60, asked=pool.asked(1, 2)), who=LESSEE), 400)
    assert env.lease(lease["id"])["degraded"] is False
    env.pass_time(31)
    assert pool.of(lease) == {address(2)}


def test_a_required_address_that_is_in_use_is_missing(env: HttpEnv, pool: Pool) -> None:
    pool.register(1, 2)
    lease = env.create(30, 60, asked=pool.asked(1, 1))
    other = pool.put(1)
    check(env)
    assert env.lease(lease["id"])["degraded"] is True
    assert env.lease(lease["id"])["reservations"][0]["missing_resources"] is True

    env.cloud.networks.delete_floating_ip(other.id)
    check(env)

    assert env.lease(lease["id"])["degraded"] is False


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
    env: HttpEnv, pool: Pool, tags: frozenset[str]
) -> None:
    pool.register(1, 2)
    lease = env.create("now", 60, asked=pool.asked())
    env.work()
    (found,) = pool.existing().values()
    env.cloud.networks.set_floating_ip_tags(found.id, tags)

    assert check(env) == {}
    sweep(env.context, "manager")
    env.pass_time(30)
    sweep(env.context, "manager")
    env.change(lease, end_date=env.date(50))
    env.work()

    assert env.lease(lease["id"])["degraded"] is False
    assert pool.existing().keys() == {found.address}
    assert pool.of(lease) == {found.address}
    env.cloud.networks.set_floating_ip_tags(found.id, tags)
    env.pass_time(51)
    assert env.status(lease) == "TERMINATED"
    assert pool.existing() == {}


def test_a_successor_of_the_same_project_gets_an_address_of_its_own(env: HttpEnv, pool: Pool) -> None:
    pool.register(1)
    first = env.create("now", 10, asked=pool.asked())
    second = env.create(10, 20, asked=pool.asked())
    env.work()
    (before,) = pool.existing().values()
    with env.failing("networks.delete_floating_ip"):
        env.pass_time(11)
    assert env.status(second) == "STARTING"
    assert pool.existing()[address(1)].id == before.id

    env.pass_time(15)

    assert (env.status(first), env.status(second)) == ("TERMINATED", "ACTIVE")
    assert pool.existing()[address(1)].id != before.id
    assert pool.of(second) == {address(1)}


def test_the_tag_of_a_lease_that_is_over_is_no_excuse(env: HttpEnv, pool: Pool) -> None:
    pool.register(1)
    lease = env.create("now", 5, asked=pool.asked())
    env.work()
    tags = pool.existing()[address(1)].tags
    env.pass_time(6)
    pool.put(1, lease["project_id"], tags)

    assert check(env).keys() == {address(1)}


def test_an_active_lease_keeps_what_serves_it(env: HttpEnv, pool: Pool) -> None:
    pool.register(1, 2)
    lease = env.create("now", 60, asked=pool.asked(1, 1))
    env.work()
    env.cloud.set_allocation_pools(pool.subnet_id, ((address(1), address(1)),))

    assert check(env).keys() == {address(1)}

    assert pool.of(lease) == {address(1)}
    assert env.lease(lease["id"])["degraded"] is False
    env.pass_time(61)
    assert pool.existing() == {}


def test_an_active_lease_gets_another_for_what_it_lost(env: HttpEnv, pool: Pool) -> None:
    pool.register(1, 2)
    lease = env.create("now", 60, asked=pool.asked(1))
    env.work()
    env.cloud.networks.delete_floating_ip(pool.existing()[address(1)].id)
    pool.put(1)

    check(env)

    assert pool.of(lease) == {address(2)}
    assert env.lease(lease["id"])["reservations"][0]["resources_changed"] is True


@pytest.mark.parametrize("is_external", [True, False])
def test_addresses_go_with_their_network(env: HttpEnv, pool: Pool, is_external: bool) -> None:
    pool.register(1)
    other = make_pool(env)
    other.register(2)
    if is_external:
        env.cloud.remove_network(pool.network_id)
    else:
        env.cloud.set_network_external(pool.network_id, False)

    assert pool.network_id in check(env)[address(1)]
    assert pool.reservable() == {address(1): False, address(2): True}


def test_addresses_go_with_their_subnet_even_if_another_one_takes_its_place(env: HttpEnv, pool: Pool) -> None:
    pool.register(1)
    env.cloud.remove_subnet(pool.subnet_id)
    assert "no subnet" in check(env)[address(1)]

    env.cloud.add_subnet(pool.network_id, "203.0.113.0/24")

    assert pool.subnet_id in check(env)[address(1)]


def test_a_network_that_neutron_does_not_tell_of_does_not_stop_the_others(env: HttpEnv, pool: Pool) -> None:
    other = make_pool(env)
    pool.register(1)
    other.register(2)
    pool.put(1)
    other.put(2)

    with env.failing("networks.find_network", status=403, nth=1):
        failed = check(env)

    assert len(failed) == 1
    assert check(env).keys() == {address(1), address(2)}
