"""Reservations that are added to a lease and removed from it before its start."""

from __future__ import annotations

import pytest
from app.floatingips import Pool
from app.http_env import (
    LESSEE,
    NEWER,
    STRANGER,
    Answer,
    HttpEnv,
    Json,
    good,
    host_reservation,
    lease_of,
    refusal,
)
from app.slots import instances

pytestmark = pytest.mark.usefixtures("hosts")
ALL_HOSTS = 4
"""The number of hosts."""


def put(env: HttpEnv, lease: Json, *items: Json, **keys: object) -> Answer:
    body = {**keys, "reservations": list(items)}
    return env.put(f"/leases/{lease['id']}", body, who=LESSEE, headers=NEWER)


def removal(lease: Json, place: int = 0) -> Json:
    return {"id": lease["reservations"][place]["id"], "remove": True}


def types(lease: Json) -> list[str]:
    return [each["resource_type"] for each in lease["reservations"]]


def refused(env: HttpEnv, lease: Json, status: int, *items: Json) -> str:
    """Return the message of a refusal, after checking that it changed nothing."""
    before = env.snapshot()
    message = refusal(put(env, lease, *items), status)
    assert env.snapshot() == before
    return message


def test_an_added_reservation_starts_and_ends_with_the_lease(env: HttpEnv, pool: Pool) -> None:
    pool.register(1)
    lease = env.create(60, 120)

    changed = lease_of(put(env, lease, pool.asked(1), instances(amount=2)))

    assert types(changed) == ["physical:host", "virtual:floatingip", "virtual:instance"]
    assert changed["reservations"][0] == lease["reservations"][0]
    assert {each["lease_id"] for each in changed["reservations"]} == {lease["id"]}
    assert env.lease(lease["id"]) == changed
    env.pass_time(60)
    assert {each["status"] for each in env.lease(lease["id"])["reservations"]} == {"active"}
    env.pass_time(120)
    assert env.status(lease) == "TERMINATED"
    assert {each["status"] for each in env.lease(lease["id"])["reservations"]} == {"deleted"}
    assert set(env.aggregates()) == {"freepool"}


def test_the_resources_of_a_removed_reservation_are_free(env: HttpEnv, pool: Pool) -> None:
    pool.register(1)
    lease = env.create(60, 120, min=ALL_HOSTS, max=ALL_HOSTS)
    lease = lease_of(put(env, lease, pool.asked(1)))

    changed = lease_of(put(env, lease, removal(lease)))

    assert types(changed) == ["virtual:floatingip"]
    assert env.booked(lease) == set()
    env.create(60, 120, min=ALL_HOSTS, max=ALL_HOSTS, who=STRANGER)
    env.pass_time(60)
    assert env.status(lease) == "ACTIVE"
    env.pass_time(120)
    assert env.status(lease) == "TERMINATED"


def test_one_request_can_replace_the_only_reservation(env: HttpEnv) -> None:
    lease = env.create(60, 120, min=ALL_HOSTS, max=ALL_HOSTS)

    changed = lease_of(put(env, lease, removal(lease), host_reservation(min=3, max=ALL_HOSTS)))

    assert types(changed) == ["physical:host"]
    assert changed["reservations"][0]["id"] != lease["reservations"][0]["id"]
    assert len(env.booked(lease)) == ALL_HOSTS


def test_the_order_of_reservations_stays(env: HttpEnv) -> None:
    lease = env.create(60, 120)
    lease = lease_of(put(env, lease, *(host_reservation() for _ in range(2))))
    ids = [each["id"] for each in lease["reservations"]]

    changed = lease_of(put(env, lease, removal(lease), host_reservation()))

    found = [each["id"] for each in changed["reservations"]]
    assert found[:2] == ids[1:]
    assert [each["id"] for each in env.lease(lease["id"])["reservations"]] == found


def test_dates_reservations_and_additions_change_together_or_not_at_all(env: HttpEnv) -> None:
    lease = env.create(60, 120)
    env.create(120, 180, min=3, max=3, who=STRANGER)
    change = {"id": lease["reservations"][0]["id"], "min": 1, "max": 1}

    before = env.snapshot()
    refusal(put(env, lease, change, host_reservation(), end_date=env.date(150)), 409)
    assert env.snapshot() == before
    changed = lease_of(put(env, lease, change, host_reservation(), end_date=env.date(110)))

    assert len(changed["reservations"]) == 2
    assert changed["end_date"] == env.shown(110)
    assert len(env.booked(lease)) == 2


def test_the_last_reservation_cannot_be_removed(env: HttpEnv) -> None:
    lease = env.create(60, 120)

    assert "delete the lease" in refused(env, lease, 400, removal(lease))


@pytest.mark.parametrize(
    ("item", "status", "problem"),
    [
        ({"min": 1}, 400, "Missing parameter id"),
        ({"resource_type": "strange"}, 400, "resource_type"),
        ({"resource_type": "physical:host", "min": 3, "max": 1}, 400, "min"),
        ({"resource_type": "physical:host", "min": 4, "max": 4}, 409, "Not enough hosts"),
    ],
)
def test_an_invalid_addition_changes_nothing(env: HttpEnv, item: Json, status: int, problem: str) -> None:
    lease = env.create(60, 120)
    keys = {"hypervisor_properties": "", "resource_properties": ""}

    assert problem in refused(env, lease, status, {**keys, **item})


@pytest.mark.parametrize(
    ("more", "problem"),
    [({"remove": False}, "must be true"), ({"remove": "yes"}, "must be true"), ({"min": 1}, "one request")],
)
def test_an_invalid_removal_changes_nothing(env: HttpEnv, more: Json, problem: str) -> None:
    lease = env.create(60, 120)
    lease = lease_of(put(env, lease, host_reservation()))

    assert problem in refused(env, lease, 400, {**removal(lease), **more})


def test_a_lease_that_has_started_keeps_its_reservations(env: HttpEnv) -> None:
    lease = lease_of(put(env, env.create(60, 120), host_reservation()))
    env.pass_time(60)

    for item in (removal(lease), host_reservation()):
        assert "has started" in refused(env, lease, 409, item)


def test_a_reservation_with_items_in_the_cloud_is_not_removed(env: HttpEnv) -> None:
    lease = env.create(60, 120)
    lease = lease_of(put(env, lease, instances(amount=1, affinity=True)))

    assert "prepared in the cloud" in refused(env, lease, 409, removal(lease, 1))


def test_an_addition_that_is_refused_leaves_no_server_group(env: HttpEnv) -> None:
    lease = env.create(60, 120)
    calls = dict(env.cloud.calls)

    refusal(
        put(env, lease, instances(amount=1, affinity=True), host_reservation(min=ALL_HOSTS, max=ALL_HOSTS)),
        409,
    )

    assert env.cloud.calls.get("server_groups.create_server_group", 0) == calls.get(
        "server_groups.create_server_group", 0
    )


def test_version_1_0_knows_neither_additions_nor_removals(env: HttpEnv) -> None:
    lease = lease_of(put(env, env.create(60, 120), host_reservation()))

    answer = env.put(f"/leases/{lease['id']}", {"reservations": [host_reservation()]}, who=LESSEE)
    same = good(env.put(f"/leases/{lease['id']}", {"reservations": [removal(lease)]}, who=LESSEE))["lease"]

    assert refusal(answer, 400) == "Missing parameter reservations[0].id"
    assert types(same) == types(lease)
