"""Hosts that fail and recover in an environment, and the expected effect on leases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reconcile.floatingips import is_of_floatingips, served

from blazar.booking.health import record_health
from blazar.cloud.simulated.faults import SimulatedCrash
from blazar.domain.errors import ConcurrentUpdate, Unavailable
from blazar.domain.health import HEALTHY, Diagnosis, Health
from blazar.domain.lease import LeaseStatus, ReservationStatus, ResourceId

if TYPE_CHECKING:
    from reconcile.invariants import DatabaseRows
    from reconcile.simulated_env import SimulatedEnv

FAILED = Diagnosis(health=Health.FAILED, problem="its compute service is down")
DISABLED = Diagnosis(health=Health.DISABLED, problem="maintenance")
_LIVING = (ReservationStatus.PENDING, ReservationStatus.ACTIVE)
_OVER = (LeaseStatus.TERMINATING, LeaseStatus.TERMINATED, LeaseStatus.DELETING)


def fail(env: SimulatedEnv, *host_names: str) -> None:
    """Record that hosts have failed."""
    for each in host_names:
        diagnose(env, each, FAILED)


def recover(env: SimulatedEnv, *host_names: str) -> None:
    """Record that hosts are healthy again."""
    for each in host_names:
        diagnose(env, each, HEALTHY)


def diagnose(env: SimulatedEnv, host_name: str, after: Diagnosis) -> None:
    """Record a host's health as the host monitor does, with up to five attempts."""
    host_id = next(ResourceId(row.id) for row in env.rows().hosts if row.service_name == host_name)
    for _ in range(5):
        before = _diagnoses(env)[host_id]
        if before == after:
            return
        try:
            record_health(env.manager.context, "monitor", host_id, host_name, after)
        except SimulatedCrash:
            env.kill()
        except (Unavailable, ConcurrentUpdate):
            continue
    raise AssertionError("the health could not be stored")


def flags(env: SimulatedEnv, lease_id: str) -> Mapping[str, bool]:
    """Return the flags of a lease and of its first reservation, as clients see them."""
    lease = env.lease(lease_id)
    return {
        "degraded": lease.is_degraded,
        "missing_resources": lease.reservations[0].missing_resources,
        "resources_changed": lease.reservations[0].resources_changed,
    }


def promised_hosts(env: SimulatedEnv, lease_id: str, position: int = 0) -> frozenset[str]:
    """Return the names of the hosts that are allocated to one of a lease's reservations."""
    rows = env.rows()
    names = {row.id: row.service_name for row in rows.hosts}
    reservation_id = env.lease(lease_id).reservations[position].id
    return frozenset(
        names[row.resource_id]
        for row in rows.allocations
        if row.reservation_id == reservation_id and row.released_at is None
    )


def failed_resources(rows: DatabaseRows) -> frozenset[str]:
    """Return the IDs of the resources that have failed."""
    return frozenset(row.id for row in rows.resources if row.health == Health.FAILED.value)


def check_healing(env: SimulatedEnv, rows: DatabaseRows) -> None:
    """Check that flags are right: a lease that starts soon holds failed resources only if it is flagged."""
    failed = failed_resources(rows)
    held = {(row.reservation_id, row.resource_id) for row in rows.allocations if row.released_at is None}
    horizon = env.clock.now() + env.conditions.settings.healing.interval
    for lease in rows.leases:
        for each in lease.reservations:
            # An existing floating IP still serves its lessee, whatever the address's health.
            still_served = served(env, rows, each) if is_of_floatingips(each) else frozenset()
            misses = any((each.id, key) in held for key in failed - still_served)
            if lease.status in _OVER or each.status not in _LIVING:
                assert not each.missing_resources
                assert not each.lost_resources
                continue
            assert each.lost_resources <= failed, "a resource is back"
            if lease.start <= horizon:
                assert each.missing_resources is misses, (lease.id, misses)
            else:
                assert misses or not each.missing_resources, "a flag is left over"


def _diagnoses(env: SimulatedEnv) -> Mapping[ResourceId, Diagnosis]:
    return {
        ResourceId(row.id): Diagnosis(health=Health(row.health), problem=row.problem or "")
        for row in env.rows().resources
    }
