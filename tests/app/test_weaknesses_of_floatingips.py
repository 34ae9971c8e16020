"""Known weaknesses of the reference service with floating IPs, none of which may exist here.

Each test names its entry in the contract's list of known weaknesses.
"""

from __future__ import annotations

import pytest
from app.floatingips import UNKNOWN, Pool, address
from app.http_env import LESSEE, HttpEnv, refusal


@pytest.mark.parametrize("is_active", [False, True])
def test_weakness_11_a_change_needs_no_room_for_a_second_copy(
    env: HttpEnv, pool: Pool, is_active: bool
) -> None:
    pool.register(1, 2, 3)
    lease = env.create("now" if is_active else 10, 60, asked=pool.asked(2, 1, 2))
    if is_active:
        env.work()

    changed = env.change(lease, end_date=env.date(70), reservation={"amount": 3})

    assert changed["reservations"][0]["required_floatingips"] == [address(1), address(2)]
    assert changed["reservations"][0]["amount"] == 3
    env.pass_time(11)
    assert pool.of(lease) == {address(1), address(2), address(3)}


def test_weakness_32_the_end_of_a_future_lease_leaves_a_running_one_alone(env: HttpEnv, pool: Pool) -> None:
    pool.register(1)
    running = env.create("now", 60, asked=pool.asked())
    env.work()
    future = env.create(60, 90, asked=pool.asked())
    prepared = pool.existing()
    env.pass_time(59)

    assert env.delete(f"/leases/{future['id']}", who=LESSEE).status_code == 204
    env.work()

    assert pool.existing() == prepared
    assert pool.of(running) == {address(1)}
    assert env.status(running) == "ACTIVE"


@pytest.mark.parametrize("project_id", ["elsewhere", "project"])
def test_weakness_32_the_end_touches_nothing_of_others(env: HttpEnv, pool: Pool, project_id: str) -> None:
    pool.register(1)
    lease = env.create("now", 60, asked=pool.asked())
    env.work()
    env.cloud.networks.delete_floating_ip(pool.existing()[address(1)].id)
    other = pool.put(1, project_id, frozenset({f"reservation:{UNKNOWN}"}))

    env.delete(f"/leases/{lease['id']}", who=LESSEE)
    env.work()

    refusal(env.get(f"/leases/{lease['id']}"), 404)
    assert pool.existing() == {address(1): other}


def test_weakness_57_a_search_leaves_no_transaction_open(env: HttpEnv, pool: Pool) -> None:
    pool.register(1)
    env.create(10, 60, asked=pool.asked())
    refusal(env.post("/leases", env.wish(10, 60, asked=pool.asked()), who=LESSEE), 400)

    assert env.engine.pool.checkedout() == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("required", ["203.0.113.201", {"0": "203.0.113.201"}, 7, True])
def test_weakness_61_required_addresses_that_are_no_list_are_refused(
    env: HttpEnv, pool: Pool, required: object
) -> None:
    pool.register(1)
    asked = {**pool.asked(), "required_floatingips": required}

    message = refusal(env.post("/leases", env.wish(asked=asked), who=LESSEE), 400)

    assert message == "required_floatingips: must be a list of IP addresses"
