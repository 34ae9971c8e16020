"""Exact state of the cloud for reservations of slots, once everything has settled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from reconcile.healing import failed_resources
from samples import stored_spec

from blazar.domain.lease import Lease, LeaseStatus, Reservation, ReservationId, ReservationStatus
from blazar.plugins.slots.names import flavor_name, group_name, provider_name, reservation_class

if TYPE_CHECKING:
    from reconcile.invariants import DatabaseRows
    from reconcile.simulated_env import SimulatedEnv


def is_of_slots(reservation: Reservation) -> bool:
    """Return whether a reservation holds slots instead of whole hosts."""
    return reservation.resource_type in ("virtual:instance", "flavor:instance")


def check_slots_in_cloud(env: SimulatedEnv, rows: DatabaseRows, prepared: Collection[str]) -> frozenset[str]:
    """Check all cloud objects of reservations of slots, except their aggregates.

    Args:
        env: The environment.
        rows: The rows of the database.
        prepared: IDs of reservations of any type whose aggregates exist.

    Returns:
        The IDs of the reservations that have a server group.
    """
    with env.faults.exempt():
        wanted = {each.id: each for _, each in _living(rows) if each.id in prepared}
        running = {each.id for lease, each in _living(rows) if env.clock.now() >= lease.start} & wanted.keys()
        _check_flavors(env, wanted, running)
        _check_classes(env, rows, wanted.keys(), running)
        _check_servers(env, rows, running)
        return _check_groups(env, rows)


def _living(rows: DatabaseRows) -> Iterator[tuple[Lease, Reservation]]:
    for lease in rows.leases:
        for each in lease.reservations:
            if is_of_slots(each) and lease.status is not LeaseStatus.TERMINATED:
                yield lease, each


def _check_flavors(
    env: SimulatedEnv, wanted: Mapping[ReservationId, Reservation], running: Collection[str]
) -> None:
    cloud = env.cloud
    found = {each.id: each for each in cloud.flavors.list_flavors() if each.name == flavor_name(each.id)}
    assert found.keys() == wanted.keys(), (found, wanted)
    for key, flavor in ((ReservationId(each), flavor) for each, flavor in found.items()):
        sizes = {"vcpus": flavor.vcpus, "memory_mb": flavor.memory_mb, "disk_gb": flavor.disk_gb}
        assert sizes == {each: stored_spec(wanted[key])[each] for each in sizes}
        assert flavor.extra_specs[f"resources:{reservation_class(key)}"] == "1"
        assert flavor.extra_specs["aggregate_instance_extra_specs:reservation"] == key
        assert flavor.extra_specs.get("affinity_id") == stored_spec(wanted[key])["server_group_id"]
        assert cloud.flavors.list_flavor_access(key) == (
            frozenset({"project"}) if key in running else frozenset()
        )


def _check_classes(
    env: SimulatedEnv, rows: DatabaseRows, wanted: Collection[str], running: Collection[str]
) -> None:
    placement = env.cloud.placement
    classes = {each for each in placement.list_resource_classes() if each.startswith("CUSTOM_RESERVATION_")}
    assert classes == {reservation_class(each) for each in wanted}
    booked: dict[str, dict[str, int]] = defaultdict(dict)
    names = {row.id: row.hypervisor_hostname for row in rows.hosts}
    failed = {names[each] for each in failed_resources(rows)}
    for row in rows.allocations:
        if row.reservation_id in running and row.released_at is None:
            booked[names[row.resource_id]][reservation_class(row.reservation_id)] = row.slots
    for name in names.values():
        provider = placement.find_provider(provider_name(name))
        inventories = placement.get_inventories(provider.uuid).by_class if provider else {}
        if name in failed:
            # A failed resource is handed over once it has recovered.
            booked[name] = {key: slots for key, slots in booked[name].items() if key in inventories}
        assert {key: each.total for key, each in inventories.items()} == booked[name]
        assert {each.max_unit for each in inventories.values()} <= {1}


def _check_servers(env: SimulatedEnv, rows: DatabaseRows, running: Collection[str]) -> None:
    known = {each.id for lease in rows.leases for each in lease.reservations if is_of_slots(each)}
    for each in known - set(running):
        assert env.cloud.servers.list_servers(flavor_id=each) == ()


def _check_groups(env: SimulatedEnv, rows: DatabaseRows) -> frozenset[str]:
    found = {each.id: each for each in env.cloud.server_groups.list_server_groups()}
    wanted: dict[str, Reservation] = {}
    for _, each in _living(rows):
        group_id = stored_spec(each)["server_group_id"]
        if each.status is not ReservationStatus.ERROR:
            assert (group_id is not None) == (stored_spec(each)["affinity"] is not None)
            wanted |= {str(group_id): each} if group_id else {}
    # Objects that an interrupted request has created are left to the sweep.
    is_exact = not env.faults.fired and not env.store.has_struck
    assert found.keys() == wanted.keys() if is_exact else found.keys() >= wanted.keys(), (found, wanted)
    for key, each in wanted.items():
        policy = "affinity" if stored_spec(each)["affinity"] else "anti-affinity"
        assert (found[key].name, found[key].policy) == (group_name(each.id), policy)
    return frozenset(each.id for each in wanted.values())
