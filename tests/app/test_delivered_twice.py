"""Requests that the message broker delivers to two managers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from app.http_env import HttpEnv, host_reservation
from app.slots import instances

from blazar.app.leases import create_lease, delete_lease, update_lease
from blazar.domain.errors import AlreadyExecuted, LeaseNotFound, NotEnoughResources
from blazar.ports.manager import Caller, JsonObject

CALLER = Caller(user_id="user", project_id="project", request_id="req-1")
ONE_HOST = host_reservation(min=1, max=1)


@pytest.mark.parametrize("hosts", [1, 2])
def test_a_request_creates_one_lease_which_both_managers_return(env: HttpEnv, hosts: int) -> None:
    for number in range(hosts):
        env.register(f"h{number}")
    body = {**env.wish(60, 120), "reservations": [ONE_HOST]}

    first, second = (create_lease(env.context, CALLER, body) for _ in range(2))

    assert first["id"] == second["id"]
    assert first["reservations"] == second["reservations"]
    with env.context.store.read() as transaction:
        (lease,) = transaction.leases.list()
        (allocation,) = transaction.allocations.of_reservations([lease.reservations[0].id])
    assert allocation.reservation_id == lease.reservations[0].id


def test_what_the_second_manager_made_in_the_cloud_is_removed(env: HttpEnv) -> None:
    env.register("h1")
    body = {**env.wish(60, 120), "reservations": [instances(amount=1, affinity=True)]}

    for _ in range(2):
        create_lease(env.context, CALLER, body)

    assert len(env.cloud.server_groups.list_server_groups()) == 1


def test_another_request_gets_another_lease(env: HttpEnv) -> None:
    for name in ("h1", "h2"):
        env.register(name)
    body = {**env.wish(60, 120), "reservations": [ONE_HOST]}

    first, second = (
        create_lease(env.context, replace(CALLER, request_id=each), body) for each in ("req-1", "req-2")
    )

    assert first["id"] != second["id"]


def test_a_refused_request_is_refused_each_time(env: HttpEnv) -> None:
    env.register("h1")
    body = {**env.wish(60, 120), "reservations": [host_reservation(min=2, max=2)]}

    for _ in range(2):
        with pytest.raises(NotEnoughResources):
            create_lease(env.context, CALLER, body)


def test_a_deleted_lease_is_not_created_again(env: HttpEnv) -> None:
    env.register("h1")
    body = {**env.wish(60, 120), "reservations": [ONE_HOST]}
    lease = create_lease(env.context, CALLER, body)
    delete_lease(env.context, replace(CALLER, request_id="req-2"), str(lease["id"]))

    with pytest.raises(AlreadyExecuted):
        create_lease(env.context, CALLER, body)

    with env.context.store.read() as transaction:
        assert transaction.leases.list() == ()


@pytest.mark.parametrize("change", [{"name": "first"}, {"end_date": 180}], ids=["name", "end"])
def test_a_change_does_not_undo_a_later_one(env: HttpEnv, change: dict[str, object]) -> None:
    env.register("h1")
    lease_id = str(create_lease(env.context, CALLER, {**env.wish(60, 120), "reservations": [ONE_HOST]})["id"])

    def update(request_id: str, asked: Mapping[str, object]) -> JsonObject:
        body = {key: env.date(each) if isinstance(each, int) else each for key, each in asked.items()}
        return update_lease(env.context, replace(CALLER, request_id=request_id), lease_id, body)

    update("req-2", change)
    later = update("req-3", {key: "last" if key == "name" else 240 for key in change})

    repeated = update("req-2", change)

    key = next(iter(change))
    assert repeated[key] == later[key] == env.lease(lease_id)[key]


def test_a_change_whose_lease_was_deleted_finds_no_lease(env: HttpEnv) -> None:
    env.register("h1")
    lease_id = str(create_lease(env.context, CALLER, {**env.wish(60, 120), "reservations": [ONE_HOST]})["id"])
    caller = replace(CALLER, request_id="req-2")
    update_lease(env.context, caller, lease_id, {"name": "first"})
    delete_lease(env.context, replace(CALLER, request_id="req-3"), lease_id)

    with pytest.raises(LeaseNotFound):
        update_lease(env.context, caller, lease_id, {"name": "first"})


def test_an_operators_request_may_change_several_leases(env: HttpEnv) -> None:
    for name in ("h1", "h2"):
        env.register(name)
    body = {**env.wish(60, 120), "reservations": [ONE_HOST]}
    leases = [
        create_lease(env.context, replace(CALLER, request_id=each), body)["id"] for each in ("req-1", "req-2")
    ]

    renamed = [
        update_lease(env.context, replace(CALLER, request_id="req-3"), str(each), {"name": "new"})
        for each in leases
    ]

    assert [each["name"] for each in renamed] == ["new", "new"]
