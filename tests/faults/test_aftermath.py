"""The checks of the aftermath find the problems that they are made for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from clocks import EPOCH, ManualClock
from databases import make_database
from faults.aftermath import Aftermath, check_promises
from faults.lessees import Promise
from samples import make_host, make_lease

from blazar.cloud.simulated import SimulatedCloud
from blazar.cloud.simulated.furnishing import PHYSICAL_NETWORK, furnish
from blazar.db import tables
from blazar.db.store import SqlStore
from blazar.domain.lease import LeaseId
from blazar.domain.providers import Inventory
from blazar.plugins.hosts.store import HOST_STORE
from blazar.plugins.neutron_tags import tags_of
from blazar.plugins.volumes.names import extra_specs, type_name
from blazar.ports.compute import Flavor
from blazar.ports.placement import Inventories
from blazar.ports.segments import Segment
from rig.cloud import CloudControl, ServedCloud


@dataclass
class Listener:
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)


@dataclass
class AftermathEnv:
    cloud: SimulatedCloud
    store: SqlStore
    engine: sa.Engine
    aftermath: Aftermath


@pytest.fixture
def env(tmp_path: Path) -> Iterator[AftermathEnv]:
    """Return an environment that has settled."""
    cloud = SimulatedCloud(ManualClock())
    furnish(cloud, hosts=2)
    for number in (1, 2):
        cloud.aggregates.add_host(1, f"host-{number}")
    with (
        make_database("sqlite", tmp_path) as engine,
        ServedCloud(cloud) as served,
        closing(CloudControl(served.url)) as control,
    ):
        store = SqlStore(engine, ManualClock(), {})
        with store.begin() as transaction:
            for each in cloud.hypervisors.list_hypervisors():
                name = each.hypervisor_hostname
                transaction.of(HOST_STORE).insert(
                    make_host(each.id, hypervisor_hostname=name, service_name=each.service_host)
                )
            transaction.commit()
        yield AftermathEnv(cloud, store, engine, Aftermath(engine, control, Listener()))


def leave_an_aggregate(env: AftermathEnv) -> None:
    env.cloud.aggregates.create_aggregate("reservation", "blazar_reservation", {"blazar:owner": "project"})


def leave_a_class(env: AftermathEnv) -> None:
    env.cloud.placement.create_resource_class("CUSTOM_RESERVATION_1")


def leave_an_inventory(env: AftermathEnv) -> None:
    placement = env.cloud.placement
    (hypervisor, _) = env.cloud.hypervisors.list_hypervisors()
    provider = placement.create_provider(f"blazar_{hypervisor.hypervisor_hostname}", None)
    left = {"VCPU": Inventory(total=1, max_unit=1)}
    placement.put_inventories(provider.uuid, Inventories(generation=provider.generation, by_class=left))


def leave_a_flavor(env: AftermathEnv) -> None:
    flavor = Flavor(id="left", name="reservation:left", vcpus=1, memory_mb=1, disk_gb=1)
    env.cloud.flavors.create_flavor(flavor)


def leave_a_volume_type(env: AftermathEnv) -> None:
    marks = extra_specs("left", "1", "fast", "ssd")
    env.cloud.block_storage.create_type(type_name("left", "1"), "", marks)


def leave_a_network(env: AftermathEnv) -> None:
    segment = Segment(network_type="vlan", physical_network=PHYSICAL_NETWORK, segment_id=201)
    made = env.cloud.segments.create_network(segment, name="left", project_id="project")
    env.cloud.segments.set_network_tags(made.id, tags_of("left"))


def lose_a_host(env: AftermathEnv) -> None:
    env.cloud.aggregates.remove_host(1, "host-1")


def have_a_lease_that_never_started(env: AftermathEnv) -> None:
    with env.store.begin() as transaction:
        transaction.leases.insert(make_lease())
        transaction.commit()


def have_something_unsaid(env: AftermathEnv) -> None:
    entry = {"lease_id": "1", "event": "create", "reason": "", "actor": "manager", "at": EPOCH}
    with env.engine.begin() as connection:
        connection.execute(sa.insert(tables.journal).values(**entry))


def have_overdue_work(env: AftermathEnv) -> None:
    row = {"key": "sweep", "due_at": EPOCH - timedelta(days=9999), "claim_number": 0, "attempts": 0}
    with env.engine.begin() as connection:
        connection.execute(sa.insert(tables.work).values(**row))


def test_what_is_as_it_must_be_passes(env: AftermathEnv) -> None:
    env.aftermath.check()


@pytest.mark.parametrize(
    "plant",
    [
        leave_an_aggregate,
        leave_a_class,
        leave_an_inventory,
        leave_a_flavor,
        leave_a_volume_type,
        leave_a_network,
        lose_a_host,
        have_a_lease_that_never_started,
        have_something_unsaid,
        have_overdue_work,
    ],
)
def test_what_must_not_be_is_found(env: AftermathEnv, plant: Callable[[AftermathEnv], None]) -> None:
    plant(env)

    with pytest.raises(AssertionError):
        env.aftermath.check()


def promise(lease_id: str, name: str) -> Promise:
    return Promise(
        lease_id=LeaseId(lease_id),
        name=name,
        reservation_id="1",
        resource_type="physical:host",
        start=EPOCH,
        end=EPOCH,
    )


def test_a_promise_that_was_not_kept_is_found(env: AftermathEnv) -> None:
    lost = promise("lost", "name")

    with pytest.raises(AssertionError, match="lost"):
        env.aftermath.check([lost])


def test_a_lease_that_was_created_twice_is_found(env: AftermathEnv) -> None:
    second = make_lease("second")
    with env.store.begin() as transaction:
        transaction.leases.insert(second)
        transaction.commit()
    deleted = replace(promise("first", second.name), is_deleted=True)

    env.aftermath.look()

    with pytest.raises(AssertionError, match="created twice"):
        check_promises(env.aftermath, [deleted])
