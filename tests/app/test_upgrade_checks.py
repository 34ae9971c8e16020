"""Problems in the database and in the cloud that ``blazar-status upgrade check`` reports."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from app.http_env import FREEPOOL, HttpEnv
from app.slots import instances
from databases import make_database
from oslo_upgradecheck.upgradecheck import Code

from blazar.cmd.leftover_check import check_leftovers
from blazar.cmd.status import check_freepool, check_guard, find_double_promises
from blazar.db.tables import allocations

MISSING_ID = "11111111-2222-4333-8444-555555555555"


def test_resources_that_are_promised_twice_are_named(env: HttpEnv) -> None:
    (host,) = env.register("h1")
    first, second = env.create(60, 120), env.create(120, 180)
    assert find_double_promises(env.context).code is Code.SUCCESS

    with env.engine.begin() as connection:
        # As a manual edit could do in a database without the triggers.
        longer = {"end_at": env.clock.now().replace(hour=3), "exclusive_resource_id": None}
        reservation_id = first["reservations"][0]["id"]
        connection.execute(
            sa.update(allocations).where(allocations.c.reservation_id == reservation_id).values(longer)
        )

    found = find_double_promises(env.context)
    assert found.code is Code.FAILURE
    assert f"resource {host}: leases {first['id']} and {second['id']}" in str(found.details)


def test_missing_triggers_are_a_warning_that_says_how_they_are_created(tmp_path: Path) -> None:
    with make_database("mariadb", tmp_path) as engine:
        assert check_guard(engine).code is Code.SUCCESS
        with engine.connect() as connection:
            connection.exec_driver_sql("DROP TRIGGER no_double_promise_insert")

        found = check_guard(engine)

    assert found.code is Code.WARNING
    assert "no_double_promise_insert are missing: run blazar-db-manage upgrade head" in str(found.details)


def test_databases_without_triggers_of_their_own_pass(tmp_path: Path) -> None:
    with make_database("sqlite", tmp_path) as engine:
        assert check_guard(engine).code is Code.SUCCESS


def test_slots_of_one_host_are_no_double_promise(env: HttpEnv) -> None:
    env.register("h1")
    env.create(60, 120, asked=instances())
    env.create(60, 120, asked=instances())

    assert find_double_promises(env.context).code is Code.SUCCESS


def test_a_missing_freepool_is_a_failure_where_hosts_are_registered(env: HttpEnv) -> None:
    (pool,) = (each for each in env.cloud.aggregates.list_aggregates() if each.name == FREEPOOL)
    assert check_freepool(env.context).code is Code.SUCCESS

    env.cloud.aggregates.delete_aggregate(pool.id)
    assert check_freepool(env.context).code is Code.WARNING

    env.cloud.add_aggregate(FREEPOOL)
    env.register("h1")
    (pool,) = (each for each in env.cloud.aggregates.list_aggregates() if each.name == FREEPOOL)
    env.cloud.aggregates.remove_host(pool.id, "h1")
    env.cloud.aggregates.delete_aggregate(pool.id)
    found = check_freepool(env.context)
    assert found.code is Code.FAILURE
    assert FREEPOOL in str(found.details)


def test_what_is_left_over_is_a_warning(env: HttpEnv) -> None:
    assert check_leftovers(env.context).code is Code.SUCCESS

    for number in range(12):
        name = f"{number:08}{MISSING_ID[8:]}"
        env.cloud.aggregates.create_aggregate(name, f"blazar_{name}", {"blazar:owner": "project"})

    found = check_leftovers(env.context)
    assert found.code is Code.WARNING
    assert "aggregate:00000000" in str(found.details)
    assert "and 2 more" in str(found.details)


def test_an_item_of_a_request_in_progress_is_not_left_over(
    env: HttpEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = MISSING_ID
    aggregate = env.cloud.aggregates.create_aggregate(name, f"blazar_{name}", {"blazar:owner": "project"})
    wait = env.clock.wait

    def pause(event: threading.Event, timeout: timedelta) -> bool:
        if any(each.id == aggregate.id for each in env.cloud.aggregates.list_aggregates()):
            env.cloud.aggregates.delete_aggregate(aggregate.id)
        return wait(event, timeout)

    monkeypatch.setattr(env.clock, "wait", pause)

    assert check_leftovers(env.context).code is Code.SUCCESS
