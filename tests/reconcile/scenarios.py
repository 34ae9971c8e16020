"""Life cycles of leases, as functions of a lab; times are in hours since its beginning.

``lab.at`` marks the times at which everything must have settled, even after a single fault.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from reconcile.invariants import check_always
from reconcile.lab import FREEPOOL, LESSEE, Lab
from reconcile.parts import Conditions
from samples import know_a_lease

from blazar.domain.errors import HostAlreadyRegistered, HostNotFound
from blazar.domain.lease import LeaseStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A life cycle and the lab's conditions for it."""

    play: Callable[[Lab], None]
    conditions: Conditions
    is_representative: bool

    def __str__(self) -> str:
        return self.play.__name__


def starts_and_ends(lab: Lab) -> None:
    with lab.trial():
        lab.create("a", 1, 3, (1, 2))
        lab.at(0.5)
        lab.at(0.99)
        lab.at(1.1)
        lab.at(3.1)


def starts_now(lab: Lab) -> None:
    lab.jump(0.005)
    with lab.trial():
        lab.create("a", "now", 2, (3, 3))
        lab.at(0.1)


def two_reservations(lab: Lab) -> None:
    lab.create("a", 0, 2, (1, 1), (2, 2))
    with lab.trial():
        lab.at(1.1)
        lab.at(2.1)


def no_reservations(lab: Lab) -> None:
    with lab.trial():
        lab.create("a", 1, 2, None)
        lab.at(2.1)


def back_to_back(lab: Lab) -> None:
    lab.create("a", 0, 2, (2, 3))
    lab.create("b", 2, 3, (3, 3))
    lab.at(1.9)
    with lab.trial():
        lab.at(2.1)


def back_to_back_with_cleaning(lab: Lab) -> None:
    lab.create("a", 0, 2, (3, 3))
    lab.create("b", 2.5, 3, (3, 3))
    lab.at(1.9)
    with lab.trial():
        lab.at(2.1)
        lab.at(2.6)


def extended_while_active(lab: Lab) -> None:
    lease = lab.create("a", 0, 2)
    lab.at(1.5)
    with lab.trial():
        lab.update(lease, end=4)
        lab.at(2.5)


def grown_while_active(lab: Lab) -> None:
    lease = lab.create("a", 0, 2)
    lab.at(1.5)
    with lab.trial():
        lab.resize(lease, 1, 3)
        lab.at(1.6)
        assert len(lab.hosts_of(lease)) == 3


def shrunk_while_active(lab: Lab) -> None:
    lease = lab.create("a", 0, 2, (1, 3))
    lab.at(1)
    busy = max(lab.hosts_of(lease))
    lab.boot(busy)
    with lab.trial():
        lab.resize(lease, 1, 1)
        lab.at(1.1)
        assert lab.hosts_of(lease) == {busy}
        lab.at(2.1)


def ended_now(lab: Lab) -> None:
    lease = lab.create("a", 0, 4, (1, 2))
    lab.at(1.5)
    with lab.trial():
        lab.update(lease, end="now")
        lab.at(1.6)
        assert lab.lease(lease).status is LeaseStatus.TERMINATED


def ended_in_its_first_minute(lab: Lab) -> None:
    lab.jump(0.005)
    with lab.trial():
        lease = lab.create("a", "now", 4, (1, 2))
        lab.run_due()
        if lab.lease(lease).status.is_stable:
            lab.update(lease, end="now")
        lab.at(4.1)


def moved_before_its_start(lab: Lab) -> None:
    lease = lab.create("a", 1, 2)
    with lab.trial():
        lab.update(lease, start=3, end=4)
        lab.at(1.5)
        lab.at(3.1)


def moved_when_prepared(lab: Lab) -> None:
    lease = lab.create("a", 1, 2)
    lab.at(0.99)
    with lab.trial():
        lab.update(lease, start=3, end=4)
        lab.at(1.5)


def renamed_and_shrunk_before_its_start(lab: Lab) -> None:
    lease = lab.create("a", 1, 2, (1, 3))
    with lab.trial():
        lab.update(lease, name="b")
        lab.resize(lease, 1, 1)
        lab.at(1.1)
        assert lab.may_fail or len(lab.hosts_of(lease)) == 1


def deleted_before_its_start(lab: Lab) -> None:
    lease = lab.create("a", 1, 2)
    with lab.trial():
        lab.delete(lease)
        lab.at(0.1)
        assert lab.leases() == ()


def deleted_when_prepared(lab: Lab) -> None:
    lease = lab.create("a", 1, 2)
    lab.at(0.99)
    with lab.trial():
        lab.delete(lease)
        lab.at(1.1)
        assert lab.leases() == ()


def deleted_while_active(lab: Lab) -> None:
    lease = lab.create("a", 0, 4, (2, 2))
    lab.at(1.5)
    for host in lab.hosts_of(lease):
        lab.boot(host)
    with lab.trial():
        lab.delete(lease)
        lab.at(1.6)
        assert lab.leases() == ()


def deleted_after_its_end(lab: Lab) -> None:
    lease = lab.create("a", 0, 1)
    lab.at(1.1)
    with lab.trial():
        lab.delete(lease)
        lab.at(1.2)
        assert lab.leases() == ()


def snapshots_before_the_end(lab: Lab) -> None:
    lease = lab.create("a", 0, 4, (2, 2), before_end="snapshot")
    lab.at(2.5)
    servers = {lab.boot(host).id for host in lab.hosts_of(lease)}
    with lab.trial():
        lab.at(3.1)
        with lab.faults.exempt():
            images = lab.cloud.compute.list_images({})
        taken = sorted(each.properties["blazar_server"] for each in images)
        assert lab.may_fail or taken == sorted(servers)
        assert lab.may_fail or {each.owner_project_id for each in images} == {"project"}


def servers_take_their_time(lab: Lab) -> None:
    lease = lab.create("a", 0, 2, (2, 2))
    lab.at(1.9)
    for host in lab.hosts_of(lease):
        lab.boot(host)
    with lab.trial():
        lab.run_until(2.0003)
        check_always(lab)
        lab.at(2.1)


def overslept(lab: Lab) -> None:
    lab.create("a", 1, 2)
    lab.jump(3)
    with lab.trial():
        lab.at(3.1)


def overslept_back_to_back(lab: Lab) -> None:
    lab.create("a", 1, 2, (3, 3))
    lab.create("b", 2, 4, (3, 3))
    lab.jump(3)
    with lab.trial():
        lab.at(3.1)


def end_overslept_with_the_next_one_waiting(lab: Lab) -> None:
    first = lab.create("a", 0, 2, (3, 3))
    lab.create("b", 2, 4, (3, 3))
    lab.at(1.5)
    lab.boot(next(iter(lab.hosts_of(first))))
    lab.jump(3)
    with lab.trial():
        lab.at(3.1)


def hosts_have_a_zone(lab: Lab) -> None:
    lab.create("a", 0, 1, (2, 2))
    lab.create("b", 1, 2, (3, 3))
    with lab.trial():
        lab.at(0.1)
        lab.at(1.1)
        lab.at(2.1)


def swept(lab: Lab) -> None:
    compute = lab.cloud.compute
    know_a_lease(lab.store)
    with lab.faults.exempt():
        lost = "11111111-2222-4333-8444-555555555555"
        aggregates = {each.name: each.id for each in compute.list_aggregates()}
        freepool, zone = aggregates[FREEPOOL], aggregates["az1"]
        compute.remove_host(zone, "host-1")
        marks = {"blazar:owner": "project", "blazar:came_from:host-1": str(zone)}
        aggregate = compute.create_aggregate(lost, f"blazar_{lost}", marks)
        compute.add_host(aggregate.id, "host-1")
        compute.remove_host(freepool, "host-1")
        compute.remove_host(freepool, "host-2")
        compute.set_aggregate_metadata(
            freepool, {"blazar:closed:host-3": f"{lost} {lab.instant(0).isoformat()}"}
        )
    lab.host_names = ["host-3"]
    lab.plan_chore()
    with lab.trial():
        lab.run_until(0.9)
        lab.host_names = ["host-1", "host-2", "host-3"]
        lab.at(0.91)


def host_comes(lab: Lab) -> None:
    lab.cloud.add_hypervisor("host-4")
    with lab.trial():
        body = {"name": "host-4", "rack": "r1"}
        lab.request(lambda service: service.create_host(LESSEE, body), HostAlreadyRegistered)
        lab.host_names.append("host-4")
        assert "host-4" in lab.provider_names()
        lab.at(0.1)


def host_goes(lab: Lab) -> None:
    lab.cloud.add_hypervisor("host-4")
    host_id = str(lab.manager.service.create_host(LESSEE, {"name": "host-4"})["id"])
    with lab.trial():
        lab.request(lambda service: service.delete_host(LESSEE, host_id), HostNotFound)
        lab.at(0.1)


def representative(play: Callable[[Lab], None], **conditions: Any) -> Scenario:
    return Scenario(play=play, conditions=Conditions(**conditions), is_representative=True)


def further(play: Callable[[Lab], None], **conditions: Any) -> Scenario:
    return Scenario(play=play, conditions=Conditions(**conditions), is_representative=False)


SCENARIOS = (
    representative(starts_and_ends, before_end_lead=timedelta(hours=1)),
    further(starts_now),
    further(two_reservations),
    further(no_reservations),
    representative(back_to_back),
    representative(back_to_back_with_cleaning, cleaning_time=timedelta(minutes=30)),
    further(extended_while_active),
    representative(grown_while_active),
    further(shrunk_while_active),
    representative(ended_now),
    further(ended_in_its_first_minute),
    further(moved_before_its_start),
    representative(moved_when_prepared),
    further(renamed_and_shrunk_before_its_start),
    representative(deleted_before_its_start),
    further(deleted_when_prepared),
    representative(deleted_while_active),
    further(deleted_after_its_end),
    representative(snapshots_before_the_end, before_end_lead=timedelta(hours=1)),
    further(servers_take_their_time, server_deletion_time=timedelta(seconds=3)),
    further(overslept, before_end_lead=timedelta(hours=1)),
    further(overslept_back_to_back),
    further(end_overslept_with_the_next_one_waiting),
    representative(hosts_have_a_zone, zone="az1"),
    representative(swept, zone="az1"),
    representative(host_comes),
    representative(host_goes),
)
"""All scenarios; the representative ones together contain every kind of action."""
