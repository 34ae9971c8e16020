"""Helpers for tests of the host monitor: an environment with two hosts that is checked only on request."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa
from app.http_env import HttpEnv, quiet_settings

from blazar.db.tables import journal, work
from blazar.domain.health import Health
from blazar.plugins.hosts.monitor import UNLISTED, check_hosts
from blazar.plugins.hosts.settings import MonitorSettings
from blazar.plugins.hosts.store import HOST_STORE
from blazar.settings import Settings

INTERVAL = timedelta(minutes=2)
HEALTHY = (Health.HEALTHY, "")
DOWN = (Health.FAILED, "its compute service h1 is down")
DISABLED = (Health.DISABLED, "its compute service h1 is disabled")
MISSED = (Health.DISABLED, UNLISTED)
VANISHED = (Health.FAILED, UNLISTED)


def monitored(*, is_polling: bool = False, is_listening: bool = False) -> Settings:
    monitor = MonitorSettings(is_polling=is_polling, is_listening=is_listening, polling_interval=INTERVAL)
    return quiet_settings().with_own(monitor)


def watched(env: HttpEnv) -> HttpEnv:
    """Register two hosts in a new environment, complete their first check, and return the environment."""
    env.register("h1", "h2")
    env.clock.advance(INTERVAL)
    env.work()
    return env


def look(env: HttpEnv) -> None:
    check_hosts(env.context, "manager")


def look_later(env: HttpEnv) -> None:
    env.clock.advance(INTERVAL)
    look(env)


def health_of(env: HttpEnv, name: str = "h1") -> tuple[Health, str]:
    with env.context.store.read() as transaction:
        host = transaction.of(HOST_STORE).find_by_hostname(name)
    assert host is not None
    return host.diagnosis.health, host.diagnosis.problem


def told(env: HttpEnv) -> list[str]:
    """Return the changes of host health in the journal, oldest first."""
    query = sa.select(journal.c.reason).where(journal.c.event == "resource.health").order_by(journal.c.id)
    with env.engine.connect() as connection:
        return [str(each) for each in connection.scalars(query)]


def due(env: HttpEnv) -> dict[str, object]:
    with env.engine.connect() as connection:
        return {row.key: row.due_at for row in connection.execute(sa.select(work))}
