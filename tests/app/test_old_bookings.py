"""Old bookings are deleted without the sweep for leftovers, too."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from app.conftest import EnvWith
from app.http_env import HttpEnv, quiet_settings
from app.monitoring import look

from blazar.db.tables import allocations, resource_changes
from blazar.plugins.hosts.settings import HostSettings, MonitorSettings
from blazar.settings import ReconcilerSettings

CLEANING_MINUTES = 20


@pytest.fixture
def env(env_with: EnvWith) -> HttpEnv:
    """Return a service with two hosts, which is cleaned after each lease and never sweeps."""
    settings = quiet_settings(cleaning_minutes=CLEANING_MINUTES).with_own(
        MonitorSettings(is_polling=False), HostSettings(refresh_interval=timedelta(0))
    )
    env = env_with(replace(settings, reconciler=ReconcilerSettings(sweep_interval=timedelta(0))))
    env.register("h1", "h2")
    env.reconciler.plan_periodic_tasks()
    return env


def count(env: HttpEnv, table: sa.Table) -> int:
    with env.engine.connect() as connection:
        return int(connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0)


def test_cleaned_allocations_and_old_changes_are_deleted(env: HttpEnv) -> None:
    env.create("now", 30)
    env.pass_time(31)
    assert (count(env, allocations), count(env, resource_changes) > 0) == (1, True)

    env.pass_time(31 + 120)

    assert (count(env, allocations), count(env, resource_changes)) == (0, 0)


def test_a_lease_gets_a_missing_host_when_it_is_clean(env: HttpEnv) -> None:
    first = env.create("now", 30)
    lease = env.create("now", 300)
    env.pass_time(31)
    (failed,) = env.members(lease)
    assert env.status(first) == "TERMINATED"
    env.cloud.set_host_state(failed, is_up=False)
    look(env)
    env.work()
    reservation = env.lease(lease["id"])["reservations"][0]
    assert reservation["missing_resources"]

    env.pass_time(31 + CLEANING_MINUTES + 10)

    assert env.members(lease) == {"h1", "h2"} - {failed}
    assert not env.lease(lease["id"])["reservations"][0]["missing_resources"]
