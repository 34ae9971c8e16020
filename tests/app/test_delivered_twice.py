"""Requests that the message broker delivers to two managers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from app.http_env import HttpEnv, host_reservation
from app.slots import instances

from blazar.app.leases import create_lease
from blazar.domain.errors import NotEnoughResources
from blazar.ports.manager import Caller

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
