"""Healing of resources that a reservation has lacked since its import (``blazar.importer``)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import sqlalchemy as sa
from reconcile.healing import DISABLED, diagnose, fail, flags, promised_hosts, recover
from reconcile.lab import Lab
from reconcile.questions import host_id
from reconcile.slots import instances, slots_by_host

from blazar.db import tables
from blazar.domain.lease import LeaseStatus, ResourceId

NOTHING = {"degraded": False, "missing_resources": False, "resources_changed": False}
ON_HOST_1 = {"hypervisor_properties": '["==", "$hypervisor_hostname", "host-1"]'}


def journal(lab: Lab, lease_id: str, event: str) -> Sequence[str]:
    return [row.reason for row in lab.world().journal if row.lease_id == lease_id and row.event == event]


class TestWhatWasNeverThere:
    @pytest.mark.parametrize("hours", [0.2, 1])
    def test_it_is_found_before_the_start_and_afterwards(self, lab: Lab, hours: float) -> None:
        lease = lab.create("a", 0.5, 2, (2, 2))
        lab.run_until(hours)
        take_away(lab, lease, *sorted(promised_hosts(lab, lease))[:1])

        lab.at(hours + 0.1)

        assert flags(lab, lease) == NOTHING
        assert len(promised_hosts(lab, lease)) == 2
        (entry,) = journal(lab, lease, "reservation.replaced")
        assert entry.endswith(": it held less than was reserved")

    def test_all_of_it_can_have_been_missing(self, lab: Lab) -> None:
        lease = lab.create("a", 0.5, 2, instances(amount=3))
        take_away(lab, lease, *lab.host_names)

        lab.at(1)

        assert lab.lease(lease).status is LeaseStatus.ACTIVE
        (reservation,) = lab.lease(lease).reservations
        assert sum(slots_by_host(lab, reservation).values()) == 3

    def test_it_stays_flagged_until_something_is_free(self, lab: Lab) -> None:
        lease = lab.create("a", 0.5, 2, (1, 1), **ON_HOST_1)
        take_away(lab, lease, "host-1")
        other = lab.create("b", 0.2, 1, **ON_HOST_1)

        lab.run_until(0.3)
        assert flags(lab, lease) == {**NOTHING, "degraded": True, "missing_resources": True}

        lab.delete(other)
        lab.at(0.4)
        assert flags(lab, lease) == NOTHING
        assert promised_hosts(lab, lease) == {"host-1"}

    def test_what_has_come_back_is_enough_and_nothing_is_added_to_it(self, lab: Lab) -> None:
        for each in ("host-2", "host-3"):
            diagnose(lab, each, DISABLED)
        lease = lab.create("a", 0.2, 2, (1, 3))
        fail(lab, "host-1")
        lab.run_until(0.3)
        assert flags(lab, lease)["missing_resources"]

        recover(lab, *lab.host_names)
        lab.at(0.4)

        assert flags(lab, lease) == NOTHING
        assert promised_hosts(lab, lease) == {"host-1"}


def take_away(lab: Lab, lease_id: str, *host_names: str) -> None:
    """Remove hosts from a lease, as an imported lease may lack some."""
    ids = [host_id(lab, each) for each in host_names]
    reservation = lab.lease(lease_id).reservations[0].id
    allocations, reservations = tables.allocations, tables.reservations
    with lab.engine.begin() as connection:
        connection.execute(
            sa.delete(allocations).where(
                allocations.c.reservation_id == reservation, allocations.c.resource_id.in_(ids)
            )
        )
        connection.execute(
            sa.update(reservations).where(reservations.c.id == reservation).values(missing_resources=True)
        )
    with lab.store.begin() as transaction:
        transaction.allocations.touch([ResourceId(each) for each in ids])
        transaction.work.schedule([lease_id], lab.clock.now())
        transaction.commit()
