"""Problems in the database and in the cloud that ``blazar-status upgrade check`` reports."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from app.slots import instances
from app.world import FREEPOOL, World
from databases import make_database
from oslo_upgradecheck.upgradecheck import Code

from blazar.cmd.status import check_freepool, check_guard, check_leftovers, find_double_promises
from blazar.db.tables import allocations

MISSING_ID = "11111111-2222-4333-8444-555555555555"


def test_resources_that_are_promised_twice_are_named(world: World) -> None:
    (host,) = world.register("h1")
    first, second = world.create(60, 120), world.create(120, 180)
    assert find_double_promises(world.context).code is Code.SUCCESS

    with world.engine.begin() as connection:
        # As a manual edit could do in a database without the triggers.
        longer = {"end_at": world.clock.now().replace(hour=3), "exclusive_resource_id": None}
        reservation_id = first["reservations"][0]["id"]
        connection.execute(
            sa.update(allocations).where(allocations.c.reservation_id == reservation_id).values(longer)
        )

    found = find_double_promises(world.context)
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


def test_slots_of_one_host_are_no_double_promise(world: World) -> None:
    world.register("h1")
    world.create(60, 120, asked=instances())
    world.create(60, 120, asked=instances())

    assert find_double_promises(world.context).code is Code.SUCCESS


def test_a_missing_freepool_is_a_failure_where_hosts_are_registered(world: World) -> None:
    (pool,) = (each for each in world.cloud.compute.list_aggregates() if each.name == FREEPOOL)
    assert check_freepool(world.context).code is Code.SUCCESS

    world.cloud.compute.delete_aggregate(pool.id)
    assert check_freepool(world.context).code is Code.WARNING

    world.cloud.add_aggregate(FREEPOOL)
    world.register("h1")
    (pool,) = (each for each in world.cloud.compute.list_aggregates() if each.name == FREEPOOL)
    world.cloud.compute.remove_host(pool.id, "h1")
    world.cloud.compute.delete_aggregate(pool.id)
    found = check_freepool(world.context)
    assert found.code is Code.FAILURE
    assert FREEPOOL in str(found.details)


def test_what_is_left_over_is_a_warning(world: World) -> None:
    assert check_leftovers(world.context).code is Code.SUCCESS

    for number in range(12):
        name = f"{number:08}{MISSING_ID[8:]}"
        world.cloud.compute.create_aggregate(name, f"blazar_{name}", {"blazar:owner": "project"})

    found = check_leftovers(world.context)
    assert found.code is Code.WARNING
    assert "aggregate:00000000" in str(found.details)
    assert "and 2 more" in str(found.details)
