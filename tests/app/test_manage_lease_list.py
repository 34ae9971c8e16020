"""``blazar-manage lease list``: all leases, and those that are waiting, as operators see them."""

from __future__ import annotations

import json
from argparse import Namespace
from datetime import timedelta
from typing import Any

import pytest
from app.http_env import HttpEnv

from blazar.cmd.manage import lease_list
from blazar.db.stats import SqlStats
from blazar.ports.stats import Wait

pytestmark = pytest.mark.usefixtures("hosts")

Output = pytest.CaptureFixture[str]


def listed(env: HttpEnv, capsys: Output, *, waiting: bool = True) -> list[str]:
    assert lease_list.list_leases(env.context, Namespace(waiting=waiting, format="text")) == 0
    return capsys.readouterr().out.splitlines()


def documents(env: HttpEnv, capsys: Output, *, waiting: bool = True) -> Any:
    assert lease_list.list_leases(env.context, Namespace(waiting=waiting, format="json")) == 0
    return json.loads(capsys.readouterr().out)


def test_all_leases_are_listed(env: HttpEnv, capsys: Output) -> None:
    lease = env.create(60, 120)

    assert listed(env, capsys, waiting=False) == [
        f"{lease['id']}  night  PENDING  2031-01-01 01:00:00 UTC to 2031-01-01 02:00:00 UTC  project project"
    ]
    assert documents(env, capsys, waiting=False) == [
        {
            "id": lease["id"],
            "name": "night",
            "project_id": "project",
            "user_id": "user",
            "status": "PENDING",
            "start_at": "2031-01-01T01:00:00Z",
            "end_at": "2031-01-01T02:00:00Z",
            "is_degraded": False,
        }
    ]


def test_a_name_does_not_steer_the_terminal(env: HttpEnv, capsys: Output) -> None:
    env.change(env.create(60, 120), name="red \x1b[31m")

    [line] = listed(env, capsys, waiting=False)

    assert "red \N{REPLACEMENT CHARACTER}[31m" in line


def test_a_lease_that_is_as_it_should_be_does_not_wait(env: HttpEnv, capsys: Output) -> None:
    env.create("now", 60)
    env.create(60, 120)
    env.work()

    assert listed(env, capsys) == ["0 leases wait"]
    assert documents(env, capsys) == []


def test_a_lease_says_what_it_waits_for_and_when_it_is_tried_again(env: HttpEnv, capsys: Output) -> None:
    lease = env.create("now", 60)
    with env.failing("compute.create_aggregate"):
        env.work()

    [found] = documents(env, capsys)
    first, second, summary = listed(env, capsys)

    assert (found["id"], found["name"], found["status"]) == (lease["id"], "night", "STARTING")
    assert (found["failed_attempts"], found["manager"], found["note"]) == (1, None, None)
    assert "2031-01-01T00:00:20" < found["next_try_at"] <= "2031-01-01T00:00:22"
    [reason] = found["reservations"]
    assert (reason["status"], reason["since"]) == ("pending", found["since"])
    assert "compute.create_aggregate failed by script" in reason["reason"]
    assert first.startswith(
        f"{lease['id']}  night  STARTING  since 2031-01-01 00:00:20 UTC  1 failed attempts"
    )
    assert "next try at 2031-01-01 00:00:2" in first
    assert second == f"  physical:host {reason['id']} is pending: {reason['reason']}"
    assert summary == "1 lease waits"


def test_monitoring_counts_it_with_its_delay_whatever_its_last_reason(env: HttpEnv) -> None:
    env.create("now", 60)
    for minutes, operation in ((2, "create_aggregate"), (4, "add_host"), (5, "*")):
        with env.failing(f"compute.{operation}"):
            env.pass_time(minutes)

    found = SqlStats(env.engine).read(env.clock.now())

    assert found.leases == {"STARTING": 1}
    assert found.waiting == {"STARTING": Wait(leases=1, longest=timedelta(minutes=5))}


def test_a_lease_in_error_waits_for_a_retry(env: HttpEnv, capsys: Output) -> None:
    env.create("now", 60)
    with env.failing("compute.create_aggregate", status=400):
        env.pass_time(1)

    [found] = documents(env, capsys)
    first, *_ = listed(env, capsys)

    assert (found["status"], found["next_try_at"]) == ("ERROR", None)
    assert first.endswith("no further try: blazar-manage lease retry")


def test_a_lease_waits_that_no_manager_starts(env: HttpEnv, capsys: Output) -> None:
    env.create("now", 60)
    env.clock.advance(timedelta(minutes=1))

    [found] = documents(env, capsys)
    first, note, _ = listed(env, capsys)

    assert (found["status"], found["reservations"]) == ("PENDING", [])
    assert "PENDING" in first
    assert note == f"  {found['note']}" == "  no manager has continued with it: is a blazar-manager running?"
