"""Leases that are not used end after a grace period, on the embedded service."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from app.conftest import EnvWith
from app.floatingips import make_pool
from app.http_env import NEWER, STRANGER, HttpEnv, Json, good, host_reservation, quiet_settings

from blazar.booking.event_types import NO_SHOW
from blazar.db.journal import SqlJournal
from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import ResourceId
from blazar.reconcile.periodic.tasks import OBSERVE_USE
from blazar.settings import UsageSettings

MINUTE = timedelta(minutes=1)
SETTINGS = UsageSettings(
    no_show_grace={"physical:host": 120 * MINUTE},
    no_show_warning=30 * MINUTE,
    no_show_exempt=frozenset({"elsewhere"}),
)
START = 10


@pytest.fixture
def env(env_with: EnvWith) -> HttpEnv:
    env = env_with(replace(quiet_settings(), usage=SETTINGS))
    env.register("h1", "h2")
    with env.context.store.begin() as transaction:
        transaction.work.schedule([OBSERVE_USE], env.clock.now())
        transaction.commit()
    return env


def boot(env: HttpEnv, lease: Json) -> None:
    (host,) = env.members(lease)
    env.cloud.boot_server("s", "project", reservation_id=lease["reservations"][0]["id"], service_host=host)


def warnings(env: HttpEnv) -> list[Json]:
    return [
        dict(payload)
        for event_type, payload in zip(env.sent.event_types, env.sent.payloads, strict=True)
        if event_type == NO_SHOW
    ]


def test_an_unused_lease_is_warned_of_and_ended(env: HttpEnv) -> None:
    lease = env.create(START, 600)

    env.pass_time(START + 95)
    (warning,) = warnings(env)
    assert warning["lease_id"] == lease["id"]
    assert env.shown(START + 115) <= warning["ends_at"] <= env.shown(START + 125)
    assert env.status(lease) == "ACTIVE"

    env.pass_time(START + 130)
    ended = env.lease(lease["id"])
    assert ended["status"] == "TERMINATED"
    assert env.shown(START + 119) <= ended["end_date"] <= env.shown(START + 130)
    assert env.members(lease) == frozenset()
    assert env.aggregates()["freepool"] == {"h1", "h2"}
    assert len(warnings(env)) == 1
    history = good(env.get(f"/leases/{lease['id']}/history", headers=NEWER))["history"]
    texts = [each["text"] for each in history]
    assert "The lease is not used. It will be ended soon unless it is used." in texts
    assert "The lease was ended, because it was not used." in texts
    # The host is free for others, and the hours that the lease has had are counted.
    env.create("now", 600, min=2, max=2)


def test_only_warnings_are_read_from_the_journal(env: HttpEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(SqlJournal, "list")
    lease = env.create(START, 600)

    env.pass_time(START + 130)

    assert env.status(lease) == "TERMINATED"
    assert len(warnings(env)) == 1


@pytest.mark.parametrize("when", [20, 100])
def test_a_lease_that_is_used_in_time_stays(env: HttpEnv, when: int) -> None:
    lease = env.create(START, 600)
    env.pass_time(START + when)
    boot(env, lease)

    env.pass_time(START + 300)

    assert env.status(lease) == "ACTIVE"
    assert len(warnings(env)) == (when > 90)


def test_a_lease_that_was_used_once_stays(env: HttpEnv) -> None:
    lease = env.create(START, 600)
    env.pass_time(START + 20)
    boot(env, lease)
    env.pass_time(START + 30)
    for each in env.cloud.servers.list_servers():
        env.cloud.servers.delete_server(each.id)

    env.pass_time(START + 300)

    assert env.status(lease) == "ACTIVE"
    assert warnings(env) == []


def test_exempt_projects_and_other_types_stay(env: HttpEnv) -> None:

    asked = {"resource_type": "virtual:instance", "amount": 1, "affinity": None, "resource_properties": ""}
    exempt = env.create(START, 600, who=STRANGER)
    instance = env.create(START, 600, asked={**asked, "vcpus": 1, "memory_mb": 512, "disk_gb": 1})

    env.pass_time(START + 300)

    assert (env.status(exempt), env.status(instance)) == ("ACTIVE", "ACTIVE")
    assert warnings(env) == []


def test_nothing_ends_while_the_cloud_does_not_answer(env: HttpEnv) -> None:
    lease = env.create(START, 600)
    env.pass_time(START + 60)
    with env.failing("compute.list_servers"):
        env.pass_time(START + 200)
    assert env.status(lease) == "ACTIVE"
    assert warnings(env) == []

    # The time before the gap does not count.
    env.pass_time(START + 280)
    assert warnings(env) == []
    env.pass_time(START + 340)
    assert env.status(lease) == "TERMINATED"


def test_after_a_gap_the_owner_is_warned_again(env: HttpEnv) -> None:
    lease = env.create(START, 900)
    env.pass_time(START + 95)
    assert len(warnings(env)) == 1
    with env.failing("compute.list_servers"):
        env.pass_time(START + 200)

    env.pass_time(START + 305)
    assert (env.status(lease), len(warnings(env))) == ("ACTIVE", 2)

    env.pass_time(START + 340)
    assert (env.status(lease), len(warnings(env))) == ("TERMINATED", 2)


def test_time_in_which_its_host_had_failed_does_not_count(env: HttpEnv) -> None:
    lease = env.create(START, 900, min=2, max=2)
    env.pass_time(START + 5)
    diagnose(env, lease, Diagnosis(health=Health.FAILED, problem="no power"))
    env.pass_time(START + 180)
    diagnose(env, lease, Diagnosis(health=Health.HEALTHY))

    env.pass_time(START + 260)
    assert (env.status(lease), warnings(env)) == ("ACTIVE", [])

    env.pass_time(START + 310)
    assert env.status(lease) == "TERMINATED"


def test_a_lease_whose_failed_host_was_replaced_ends(env: HttpEnv) -> None:
    lease = env.create(START, 600)
    env.pass_time(START + 5)
    diagnose(env, lease, Diagnosis(health=Health.FAILED, problem="no power"))
    env.pass_time(START + 10)
    assert env.lease(lease["id"])["degraded"] is True

    env.pass_time(START + 160)

    assert env.status(lease) == "TERMINATED"


def diagnose(env: HttpEnv, lease: Json, diagnosis: Diagnosis) -> None:
    """Set the diagnosis of one of the hosts of a lease."""
    with env.context.store.begin() as transaction:
        transaction.resources.set_diagnosis(ResourceId(min(env.booked(lease))), diagnosis, env.clock.now())
        transaction.work.schedule([lease["id"]], env.clock.now())
        transaction.commit()


def test_a_lessee_cannot_keep_an_unused_lease_by_replacing_its_host(env: HttpEnv) -> None:
    lease = env.create(START, 600)
    env.pass_time(START + 5)
    body = {
        "reservation_id": lease["reservations"][0]["id"],
        "resources": [min(env.booked(lease))],
        "reason": "no network",
    }
    good(env.post(f"/leases/{lease['id']}/replacements", body, headers=NEWER))

    env.pass_time(START + 160)

    assert env.status(lease) == "TERMINATED"


def test_a_lease_waits_while_another_type_of_it_cannot_be_observed(env: HttpEnv) -> None:
    pool = make_pool(env)
    pool.register(1)
    reservations = [host_reservation(), pool.asked()]
    dates = {"start_date": env.date(START), "end_date": env.date(600)}
    answer = env.post("/leases", {"name": "both", **dates, "reservations": reservations})
    lease = good(answer, 201)["lease"]
    env.pass_time(START + 2)
    assert env.status(lease) == "ACTIVE"

    with env.failing("networks.list_floating_ips"):
        env.pass_time(START + 200)
    assert env.status(lease) == "ACTIVE"

    env.pass_time(START + 240)
    assert env.status(lease) == "TERMINATED"


def test_by_default_nothing_ends(env_with: EnvWith) -> None:
    env = env_with(quiet_settings())
    env.register("h1")
    with env.context.store.begin() as transaction:
        transaction.work.schedule([OBSERVE_USE], env.clock.now())
        transaction.commit()
    lease = env.create(START, 600)

    env.pass_time(START + 500)

    assert (env.status(lease), warnings(env)) == ("ACTIVE", [])


def test_its_bookings_end_with_it(env: HttpEnv) -> None:
    lease = env.create(START, 600)
    env.pass_time(START + 118)
    held = ResourceId(next(iter(env.booked(lease))))
    env.pass_time(START + 130)

    with env.context.store.read() as transaction:
        assert transaction.allocations.count_on(held) == 0
