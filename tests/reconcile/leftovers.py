"""Sweeps, and leftovers of lost reservations of slots."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

from reconcile.reconciler_env import FREEPOOL, ReconcilerEnv
from samples import make_lease

from blazar.booking.context import Context
from blazar.domain.lease import ReservationId
from blazar.domain.providers import Inventory
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.instances.plugin import Instances
from blazar.plugins.slots.names import flavor_name, group_name, provider_name, reservation_class
from blazar.ports.compute import Flavor, Lessee
from blazar.reconcile.sweep import Sweepings, sweep

LOST = "abcdef01-2222-4333-8444-555555555555"
OTHER = "99999999-2222-4333-8444-555555555555"
CLASS = reservation_class(LOST)
INTERVAL = timedelta(minutes=10)


def context_of(env: ReconcilerEnv, *, reserves_slots: bool = True) -> Context:
    """Return the manager's context, with or without plugins that reserve slots."""
    context = env.manager.context
    hosts = context.plugins["physical:host"]
    slots = {"virtual:instance": Instances(context.settings.of(HostSettings))} if reserves_slots else {}
    return replace(context, plugins={"physical:host": hosts, **slots})


def sweep_once(env: ReconcilerEnv) -> Sweepings:
    return sweep(context_of(env), "manager")


def sweep_twice(env: ReconcilerEnv) -> Sweepings:
    """Return the result of the second of two sweeps, one interval apart."""
    sweep_once(env)
    env.clock.advance(INTERVAL)
    return sweep_once(env)


def leave_group(env: ReconcilerEnv, name: str = group_name(LOST)) -> str:
    """Create a server group with this name and return its ID."""
    return env.cloud.compute_for(Lessee(project_id="project")).create_server_group(name, "affinity").id


def leave_aggregate(env: ReconcilerEnv, name: str = LOST, **metadata: str) -> None:
    """Create an aggregate with this name and host-1, without an availability zone."""
    aggregate = env.cloud.aggregates.create_aggregate(name, None, metadata)
    env.cloud.aggregates.add_host(aggregate.id, "host-1")


def leave_flavor(
    env: ReconcilerEnv, flavor_id: str = LOST, name: str = flavor_name(LOST), **more: bool
) -> None:
    """Create a flavor with this ID and name, for one slot."""
    specs = {f"resources:{CLASS}": "1", "aggregate_instance_extra_specs:reservation": LOST}
    env.cloud.flavors.create_flavor(
        Flavor(id=flavor_id, name=name, vcpus=1, memory_mb=1, disk_gb=0, extra_specs=specs, **more)
    )


def leave_class(env: ReconcilerEnv, name: str = CLASS, *, host_names: tuple[str, ...] = ("host-1",)) -> None:
    """Create a resource class with this name, and slots of it on these hosts."""
    placement = env.cloud.placement
    placement.create_resource_class(name)
    for host_name in host_names:
        provider = placement.find_provider(provider_name(host_name))
        assert provider is not None
        present = placement.get_inventories(provider.uuid)
        slots = {**present.by_class, name: Inventory(total=2, max_unit=1)}
        placement.put_inventories(provider.uuid, replace(present, by_class=slots))


def leave_all(env: ReconcilerEnv) -> str:
    """Create all cloud objects of a reservation that is not in the database; return its server group's ID."""
    leave_class(env, host_names=("host-1", "host-2"))
    leave_aggregate(env, reservation=LOST)
    leave_flavor(env)
    env.cloud.flavors.add_flavor_access(LOST, "project")
    return leave_group(env)


def store_reservation(env: ReconcilerEnv, *, is_deployed: bool) -> None:
    """Store the reservation in the database."""
    lease = make_lease("lease")
    (reservation,) = lease.reservations
    known = replace(reservation, id=ReservationId(LOST), is_deployed=is_deployed)
    with env.store.begin() as transaction:
        transaction.leases.insert(replace(lease, reservations=(known,)))
        transaction.commit()


def left(env: ReconcilerEnv) -> set[str]:
    """Return the keys of all cloud objects that may be leftovers of slots."""
    cloud = env.cloud
    return {
        *(f"class:{each}" for each in env.cloud.placement.list_resource_classes() if "CUSTOM" in each),
        *(f"aggregate:{each.name}" for each in cloud.aggregates.list_aggregates() if each.name != FREEPOOL),
        *(f"flavor:{each.id}" for each in cloud.flavors.list_flavors()),
        *(f"group:{each.id}" for each in cloud.server_groups.list_server_groups()),
    }


def classes_on(env: ReconcilerEnv, host_name: str) -> set[str]:
    placement = env.cloud.placement
    provider = placement.find_provider(provider_name(host_name))
    assert provider is not None
    return set(placement.get_inventories(provider.uuid).by_class)


def calls_of(env: ReconcilerEnv, context: Context) -> Counter[str]:
    """Return the cloud calls of one sweep."""
    before = env.cloud.calls
    sweep(context, "manager")
    return env.cloud.calls - before
