"""Healing of resources that a reservation has lacked since its import (``blazar.importer``)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import sqlalchemy as sa
from reconcile.healing import DISABLED, diagnose, fail, flags, promised_hosts, recover
from reconcile.questions import host_id
from reconcile.reconciler_env import ReconcilerEnv
from reconcile.slots import instances, slots_by_host

from blazar.db import tables
from blazar.domain.lease import LeaseStatus, ResourceId

NOTHING = {"degraded": False, "missing_resources": False, "resources_changed": False}
ON_HOST_1 = {"hypervisor_properties": '["==", "$hypervisor_hostname", "host-1"]'}


def journal(env: ReconcilerEnv, lease_id: str, event: str) -> Sequence[str]:
    return [row.reason for row in env.rows().journal if row.lease_id == lease_id and row.event == event]


class TestWhatWasNeverThere:
    @pytest.mark.parametrize("hours", [0.2, 1])
    def test_it_is_found_before_the_start_and_afterwards(self, env: ReconcilerEnv, hours: float) -> None:
        lease = env.create("a", 0.5, 2, (2, 2))
        env.run_until(hours)
        take_away(env, lease, *sorted(promised_hosts(env, lease))[:1])

        env.at(hours + 0.1)

        assert flags(env, lease) == NOTHING
        assert len(promised_hosts(env, lease)) == 2
        (entry,) = journal(env, lease, "reservation.replaced")
        assert entry.endswith(": it held less than was reserved")

    def test_all_of_it_can_have_been_missing(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 0.5, 2, instances(amount=3))
        take_away(env, lease, *env.host_names)

        env.at(1)

        assert env.lease(lease).status is LeaseStatus.ACTIVE
        (reservation,) = env.lease(lease).reservations
        assert sum(slots_by_host(env, reservation).values()) == 3

    def test_it_stays_flagged_until_something_is_free(self, env: ReconcilerEnv) -> None:
        lease = env.create("a", 0.5, 2, (1, 1), **ON_HOST_1)
        take_away(env, lease, "host-1")
        other = env.create("b", 0.2, 1, **ON_HOST_1)

        env.run_until(0.3)
        assert flags(env, lease) == {**NOTHING, "degraded": True, "missing_resources": True}

        env.delete(other)
        env.at(0.4)
        assert flags(env, lease) == NOTHING
        assert promised_hosts(env, lease) == {"host-1"}

    def test_what_has_come_back_is_enough_and_nothing_is_added_to_it(self, env: ReconcilerEnv) -> None:
        for each in ("host-2", "host-3"):
            diagnose(env, each, DISABLED)
        lease = env.create("a", 0.2, 2, (1, 3))
        fail(env, "host-1")
        env.run_until(0.3)
        assert flags(env, lease)["missing_resources"]

        recover(env, *env.host_names)
        env.at(0.4)

        assert flags(env, lease) == NOTHING
        assert promised_hosts(env, lease) == {"host-1"}


def take_away(env: ReconcilerEnv, lease_id: str, *host_names: str) -> None:
    """Remove hosts from a lease, as an imported lease may lack some."""
    ids = [host_id(env, each) for each in host_names]
    reservation = env.lease(lease_id).reservations[0].id
    allocations, reservations = tables.allocations, tables.reservations
    with env.engine.begin() as connection:
        connection.execute(
            sa.delete(allocations).where(
                allocations.c.reservation_id == reservation, allocations.c.resource_id.in_(ids)
            )
        )
        connection.execute(
            sa.update(reservations).where(reservations.c.id == reservation).values(missing_resources=True)
        )
    with env.store.begin() as transaction:
        transaction.allocations.touch([ResourceId(each) for each in ids])
        transaction.work.schedule([lease_id], env.clock.now())
        transaction.commit()
