"""Floating IPs in an environment, and their expected state once everything has settled."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from samples import stored_spec

from blazar.domain.lease import LeaseStatus, Reservation, ReservationStatus, ResourceId
from blazar.plugins.neutron_tags import reservation_tag, tags_of
from blazar.ports.manager import Caller
from blazar.ports.network import FloatingIP

if TYPE_CHECKING:
    from reconcile.invariants import DatabaseRows, Rows
    from reconcile.simulated_env import SimulatedEnv

TYPE = "virtual:floatingip"
STRANGER = "stranger"
POOLS = (("203.0.113.10", "203.0.113.99"),)


def address(number: int) -> str:
    """Return the registered address with this number, counted from 1."""
    return f"203.0.113.{200 + number}"


def registration(env: SimulatedEnv, number: int) -> Mapping[str, object]:
    """Return the body of a request that registers an address."""
    return {"floating_network_id": subnet_of(env)[0], "floating_ip_address": address(number)}


def register(env: SimulatedEnv) -> None:
    """Register as many floating IPs as the environment's conditions specify, on a new network."""
    if not env.conditions.floatingips:
        return
    with env.faults.exempt():
        network = env.cloud.add_network("public")
        env.cloud.add_subnet(network.id, "203.0.113.0/24", gateway_ip="203.0.113.1", allocation_pools=POOLS)
        for number in range(1, env.conditions.floatingips + 1):
            env.manager.service.create_floatingip(
                Caller(user_id="operator", project_id=None),
                {"floating_network_id": network.id, "floating_ip_address": address(number)},
            )


def subnet_of(env: SimulatedEnv) -> tuple[str, str]:
    """Return the IDs of the network and of its subnet."""
    row = env.rows().floatingips[0]
    return row.network_id, row.subnet_id


def floatingips(env: SimulatedEnv, amount: int, *required: int) -> Mapping[str, Any]:
    """Return a reservation of floating IPs."""
    return {
        "resource_type": TYPE,
        "network_id": subnet_of(env)[0],
        "amount": amount,
        "required_floatingips": [address(each) for each in required],
    }


def existing(env: SimulatedEnv) -> Mapping[str, FloatingIP]:
    """Return the floating IPs in Neutron, by address."""
    with env.faults.exempt():
        return {each.address: each for each in env.cloud.networks.list_floating_ips()}


def put(env: SimulatedEnv, number: int) -> FloatingIP:
    """Create a floating IP that belongs to another project at an address."""
    with env.faults.exempt():
        return env.cloud.networks.create_floating_ip(*subnet_of(env), address(number), STRANGER)


def take_away(env: SimulatedEnv, found: FloatingIP) -> None:
    """Delete a floating IP as its owner would."""
    with env.faults.exempt():
        env.cloud.networks.delete_floating_ip(found.id)


def addresses_of(env: SimulatedEnv, lease_id: str, position: int = 0) -> set[str]:
    """Return the addresses that a reservation has in Neutron, complete with its tags."""
    tags = tags_of(env.lease(lease_id).reservations[position].id)
    return {each.address for each in existing(env).values() if each.tags == tags}


def is_of_floatingips(reservation: Reservation) -> bool:
    """Return whether a reservation holds floating IPs."""
    return reservation.resource_type == TYPE


def check_books(reservation: Reservation, own: Rows) -> None:
    """Check that the reservation holds as many floating IPs as it asked for."""
    assert len(own) == stored_spec(reservation)["amount"]
    assert all(row.slots is None for row in own)


def served(env: SimulatedEnv, rows: DatabaseRows, reservation: Reservation) -> frozenset[ResourceId]:
    """Return the IDs of a reservation's floating IPs that exist in Neutron, whatever their health."""
    tag = reservation_tag(reservation.id)
    found = {each.address for each in existing(env).values() if tag in each.tags}
    return frozenset(ResourceId(row.id) for row in rows.floatingips if row.address in found)


def check_in_cloud(env: SimulatedEnv, rows: DatabaseRows, failed: Collection[str]) -> frozenset[str]:
    """Check that Neutron has exactly the floating IPs of running reservations, with the right tags.

    Floating IPs of other projects are ignored.

    Returns:
        The IDs of the reservations that have floating IPs in Neutron.
    """
    now = env.clock.now()
    addresses = {row.id: row.address for row in rows.floatingips}
    wanted: dict[str, Reservation] = {}
    for lease in rows.leases:
        is_running = lease.start <= now < lease.end and lease.status is not LeaseStatus.TERMINATED
        for each in lease.reservations:
            if is_running and is_of_floatingips(each) and each.status is not ReservationStatus.ERROR:
                there = served(env, rows, each)
                wanted |= {
                    addresses[row.resource_id]: each
                    for row in rows.allocations
                    if row.reservation_id == each.id
                    and row.released_at is None
                    # A failed resource is handed over once it has recovered.
                    and (row.resource_id not in failed or row.resource_id in there)
                }
    own = {key: each for key, each in existing(env).items() if each.project_id != STRANGER}
    assert own.keys() == wanted.keys(), (own.keys(), wanted.keys())
    for key, found in own.items():
        assert (found.tags, found.project_id) == (tags_of(wanted[key].id), "project")
    return frozenset(each.id for each in wanted.values())
