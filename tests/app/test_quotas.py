"""Project limits, as seen by lessees and operators."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from app.floatingips import Pool
from app.http_env import ADMIN, LESSEE, STRANGER, HttpEnv, refusal
from app.slots import instances
from oslo_upgradecheck.upgradecheck import Code

from blazar.cmd.manage import quotas
from blazar.cmd.status import check_quotas
from blazar.domain.errors import LimitsUnavailable

pytestmark = pytest.mark.usefixtures("hosts")

PROJECT = LESSEE.project or ""


@dataclass(slots=True)
class Table:
    """Limits set by a test; a value that was read stays cached until a fresh one is requested."""

    limits: dict[str, int] = field(default_factory=dict)
    of: dict[str, dict[str, int]] = field(default_factory=dict)
    is_up: bool = True
    remembered: dict[str, Mapping[str, int]] = field(default_factory=dict)

    def get(self, project_id: str, *, fresh: bool = False) -> Mapping[str, int]:
        if fresh or project_id not in self.remembered:
            self.remembered[project_id] = {**self.get_defaults(), **self.of.get(project_id, {})}
        return self.remembered[project_id]

    def get_defaults(self) -> Mapping[str, int]:
        if not self.is_up:
            raise LimitsUnavailable("The limits of the project cannot be read now")
        return dict(self.limits)


@pytest.fixture
def table(env: HttpEnv) -> Table:
    """Return the environment's limits, initially empty."""
    table = Table()
    env.restart(replace(env.context, limits=table))
    return table


def refused(env: HttpEnv, start: float, end: float, **keys: Any) -> str:
    """Return the message of a refused lease, and check that nothing has changed."""
    before = env.snapshot()
    message = refusal(env.post("/leases", env.wish(start, end, **keys), who=LESSEE), 403)
    assert env.snapshot() == before
    return message


def test_leases_that_have_not_ended_are_counted(env: HttpEnv, table: Table) -> None:
    table.limits["leases"] = 2
    first, _ = env.create("now", 60), env.create(60, 120)

    assert refused(env, 120, 180) == (
        "Quota of the project exceeded: leases: 2 in use, 1 more requested, and the limit is 2"
    )
    env.pass_time(61)
    assert env.status(first) == "TERMINATED"
    env.create(120, 180)


def test_a_lease_that_is_being_deleted_does_not_count(env: HttpEnv, table: Table) -> None:
    table.limits |= {"leases": 1, "reserved_hosts": 1}
    lease = env.create("now", 60)
    env.work()
    env.delete(f"/leases/{lease['id']}", who=LESSEE)
    assert env.status(lease) == "DELETING"

    env.create(60, 120)


def test_hosts_are_counted_at_the_same_time(env: HttpEnv, table: Table) -> None:
    table.limits["reserved_hosts"] = 3
    env.create(60, 120, min=2, max=2)

    assert "reserved_hosts: 2 in use, 2 more requested, and the limit is 3" in refused(
        env, 90, 150, min=2, max=2
    )
    env.create(120, 180, min=3, max=3)


def test_of_a_range_the_number_that_is_found_counts(env: HttpEnv, table: Table) -> None:
    table.limits["reserved_hosts"] = 2

    assert "4 more requested" in refused(env, 60, 120, min=1, max=4)
    env.create(60, 120, min=1, max=2)


def test_instances_are_counted_with_what_they_need(env: HttpEnv, table: Table) -> None:
    table.limits |= {"reserved_instances": 4, "reserved_instances:VCPU": 12}
    env.create(60, 120, asked=instances(amount=2))

    assert "reserved_instances:VCPU: 8 in use, 8 more" in refused(env, 60, 120, asked=instances(amount=2))
    assert "reserved_instances: 2 in use, 3 more" in refused(env, 60, 120, asked=instances(amount=3, vcpus=1))
    env.create(60, 120, asked=instances(amount=1))


def test_floating_ips_are_counted(env: HttpEnv, table: Table, pool: Pool) -> None:
    table.limits["reserved_floatingips"] = 1
    for number in (1, 2):
        pool.register(number)
    asked = {"resource_type": "virtual:floatingip", "network_id": pool.network_id, "amount": 2}

    assert "reserved_floatingips" in refused(env, 60, 120, asked=asked)
    env.create(60, 120, asked={**asked, "amount": 1})


def test_hours_ahead_are_counted_over_all_hosts(env: HttpEnv, table: Table) -> None:
    table.limits["host_hours_ahead"] = 6
    env.create(60, 180, min=2, max=2)

    assert "host_hours_ahead: 4 in use, 3 more requested, and the limit is 6" in refused(env, 180, 360)
    env.create(180, 300)


def test_an_extension_counts_and_is_refused_without_a_trace(env: HttpEnv, table: Table) -> None:
    table.limits["host_hours_ahead"] = 2
    lease = env.create(60, 120)
    before = env.snapshot()

    body = {"end_date": env.date(240)}
    assert "host_hours_ahead" in refusal(env.put(f"/leases/{lease['id']}", body, who=LESSEE), 403)

    assert env.snapshot() == before
    env.change(lease, end_date=env.date(180))


def test_over_a_lowered_limit_leases_can_still_shrink_and_be_renamed(env: HttpEnv, table: Table) -> None:
    lease = env.create(60, 180, min=3, max=3)
    table.limits |= {"reserved_hosts": 1, "host_hours_ahead": 0, "leases": 0}
    table.remembered.clear()

    env.change(lease, name="shorter", end_date=env.date(120))

    assert "reserved_hosts" in refusal(
        env.put(f"/leases/{lease['id']}", {"end_date": env.date(180)}, who=LESSEE), 403
    )


def test_an_operators_change_counts_for_the_leases_project(env: HttpEnv, table: Table) -> None:
    table.of[PROJECT] = {"host_hours_ahead": 1}
    lease = env.create(60, 120)

    body = {"end_date": env.date(240)}

    assert "host_hours_ahead" in refusal(env.put(f"/leases/{lease['id']}", body, who=ADMIN), 403)


def test_projects_are_counted_apart(env: HttpEnv, table: Table) -> None:
    table.limits["leases"] = 1

    env.create(60, 120)
    env.create(60, 120, who=STRANGER)

    refused(env, 60, 120)


def test_a_limit_that_was_raised_counts_at_once_and_one_that_was_lowered_when_it_is_read(
    env: HttpEnv, table: Table
) -> None:
    table.limits["leases"] = 1
    env.create(60, 120)
    table.limits["leases"] = 2
    env.create(60, 120)

    table.limits["leases"] = 1
    refused(env, 60, 120)


def test_while_limits_cannot_be_read_nothing_new_is_promised(env: HttpEnv, table: Table) -> None:
    lease = env.create("now", 60)
    table.is_up, table.remembered = False, {}
    before = env.snapshot()

    refusal(env.post("/leases", env.wish(60, 120), who=LESSEE), 503)
    longer = {"end_date": env.date(120)}
    refusal(env.put(f"/leases/{lease['id']}", longer, who=LESSEE), 503)

    assert env.snapshot() == before
    env.work()
    env.change(lease, end_date=env.date(30))
    env.pass_time(31)
    assert env.status(lease) == "TERMINATED"


def test_an_operator_sees_what_is_reserved_and_what_may_be(
    env: HttpEnv, table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    table.limits |= {"leases": 5, "reserved_hots": 1, "floatingip_hours_ahead": 9}
    env.create(60, 120, min=2, max=2)

    assert quotas.show_project(env.context, Namespace(project=PROJECT)) == 0

    assert capsys.readouterr().out.splitlines() == [
        "leases: 1 of 5",
        "floatingip_hours_ahead: 0 of 9",
        "host_hours_ahead: 2 of unlimited",
        "reserved_hosts: 2 of unlimited",
        "reserved_hots: 0 of 1 (unknown name, has no effect)",
    ]


def test_an_operator_sees_it_also_where_nothing_is_limited(
    env: HttpEnv, capsys: pytest.CaptureFixture[str]
) -> None:
    env.cloud.add_project("0" * 32, "idle")

    assert quotas.show_project(env.context, Namespace(project="idle")) == 0

    assert capsys.readouterr().out.splitlines() == [
        "leases: 0 of unlimited",
        "Limits are not enforced: [quotas] enabled is not set",
    ]


@pytest.mark.parametrize(
    ("limits", "code", "said"),
    [
        ({"reserved_hosts": 3, "reserved_instances:VCPU": 9}, Code.SUCCESS, "reserved_hosts"),
        ({"reserved_hots": 3}, Code.WARNING, "reserved_hots"),
        ({}, Code.WARNING, "no registered limit"),
    ],
)
def test_the_upgrade_check_says_what_is_limited(
    env: HttpEnv, table: Table, limits: dict[str, int], code: Code, said: str
) -> None:
    table.limits |= limits

    result = check_quotas(env.context)

    assert (result.code, said in str(result.details)) == (code, True)
