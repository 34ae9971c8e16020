"""Helpers for tests of the host monitor: a world with two hosts that is checked only on request."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import sqlalchemy as sa
from app.world import World, quiet_settings

from blazar.db.tables import journal, work
from blazar.domain.health import Health
from blazar.reconcile.periodic.host_monitor import UNLISTED, check_hosts
from blazar.settings import MonitorSettings, Settings

INTERVAL = timedelta(minutes=2)
HEALTHY = (Health.HEALTHY, "")
DOWN = (Health.FAILED, "its compute service h1 is down")
DISABLED = (Health.DISABLED, "its compute service h1 is disabled")
MISSED = (Health.DISABLED, UNLISTED)
VANISHED = (Health.FAILED, UNLISTED)


def monitored(*, is_polling: bool = False, is_listening: bool = False) -> Settings:
    monitor = MonitorSettings(is_polling=is_polling, is_listening=is_listening, polling_interval=INTERVAL)
    return replace(quiet_settings(), monitor=monitor)


def watched(world: World) -> World:
    """Register two hosts in a new world, complete their first check, and return the world."""
    world.register("h1", "h2")
    world.clock.advance(INTERVAL)
    world.work()
    return world


def look(world: World) -> None:
    check_hosts(world.context, "manager")


def look_later(world: World) -> None:
    world.clock.advance(INTERVAL)
    look(world)


def health_of(world: World, name: str = "h1") -> tuple[Health, str]:
    with world.context.store.read() as transaction:
        host = transaction.hosts.find_by_hostname(name)
    assert host is not None
    return host.diagnosis.health, host.diagnosis.problem


def told(world: World) -> list[str]:
    """Return the changes of host health in the journal, oldest first."""
    query = sa.select(journal.c.reason).where(journal.c.event == "resource.health").order_by(journal.c.id)
    with world.engine.connect() as connection:
        return [str(each) for each in connection.scalars(query)]


def due(world: World) -> dict[str, object]:
    with world.engine.connect() as connection:
        return {row.key: row.due_at for row in connection.execute(sa.select(work))}
