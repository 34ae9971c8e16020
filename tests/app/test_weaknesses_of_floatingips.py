"""Known weaknesses of the reference service with floating IPs, none of which may exist here.

Each test names its entry in the contract's list of known weaknesses.
"""

from __future__ import annotations

import pytest
from app.floatingips import UNKNOWN, Pool, address
from app.world import LESSEE, World, refusal


@pytest.mark.parametrize("is_active", [False, True])
def test_weakness_11_a_change_needs_no_room_for_a_second_copy(
    world: World, pool: Pool, is_active: bool
) -> None:
    pool.register(1, 2, 3)
    lease = world.create("now" if is_active else 10, 60, asked=pool.asked(2, 1, 2))
    if is_active:
        world.work()

    changed = world.change(lease, end_date=world.date(70), reservation={"amount": 3})

    assert changed["reservations"][0]["required_floatingips"] == [address(1), address(2)]
    assert changed["reservations"][0]["amount"] == 3
    world.pass_time(11)
    assert pool.of(lease) == {address(1), address(2), address(3)}


def test_weakness_32_the_end_of_a_future_lease_leaves_a_running_one_alone(world: World, pool: Pool) -> None:
    pool.register(1)
    running = world.create("now", 60, asked=pool.asked())
    world.work()
    future = world.create(60, 90, asked=pool.asked())
    prepared = pool.existing()
    world.pass_time(59)

    assert world.delete(f"/leases/{future['id']}", who=LESSEE).status_code == 204
    world.work()

    assert pool.existing() == prepared
    assert pool.of(running) == {address(1)}
    assert world.status(running) == "ACTIVE"


@pytest.mark.parametrize("project_id", ["elsewhere", "project"])
def test_weakness_32_the_end_touches_nothing_of_others(world: World, pool: Pool, project_id: str) -> None:
    pool.register(1)
    lease = world.create("now", 60, asked=pool.asked())
    world.work()
    world.cloud.networks.delete_floating_ip(pool.existing()[address(1)].id)
    other = pool.put(1, project_id, frozenset({f"reservation:{UNKNOWN}"}))

    world.delete(f"/leases/{lease['id']}", who=LESSEE)
    world.work()

    refusal(world.get(f"/leases/{lease['id']}"), 404)
    assert pool.existing() == {address(1): other}


def test_weakness_57_a_search_leaves_no_transaction_open(world: World, pool: Pool) -> None:
    pool.register(1)
    world.create(10, 60, asked=pool.asked())
    refusal(world.post("/leases", world.wish(10, 60, asked=pool.asked()), who=LESSEE), 400)

    assert world.engine.pool.checkedout() == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("required", ["203.0.113.201", {"0": "203.0.113.201"}, 7, True])
def test_weakness_61_required_addresses_that_are_no_list_are_refused(
    world: World, pool: Pool, required: object
) -> None:
    pool.register(1)
    asked = {**pool.asked(), "required_floatingips": required}

    message = refusal(world.post("/leases", world.wish(asked=asked), who=LESSEE), 400)

    assert message == "required_floatingips: must be a list of IP addresses"
