"""The host monitor as a periodic task: shared by managers, resumed after crashes, followed by healing."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from reconcile.lab import Lab

from blazar.booking.context import Context
from blazar.booking.scheduling import HOST_CHECK
from blazar.cloud.simulated.faults import FaultKind, FaultRule, Moment
from blazar.db import tables
from blazar.domain.health import Health
from blazar.manager.service import ManagerService
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender
from blazar.reconcile.periodic.tasks import SWEEP
from blazar.settings import HealingSettings, MonitorSettings, ReconcilerSettings
from blazar_plugin_testing.service_env import ManagerProcess

MINUTE = timedelta(minutes=1)
LOOK = "compute.list_hypervisors"


def start_manager(lab: Lab, name: str = "watcher", *, is_polling: bool = True) -> ManagerProcess:
    """Start a manager that monitors hosts, every minute or on notifications only, and heals at once."""
    settings = replace(
        lab.conditions.settings,
        monitor=MonitorSettings(is_polling=is_polling, is_listening=True, polling_interval=MINUTE),
        healing=HealingSettings(interval=timedelta(0)),
        # No other periodic task lists hypervisors.
        reconciler=ReconcilerSettings(sweep_interval=timedelta(0), refresh_interval=timedelta(0)),
    )
    return _start(lab, name, replace(lab.manager.context, settings=settings))


def _start(lab: Lab, name: str, context: Context) -> ManagerProcess:
    made = replace(lab.manager, name=name, context=context)
    sender = OutboxSender(lab.store, lab.clock, lab.sent, {})
    reconciler = Reconciler(made.context, name, sender, threading.Event())
    reconciler.plan_chores()
    return replace(made, service=ManagerService(made.context), reconciler=reconciler)


def let_pass(lab: Lab, duration: timedelta, *managers: ManagerProcess) -> None:
    """Advance the clock, and run the managers' work as it falls due."""
    end = lab.clock.now() + duration
    while True:
        for each in managers:
            each.reconciler.run_due(100)
        due = lab.next_due()
        if due is None or due > end:
            break
        lab.clock.set(max(due, lab.clock.now()))
    lab.clock.set(end)


def keys(lab: Lab) -> set[str]:
    """Return the keys of the scheduled work."""
    return {each.key for each in lab.world().work}


def looks(lab: Lab) -> int:
    return lab.cloud.calls[LOOK]


def health(lab: Lab, name: str) -> Health:
    with lab.store.read() as transaction:
        host = transaction.hosts.find_by_hostname(name)
    assert host is not None
    return host.diagnosis.health


def booked(lab: Lab, lease_id: str) -> set[str]:
    """Return the names of the hosts that are allocated to a lease."""
    with lab.store.read() as transaction:
        ids = [each.id for each in lab.lease(lease_id).reservations]
        found = transaction.allocations.of_reservations(ids)
    return {lab.host_name(each.resource_id) for each in found}


def test_a_host_that_falls_silent_is_replaced_automatically(lab: Lab) -> None:
    manager = start_manager(lab)
    lease_id = lab.create("later", 5, 8)
    let_pass(lab, MINUTE, manager)
    (broken,) = booked(lab, lease_id)

    lab.cloud.set_host_state(broken, is_up=False)
    let_pass(lab, 2 * MINUTE, manager)

    assert len(booked(lab, lease_id)) == 1
    assert broken not in booked(lab, lease_id)


def test_what_found_no_other_host_is_healed_when_the_host_is_back(lab: Lab) -> None:
    manager = start_manager(lab)
    lease_id = lab.create("everything", 5, 8, (3, 3))
    lab.cloud.set_host_state("host-2", is_up=False)
    let_pass(lab, 2 * MINUTE, manager)
    assert lab.lease(lease_id).reservations[0].missing_resources

    lab.cloud.set_host_state("host-2", is_up=True)
    let_pass(lab, 2 * MINUTE, manager)

    assert not lab.lease(lease_id).reservations[0].missing_resources
    assert booked(lab, lease_id) == set(lab.host_names)


def test_managers_share_the_looks(lab: Lab) -> None:
    managers = [start_manager(lab, f"watcher-{number}") for number in range(3)]
    let_pass(lab, MINUTE / 2, *managers)
    before = looks(lab)

    let_pass(lab, 10 * MINUTE, *managers)

    assert looks(lab) - before == 10


def test_managers_that_only_listen_look_once_when_they_start(lab: Lab) -> None:
    before = looks(lab)

    manager = start_manager(lab, is_polling=False)
    let_pass(lab, 10 * MINUTE, manager)

    assert looks(lab) - before == 1
    assert HOST_CHECK not in keys(lab)


@pytest.mark.parametrize("is_polling", [True, False])
@pytest.mark.parametrize("kind", [FaultKind.STATUS, FaultKind.LOSE_REPLY])
def test_a_look_that_fails_is_made_again(lab: Lab, kind: FaultKind, is_polling: bool) -> None:
    lab.cloud.set_host_state("host-2", is_up=False)
    lab.faults.add(FaultRule(kind=kind, operation=LOOK, times=3))

    manager = start_manager(lab, is_polling=is_polling)
    let_pass(lab, timedelta(seconds=1), manager)
    assert health(lab, "host-2") is Health.HEALTHY

    let_pass(lab, 5 * MINUTE, manager)
    assert health(lab, "host-2") is Health.FAILED


@pytest.mark.parametrize("is_polling", [True, False])
@pytest.mark.parametrize("moment", Moment)
def test_a_killed_manager_is_replaced_at_a_look_by_another(
    lab: Lab, moment: Moment, is_polling: bool
) -> None:
    lab.cloud.set_host_state("host-2", is_up=False)
    lab.faults.add(FaultRule(kind=FaultKind.CRASH, operation=LOOK, times=1, when=moment))
    first, second = (start_manager(lab, name, is_polling=is_polling) for name in ("first", "second"))

    with pytest.raises(BaseException, match="failed by script"):
        first.reconciler.run_due()
    let_pass(lab, ReconcilerSettings().claim_duration, second)

    assert health(lab, "host-2") is Health.FAILED


def test_a_chore_that_is_not_to_be_done_here_is_dropped(lab: Lab) -> None:
    never = ReconcilerSettings(sweep_interval=timedelta(0), refresh_interval=timedelta(0))
    quiet = replace(lab.conditions.settings, reconciler=never)
    manager = _start(lab, "quiet", replace(lab.manager.context, settings=quiet))
    assert SWEEP not in keys(lab)
    lab.plan_chore()
    with lab.engine.begin() as connection:
        connection.execute(sa.delete(tables.work).where(tables.work.c.key != SWEEP))
    before = lab.counted

    manager.reconciler.run_due()

    assert keys(lab) == set()
    assert lab.counted == before
