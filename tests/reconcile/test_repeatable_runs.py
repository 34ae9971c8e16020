"""Runs with the same clock, random numbers and IDs are identical."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from itertools import count

from reconcile.parts import lease_body
from reconcile.reconciler_env import LESSEE, ReconcilerEnv

from blazar.manager.service import ManagerService
from blazar_plugin_testing.faults import COMMIT_FAULTS


def test_an_overtaken_request_waits_on_the_service_s_own_clock(env: ReconcilerEnv) -> None:
    before = env.clock.now()
    env.store.arm(COMMIT_FAULTS["deadlock"], 1)

    env.manager.service.create_lease(LESSEE, lease_body("a", env.date(1), env.date(2)))

    expected = random.Random(env.managers_so_far).uniform(0, 0.02)
    assert env.clock.now() - before == timedelta(seconds=expected)


def test_ids_come_from_where_the_service_is_told(env: ReconcilerEnv) -> None:
    numbers = count(1)
    context = replace(env.manager.context, new_id=lambda: f"{next(numbers):036}")

    ManagerService(context).create_lease(LESSEE, lease_body("a", env.date(1), env.date(2)))

    (lease,) = env.leases()
    ids = [lease.id, lease.reservations[0].id, *(each.id for each in lease.events)]
    assert sorted(ids) == [f"{number:036}" for number in range(1, 5)]
