"""The expected state of storage pools and networks once everything has settled.

Environments of one process do not reserve them; installations do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from samples import stored_spec

from blazar.domain.lease import Lease, LeaseStatus, Reservation, ReservationStatus
from blazar.plugins.neutron_tags import MARK, named_reservations
from blazar.plugins.volumes.names import reservation_of

if TYPE_CHECKING:
    from reconcile.invariants import DatabaseRows, Rows
    from reconcile.simulated_env import SimulatedEnv

NETWORKS, VOLUMES, POOLS = "network", "virtual:volume", "physical:storage"


def is_of_storage_or_networks(reservation: Reservation) -> bool:
    """Return whether a reservation holds storage or networks."""
    return reservation.resource_type in (NETWORKS, VOLUMES, POOLS)


def check_books(reservation: Reservation, own: Rows) -> None:
    """Check that the reservation holds as much as it asked for."""
    spec = stored_spec(reservation)
    match reservation.resource_type:
        case "network":
            assert len(own) == spec["amount"]
        case "virtual:volume":
            assert sum(row.slots for row in own) == spec["amount"]
        case "physical:storage":
            assert spec["min"] <= len(own) <= spec["max"]


def check_in_cloud(env: SimulatedEnv, rows: DatabaseRows) -> frozenset[str]:
    """Check that each running reservation has its networks or volume types, and no other one has any.

    Returns:
        The IDs of the running reservations.
    """
    with env.faults.exempt():
        types = env.cloud.block_storage.list_types()
        access = {each.id: env.cloud.block_storage.list_type_access(each.id) for each in types}
        networks = env.cloud.segments.list_networks()
    running = {each.id: each for lease, each in _living(rows.leases) if lease.start <= env.clock.now()}
    amounts = Counter(row.reservation_id for row in rows.allocations if row.released_at is None)
    wanted = Counter[str]({key: amounts[key] for key in running})
    found = Counter[str](owner for each in types if (owner := reservation_of(each)) and access[each.id])
    for each in networks:
        found.update(named_reservations(each.tags) if MARK in each.tags else ())
    assert found == wanted, (found - wanted, wanted - found)
    known = {each.id for _, each in _living(rows.leases)}
    made = {owner for each in types if (owner := reservation_of(each))}
    assert made <= known, made - known
    return frozenset(running)


def _living(leases: Iterable[Lease]) -> Iterator[tuple[Lease, Reservation]]:
    for lease in leases:
        if lease.status is not LeaseStatus.TERMINATED:
            for each in lease.reservations:
                if is_of_storage_or_networks(each) and each.status is not ReservationStatus.ERROR:
                    yield lease, each
