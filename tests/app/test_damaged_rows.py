"""A damaged row affects only its own lease: other leases are served, and the damaged one can be deleted."""

from __future__ import annotations

import json
from argparse import Namespace

import pytest
import sqlalchemy as sa
from app.http_env import HttpEnv, host_reservation, shortage
from app.slots import instances
from telemetry.counting import Counts

from blazar.cmd.manage import leases
from blazar.db import tables
from blazar.manager.instrumentation import instrumented
from blazar.ports import metrics

pytestmark = pytest.mark.usefixtures("hosts")

DAMAGE = [
    (tables.reservations, {"spec": "{broken"}),
    (tables.reservations, {"spec": "[1]"}),
    (tables.reservations, {"spec": "{}"}),
    (tables.reservations, {"status": "odd"}),
    (tables.reservations, {"lost_resources": "{broken"}),
    (tables.leases, {"status": "ODD"}),
    (tables.events, {"event_type": "odd"}),
    (tables.events, {"status": "ODD"}),
]


def damage(env: HttpEnv, lease: dict[str, str], table: sa.Table, values: dict[str, str]) -> None:
    which = table.c.id if table is tables.leases else table.c.lease_id
    with env.engine.begin() as connection:
        connection.execute(sa.update(table).where(which == lease["id"]).values(values))
        # Each write to a row increments its lease's revision.
        revision = tables.leases.c.revision
        connection.execute(
            sa.update(tables.leases).where(tables.leases.c.id == lease["id"]).values(revision=revision + 1)
        )


def is_seen(values: dict[str, str]) -> bool:
    """Return whether the lease shows the damage; plugin data and optional values are not visible in it."""
    return "lost_resources" not in values and values != {"spec": "{}"}


@pytest.mark.parametrize("kind", ["hosts", "instances"])
@pytest.mark.parametrize("start", [60, "now"])
@pytest.mark.parametrize(("table", "values"), DAMAGE)
def test_a_damaged_lease_hides_no_other_and_can_be_deleted(
    env: HttpEnv, failures: list[str], kind: str, start: int | str, table: sa.Table, values: dict[str, str]
) -> None:
    asked = host_reservation() if kind == "hosts" else instances()
    bad, good = env.create(start, 120, asked=asked), env.create(60, 120)
    env.work()
    damage(env, bad, table, values)

    listed = env.get("/leases")
    env.work()
    env.create(200, 300)

    assert listed.status_code == 200, listed.text
    found = {each["id"]: each for each in listed.json["leases"]}
    assert {bad["id"], good["id"]} <= found.keys()
    assert found[bad["id"]].keys() == found[good["id"]].keys()
    assert [found[each["id"]]["degraded"] for each in (bad, good)] == [is_seen(values), False]
    assert env.status(good) == "PENDING"
    if table is not tables.events and is_seen(values):
        assert env.status(bad) == "ERROR"
    env.delete(f"/leases/{bad['id']}")
    env.work()
    env.pass_time(1)
    assert env.get(f"/leases/{bad['id']}").status_code == 404
    assert bad["reservations"][0]["id"] not in env.aggregates()
    failures.clear()


def test_an_unreadable_share_counts_as_the_whole_host(env: HttpEnv, failures: list[str]) -> None:
    env.create(60, 120, asked=instances(amount=1))
    with env.engine.begin() as connection:
        connection.execute(sa.update(tables.allocations).values(demand="{broken"))
    env.restart(env.context)

    shortage(env.post("/leases", env.wish(60, 120, asked=host_reservation(min=4, max=4))))
    env.create(60, 120, asked=host_reservation(min=3, max=3))

    failures.clear()


@pytest.mark.parametrize(("table", "values"), DAMAGE)
def test_damaged_rows_are_counted_and_named(
    env: HttpEnv,
    failures: list[str],
    capsys: pytest.CaptureFixture[str],
    table: sa.Table,
    values: dict[str, str],
) -> None:
    counts = Counts()
    env.restart(instrumented(env.context, counts))
    lease = env.create(60, 120)
    damage(env, lease, table, values)

    env.get("/leases")

    rows = len(lease["events"]) if table is tables.events else 1
    assert counts.of(metrics.DAMAGED_ROWS) == {(table.name,): rows}
    if is_seen(values):
        assert leases.history(env.context, Namespace(lease_id=lease["id"])) == 0
        assert f"{next(iter(values))} " in capsys.readouterr().out.splitlines()[-1]
    assert f"row is damaged: table={table.name} column={next(iter(values))}" in failures[0]
    failures.clear()


def test_a_damaged_share_is_counted(env: HttpEnv, failures: list[str]) -> None:
    counts = Counts()
    env.create(60, 120, asked=instances(amount=1))
    with env.engine.begin() as connection:
        connection.execute(sa.update(tables.allocations).values(demand="{also broken"))

    env.restart(instrumented(env.context, counts))
    env.context.indexes["host"].confirm()
    env.create(60, 120, asked=host_reservation(min=3, max=3))

    assert counts.of(metrics.DAMAGED_ROWS) == {("allocations",): 1}
    failures.clear()


@pytest.mark.parametrize("start", [60, "now"])
def test_a_restored_row_serves_its_lease_again(env: HttpEnv, failures: list[str], start: int | str) -> None:
    lease = env.create(start, 120)
    env.work()
    with env.engine.connect() as connection:
        spec = connection.scalar(sa.select(tables.reservations.c.spec))
    damage(env, lease, tables.reservations, {"spec": "{broken"})
    env.pass_time(1)
    assert env.status(lease) == "ERROR"

    assert spec is not None
    assert json.loads(spec)
    damage(env, lease, tables.reservations, {"spec": spec})
    if env.status(lease) == "ERROR":
        assert leases.retry(env.context, Namespace(lease_id=lease["id"])) == 0
    env.pass_time(61)

    after = env.lease(lease["id"])
    assert (after["status"], after["degraded"]) == ("ACTIVE", False)
    assert env.members(lease)
    failures.clear()
