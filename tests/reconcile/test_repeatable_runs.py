"""Runs with the same clock, random numbers and IDs are identical."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from itertools import count

from reconcile.lab import LESSEE, Lab
from reconcile.parts import lease_body

from blazar.manager.service import ManagerService
from blazar_plugin_testing.faults import COMMIT_FAULTS


def test_an_overtaken_request_waits_on_the_service_s_own_clock(lab: Lab) -> None:
    before = lab.clock.now()
    lab.store.arm(COMMIT_FAULTS["deadlock"], 1)

    lab.manager.service.create_lease(LESSEE, lease_body("a", lab.date(1), lab.date(2)))

    expected = random.Random(lab.managers_so_far).uniform(0, 0.02)
    assert lab.clock.now() - before == timedelta(seconds=expected)


def test_ids_come_from_where_the_service_is_told(lab: Lab) -> None:
    numbers = count(1)
    context = replace(lab.manager.context, new_id=lambda: f"{next(numbers):036}")

    ManagerService(context).create_lease(LESSEE, lease_body("a", lab.date(1), lab.date(2)))

    (lease,) = lab.leases()
    ids = [lease.id, lease.reservations[0].id, *(each.id for each in lease.events)]
    assert sorted(ids) == [f"{number:036}" for number in range(1, 5)]
