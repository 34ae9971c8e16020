"""The host monitor as a periodic task: shared by managers, resumed after crashes, followed by healing."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from reconcile.reconciler_env import ReconcilerEnv

from blazar.booking.context import Context
from blazar.cloud.simulated.faults import FaultKind, FaultRule, Moment
from blazar.db import tables
from blazar.domain.health import Health
from blazar.manager.service import ManagerService
from blazar.plugins.hosts.monitor import HOST_CHECK
from blazar.plugins.hosts.settings import HostSettings, MonitorSettings
from blazar.plugins.hosts.store import HOST_STORE
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender
from blazar.reconcile.periodic.tasks import SWEEP
from blazar.settings import HealingSettings, ReconcilerSettings
from blazar_plugin_testing.service_env import ManagerProcess

MINUTE = timedelta(minutes=1)
LOOK = "compute.list_hypervisors"


def start_manager(env: ReconcilerEnv, name: str = "watcher", *, is_polling: bool = True) -> ManagerProcess:
    """Start a manager that monitors hosts, every minute or on notifications only, and heals at once."""
    settings = replace(
        env.conditions.settings,
        healing=HealingSettings(interval=timedelta(0)),
        # No other periodic task lists hypervisors.
        reconciler=ReconcilerSettings(sweep_interval=timedelta(0)),
    ).with_own(
        HostSettings(refresh_interval=timedelta(0)),
        MonitorSettings(is_polling=is_polling, is_listening=True, polling_interval=MINUTE),
    )
    return _start(env, name, replace(env.manager.context, settings=settings))


def _start(env: ReconcilerEnv, name: str, context: Context) -> ManagerProcess:
    made = replace(env.manager, name=name, context=context)
    sender = OutboxSender(env.store, env.clock, env.sent, {})
    reconciler = Reconciler(made.context, name, sender, threading.Event())
    reconciler.plan_periodic_tasks()
    return replace(made, service=ManagerService(made.context), reconciler=reconciler)


def let_pass(env: ReconcilerEnv, duration: timedelta, *managers: ManagerProcess) -> None:
    """Advance the clock, and run the managers' work as it falls due."""
    end = env.clock.now() + duration
    while True:
        for each in managers:
            each.reconciler.run_due(100)
        due = env.next_due()
        if due is None or due > end:
            break
        env.clock.set(max(due, env.clock.now()))
    env.clock.set(end)


def keys(env: ReconcilerEnv) -> set[str]:
    """Return the keys of the scheduled work."""
    return {each.key for each in env.rows().work}


def looks(env: ReconcilerEnv) -> int:
    return env.cloud.calls[LOOK]


def health(env: ReconcilerEnv, name: str) -> Health:
    with env.store.read() as transaction:
        host = transaction.of(HOST_STORE).find_by_hostname(name)
    assert host is not None
    return host.diagnosis.health


def booked(env: ReconcilerEnv, lease_id: str) -> set[str]:
    """Return the names of the hosts that are allocated to a lease."""
    with env.store.read() as transaction:
        ids = [each.id for each in env.lease(lease_id).reservations]
        found = transaction.allocations.of_reservations(ids)
    return {env.host_name(each.resource_id) for each in found}


def test_a_host_that_falls_silent_is_replaced_automatically(env: ReconcilerEnv) -> None:
    manager = start_manager(env)
    lease_id = env.create("later", 5, 8)
    let_pass(env, MINUTE, manager)
    (broken,) = booked(env, lease_id)

    env.cloud.set_host_state(broken, is_up=False)
    let_pass(env, 2 * MINUTE, manager)

    assert len(booked(env, lease_id)) == 1
    assert broken not in booked(env, lease_id)


def test_what_found_no_other_host_is_healed_when_the_host_is_back(env: ReconcilerEnv) -> None:
    manager = start_manager(env)
    lease_id = env.create("everything", 5, 8, (3, 3))
    env.cloud.set_host_state("host-2", is_up=False)
    let_pass(env, 2 * MINUTE, manager)
    assert env.lease(lease_id).reservations[0].missing_resources

    env.cloud.set_host_state("host-2", is_up=True)
    let_pass(env, 2 * MINUTE, manager)

    assert not env.lease(lease_id).reservations[0].missing_resources
    assert booked(env, lease_id) == set(env.host_names)


def test_managers_share_the_looks(env: ReconcilerEnv) -> None:
    managers = [start_manager(env, f"watcher-{number}") for number in range(3)]
    let_pass(env, MINUTE / 2, *managers)
    before = looks(env)

    let_pass(env, 10 * MINUTE, *managers)

    assert looks(env) - before == 10


def test_managers_that_only_listen_look_once_when_they_start(env: ReconcilerEnv) -> None:
    before = looks(env)

    manager = start_manager(env, is_polling=False)
    let_pass(env, 10 * MINUTE, manager)

    assert looks(env) - before == 1
    assert HOST_CHECK not in keys(env)


@pytest.mark.parametrize("is_polling", [True, False])
@pytest.mark.parametrize("kind", [FaultKind.STATUS, FaultKind.LOSE_REPLY])
def test_a_look_that_fails_is_made_again(env: ReconcilerEnv, kind: FaultKind, is_polling: bool) -> None:
    env.cloud.set_host_state("host-2", is_up=False)
    env.faults.add(FaultRule(kind=kind, operation=LOOK, times=3))

    manager = start_manager(env, is_polling=is_polling)
    let_pass(env, timedelta(seconds=1), manager)
    assert health(env, "host-2") is Health.HEALTHY

    let_pass(env, 5 * MINUTE, manager)
    assert health(env, "host-2") is Health.FAILED


@pytest.mark.parametrize("is_polling", [True, False])
@pytest.mark.parametrize("moment", Moment)
def test_a_killed_manager_is_replaced_at_a_look_by_another(
    env: ReconcilerEnv, moment: Moment, is_polling: bool
) -> None:
    env.cloud.set_host_state("host-2", is_up=False)
    env.faults.add(FaultRule(kind=FaultKind.CRASH, operation=LOOK, times=1, when=moment))
    first, second = (start_manager(env, name, is_polling=is_polling) for name in ("first", "second"))

    with pytest.raises(BaseException, match="failed by script"):
        first.reconciler.run_due()
    let_pass(env, ReconcilerSettings().claim_duration, second)

    assert health(env, "host-2") is Health.FAILED


def test_a_chore_that_is_not_to_be_done_here_is_dropped(env: ReconcilerEnv) -> None:
    never = ReconcilerSettings(sweep_interval=timedelta(0))
    quiet = replace(env.conditions.settings, reconciler=never).with_own(
        HostSettings(refresh_interval=timedelta(0))
    )
    manager = _start(env, "quiet", replace(env.manager.context, settings=quiet))
    assert SWEEP not in keys(env)
    env.plan_periodic_task()
    with env.engine.begin() as connection:
        connection.execute(sa.delete(tables.work).where(tables.work.c.key != SWEEP))
    before = env.counted

    manager.reconciler.run_due()

    assert keys(env) == set()
    assert env.counted == before
