"""Life cycles of leases, as functions of an environment; times are in hours since its beginning.

``env.at`` marks the times at which everything must have settled, even after a single fault.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from reconcile.invariants import check_always
from reconcile.parts import Conditions
from reconcile.reconciler_env import FREEPOOL, LESSEE, ReconcilerEnv
from samples import know_a_lease

from blazar.domain.lease import LeaseStatus
from blazar.plugins.hosts.errors import HostAlreadyRegistered, HostNotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A life cycle and the environment's conditions for it."""

    play: Callable[[ReconcilerEnv], None]
    conditions: Conditions
    is_representative: bool

    def __str__(self) -> str:
        return self.play.__name__


def starts_and_ends(env: ReconcilerEnv) -> None:
    with env.trial():
        env.create("a", 1, 3, (1, 2))
        env.at(0.5)
        env.at(0.99)
        env.at(1.1)
        env.at(3.1)


def starts_now(env: ReconcilerEnv) -> None:
    env.jump(0.005)
    with env.trial():
        env.create("a", "now", 2, (3, 3))
        env.at(0.1)


def two_reservations(env: ReconcilerEnv) -> None:
    env.create("a", 0, 2, (1, 1), (2, 2))
    with env.trial():
        env.at(1.1)
        env.at(2.1)


def no_reservations(env: ReconcilerEnv) -> None:
    with env.trial():
        env.create("a", 1, 2, None)
        env.at(2.1)


def back_to_back(env: ReconcilerEnv) -> None:
    env.create("a", 0, 2, (2, 3))
    env.create("b", 2, 3, (3, 3))
    env.at(1.9)
    with env.trial():
        env.at(2.1)


def back_to_back_with_cleaning(env: ReconcilerEnv) -> None:
    env.create("a", 0, 2, (3, 3))
    env.create("b", 2.5, 3, (3, 3))
    env.at(1.9)
    with env.trial():
        env.at(2.1)
        env.at(2.6)


def extended_while_active(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 2)
    env.at(1.5)
    with env.trial():
        env.update(lease, end=4)
        env.at(2.5)


def grown_while_active(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 2)
    env.at(1.5)
    with env.trial():
        env.resize(lease, 1, 3)
        env.at(1.6)
        assert len(env.hosts_of(lease)) == 3


def shrunk_while_active(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 2, (1, 3))
    env.at(1)
    busy = max(env.hosts_of(lease))
    env.boot(busy)
    with env.trial():
        env.resize(lease, 1, 1)
        env.at(1.1)
        assert env.hosts_of(lease) == {busy}
        env.at(2.1)


def ended_now(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 4, (1, 2))
    env.at(1.5)
    with env.trial():
        env.update(lease, end="now")
        env.at(1.6)
        assert env.lease(lease).status is LeaseStatus.TERMINATED


def ended_in_its_first_minute(env: ReconcilerEnv) -> None:
    env.jump(0.005)
    with env.trial():
        lease = env.create("a", "now", 4, (1, 2))
        env.run_due()
        if env.lease(lease).status.is_stable:
            env.update(lease, end="now")
        env.at(4.1)


def moved_before_its_start(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2)
    with env.trial():
        env.update(lease, start=3, end=4)
        env.at(1.5)
        env.at(3.1)


def moved_when_prepared(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2)
    env.at(0.99)
    with env.trial():
        env.update(lease, start=3, end=4)
        env.at(1.5)


def renamed_and_shrunk_before_its_start(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2, (1, 3))
    with env.trial():
        env.update(lease, name="b")
        env.resize(lease, 1, 1)
        env.at(1.1)
        assert env.may_fail or len(env.hosts_of(lease)) == 1


def deleted_before_its_start(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2)
    with env.trial():
        env.delete(lease)
        env.at(0.1)
        assert env.leases() == ()


def deleted_when_prepared(env: ReconcilerEnv) -> None:
    lease = env.create("a", 1, 2)
    env.at(0.99)
    with env.trial():
        env.delete(lease)
        env.at(1.1)
        assert env.leases() == ()


def deleted_while_active(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 4, (2, 2))
    env.at(1.5)
    for host in env.hosts_of(lease):
        env.boot(host)
    with env.trial():
        env.delete(lease)
        env.at(1.6)
        assert env.leases() == ()


def deleted_after_its_end(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 1)
    env.at(1.1)
    with env.trial():
        env.delete(lease)
        env.at(1.2)
        assert env.leases() == ()


def snapshots_before_the_end(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 4, (2, 2), before_end="snapshot")
    env.at(2.5)
    servers = {env.boot(host).id for host in env.hosts_of(lease)}
    with env.trial():
        env.at(3.1)
        with env.faults.exempt():
            images = env.cloud.images.list_images({})
        taken = sorted(each.properties["blazar_server"] for each in images)
        assert env.may_fail or taken == sorted(servers)
        assert env.may_fail or {each.owner_project_id for each in images} == {"project"}


def servers_take_their_time(env: ReconcilerEnv) -> None:
    lease = env.create("a", 0, 2, (2, 2))
    env.at(1.9)
    for host in env.hosts_of(lease):
        env.boot(host)
    with env.trial():
        env.run_until(2.0003)
        check_always(env)
        env.at(2.1)


def overslept(env: ReconcilerEnv) -> None:
    env.create("a", 1, 2)
    env.jump(3)
    with env.trial():
        env.at(3.1)


def overslept_back_to_back(env: ReconcilerEnv) -> None:
    env.create("a", 1, 2, (3, 3))
    env.create("b", 2, 4, (3, 3))
    env.jump(3)
    with env.trial():
        env.at(3.1)


def end_overslept_with_the_next_one_waiting(env: ReconcilerEnv) -> None:
    first = env.create("a", 0, 2, (3, 3))
    env.create("b", 2, 4, (3, 3))
    env.at(1.5)
    env.boot(next(iter(env.hosts_of(first))))
    env.jump(3)
    with env.trial():
        env.at(3.1)


def hosts_have_a_zone(env: ReconcilerEnv) -> None:
    env.create("a", 0, 1, (2, 2))
    env.create("b", 1, 2, (3, 3))
    with env.trial():
        env.at(0.1)
        env.at(1.1)
        env.at(2.1)


def swept(env: ReconcilerEnv) -> None:
    cloud = env.cloud
    know_a_lease(env.store)
    with env.faults.exempt():
        lost = "11111111-2222-4333-8444-555555555555"
        aggregates = {each.name: each.id for each in cloud.aggregates.list_aggregates()}
        freepool, zone = aggregates[FREEPOOL], aggregates["az1"]
        cloud.aggregates.remove_host(zone, "host-1")
        marks = {"blazar:owner": "project", "blazar:came_from:host-1": str(zone)}
        aggregate = cloud.aggregates.create_aggregate(lost, f"blazar_{lost}", marks)
        cloud.aggregates.add_host(aggregate.id, "host-1")
        cloud.aggregates.remove_host(freepool, "host-1")
        cloud.aggregates.remove_host(freepool, "host-2")
        cloud.aggregates.set_aggregate_metadata(
            freepool, {"blazar:closed:host-3": f"{lost} {env.instant(0).isoformat()}"}
        )
    env.host_names = ["host-3"]
    env.plan_periodic_task()
    with env.trial():
        env.run_until(0.9)
        env.host_names = ["host-1", "host-2", "host-3"]
        env.at(0.91)


def host_comes(env: ReconcilerEnv) -> None:
    env.cloud.add_hypervisor("host-4")
    with env.trial():
        body = {"name": "host-4", "rack": "r1"}
        env.request(lambda service: service.create_host(LESSEE, body), HostAlreadyRegistered)
        env.host_names.append("host-4")
        assert "host-4" in env.provider_names()
        env.at(0.1)


def host_goes(env: ReconcilerEnv) -> None:
    env.cloud.add_hypervisor("host-4")
    host_id = str(env.manager.service.create_host(LESSEE, {"name": "host-4"})["id"])
    with env.trial():
        env.request(lambda service: service.delete_host(LESSEE, host_id), HostNotFound)
        env.at(0.1)


def representative(play: Callable[[ReconcilerEnv], None], **conditions: Any) -> Scenario:
    return Scenario(play=play, conditions=Conditions(**conditions), is_representative=True)


def further(play: Callable[[ReconcilerEnv], None], **conditions: Any) -> Scenario:
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
