"""The simulated cloud as the existing service leaves it, with the database rows that match it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import old_schema
from clocks import EPOCH, ManualClock
from installation import (
    NETWORK,
    Asked,
    OldInstallation,
    flavor_json,
    flavors,
    floatingips,
    hosts,
    id_of,
    instances,
)

from blazar.booking.context import Context
from blazar.cloud.simulated import SimulatedCloud
from blazar.db.old_service.reader import SqlOldService
from blazar.domain.lease import Lease, LeaseStatus
from blazar.domain.providers import Inventory
from blazar.importer.importing import Result, import_database
from blazar.manager.service import ManagerService
from blazar.plugins.slots.names import flavor_name, group_name, provider_name, reservation_class
from blazar.ports.compute import Aggregate, Flavor, Lessee
from blazar.ports.network import FloatingIP
from blazar.reconcile.loop import Reconciler
from blazar.reconcile.outbox import OutboxSender
from blazar.reconcile.sweep import find_leftovers

PROJECT = "astronomy"
FREEPOOL = "freepool"
HOUR = timedelta(hours=1)
ADDRESSES = ("203.0.113.201", "203.0.113.202", "203.0.113.203")
_BUSY = 200


class Deaf:
    """A notifier that discards notifications."""

    def notify(self, event_type: str, payload: Mapping[str, object]) -> None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudObjects:
    """The objects in the cloud."""

    aggregates: frozenset[tuple[str, str | None, frozenset[str], frozenset[tuple[str, str]]]]
    flavors: frozenset[tuple[str, frozenset[str], frozenset[tuple[str, str]]]]
    groups: frozenset[str]
    slots: frozenset[tuple[str, str, int]]
    floatingips: frozenset[tuple[str, str, frozenset[str]]]
    servers: frozenset[str]


@dataclass(slots=True)
class OldCloud:
    """An old installation with its cloud; after :meth:`import_database`, the new service on that cloud."""

    cloud: SimulatedCloud
    clock: ManualClock
    there: OldInstallation
    context: Context
    write: Any
    host_names: list[str] = field(default_factory=list)
    network_id: str = ""
    freepool: Aggregate = field(init=False)

    def __post_init__(self) -> None:
        self.freepool = self.cloud.add_aggregate(FREEPOOL)
        for number in (1, 2, 3, 4):
            self._add_host(f"node-{number}")
        network = self.cloud.add_network("public")
        subnet = self.cloud.add_subnet(
            network.id,
            "203.0.113.0/24",
            gateway_ip="203.0.113.1",
            allocation_pools=(("203.0.113.10", "203.0.113.99"),),
        )
        self.network_id = network.id
        for number, address in enumerate(ADDRESSES):
            self.there.floatingip(number, address, subnet=subnet.id)
        for rows in self.there.rows.values():
            for row in rows:
                if row.get("floating_network_id") == NETWORK:
                    row["floating_network_id"] = network.id

    def _add_host(self, name: str) -> None:
        made = self.cloud.add_hypervisor(name)
        root = self.cloud.placement.find_provider(name)
        assert root is not None
        self.cloud.placement.create_provider(provider_name(name), root.uuid)
        self.cloud.aggregates.add_host(self.freepool.id, name)
        sizes: dict[str, Any] = {"vcpus": made.vcpus, "memory_mb": made.memory_mb, "local_gb": made.local_gb}
        self.there.host(int(made.id), hypervisor_hostname=name, service_name=name, **sizes)
        for row in self.there.rows[old_schema.inventories]:
            if row["computehost_id"] == made.id:
                row["total"] = {
                    "VCPU": made.vcpus,
                    "MEMORY_MB": made.memory_mb,
                    "DISK_GB": made.local_gb,
                }[row["resource_class"]]
        self.host_names.append(name)

    def host_id(self, name: str) -> str:
        return next(
            each.id for each in self.cloud.hypervisors.list_hypervisors() if each.hypervisor_hostname == name
        )

    # Actions of the existing service.

    def lease(self, name: str, start: float, end: float, asked: Asked, status: str, **options: Any) -> str:
        """Add a lease in the old installation and return its reservation's id; times in hours from now."""
        now = self.there.now
        window = now + start * HOUR, now + end * HOUR
        self.there.lease(name, *window, asked, status=status, project_id=PROJECT, **options)
        return id_of(f"reservation 0 of {name}")

    def asked(self, kind: str, name: str) -> Asked:
        """Return a reservation of a kind; create the objects in the cloud that it refers to."""
        first = self.host_id(self.host_names[0])
        match kind:
            case "hosts":
                return hosts(first)
            case "instances":
                group = self.cloud.compute_for(Lessee(project_id=PROJECT)).create_server_group(
                    group_name(id_of(f"reservation 0 of {name}")), "affinity"
                )
                return instances(first, first, affinity=True, server_group_id=group.id)
            case "flavors":
                text = flavor_json(extra_specs={"hw:cpu_cores": "1"})
                return flavors(first, first, resource_properties=text)
        return floatingips(id_of("floating IP 0"), network_id=self.network_id)

    def create(self, kind: str, reservation_id: str, asked: Asked) -> None:
        """Create the objects that exist from the creation of a lease."""
        cloud = self.cloud
        if kind == "floatingips":
            return
        if kind == "hosts":
            zone = f"blazar_{reservation_id}"
            cloud.aggregates.create_aggregate(reservation_id, zone, {"blazar:owner": PROJECT})
            return
        group = asked.details.get("server_group_id")
        grouped = {"affinity_id": group} if group else {}
        own = {"hw:cpu_cores": "1"} if kind == "flavors" else {}
        cloud.flavors.create_flavor(
            Flavor(
                id=reservation_id,
                name=flavor_name(reservation_id),
                vcpus=asked.details["vcpus"],
                memory_mb=asked.details["memory_mb"],
                disk_gb=asked.details["disk_gb"],
                extra_specs={
                    **own,
                    **grouped,
                    "aggregate_instance_extra_specs:reservation": reservation_id,
                    f"resources:{reservation_class(reservation_id)}": "1",
                },
            )
        )
        metadata = {"reservation": reservation_id, "filter_tenant_id": PROJECT, "blazar:owner": PROJECT}
        cloud.aggregates.create_aggregate(reservation_id, None, {**metadata, **grouped})
        self.cloud.placement.create_resource_class(reservation_class(reservation_id))

    def start(self, kind: str, reservation_id: str) -> None:
        """Hand over the first host, two instances on it, or the first address."""
        cloud, name = self.cloud, self.host_names[0]
        if kind == "floatingips":
            subnet = self.cloud.networks.list_subnets(self.network_id)[0]
            made = self.cloud.networks.create_floating_ip(self.network_id, subnet.id, ADDRESSES[0], PROJECT)
            tags = frozenset({"blazar", f"reservation:{reservation_id}"})
            self.cloud.networks.set_floating_ip_tags(made.id, tags)
            return
        own = next(each for each in cloud.aggregates.list_aggregates() if each.name == reservation_id)
        if kind == "hosts":
            cloud.aggregates.remove_host(self.freepool.id, name)
            cloud.aggregates.add_host(own.id, name)
            return
        cloud.flavors.add_flavor_access(reservation_id, PROJECT)
        cloud.aggregates.add_host(own.id, name)
        provider = self.cloud.placement.find_provider(provider_name(name))
        assert provider is not None
        present = self.cloud.placement.get_inventories(provider.uuid)
        slots = {**present.by_class, reservation_class(reservation_id): Inventory(total=2, max_unit=1)}
        self.cloud.placement.put_inventories(provider.uuid, replace(present, by_class=slots))

    def boot(self, kind: str, reservation_id: str) -> str:
        """Boot a server of the lessee in the reservation and return its id."""
        if kind == "hosts":
            return self.cloud.boot_server("used", PROJECT, reservation_id=reservation_id).id
        return self.cloud.boot_server("used", PROJECT, flavor_id=reservation_id).id

    # The import, and operation after it.

    def import_database(self) -> Result:
        """Import the old installation."""
        service: SqlOldService = self.write(self.there)
        return import_database(self.context, service, "operator")

    def run_until(self, hours: float) -> None:
        """Run a manager until a number of hours after the import."""
        sender = OutboxSender(self.context.store, self.clock, Deaf(), {})
        reconciler = Reconciler(self.context, "manager", sender, threading.Event())
        end = EPOCH + hours * HOUR
        assert reconciler.run_due(_BUSY) < _BUSY
        while (due := self._next_due()) is not None and due <= end:
            self.clock.set(max(due, self.clock.now()))
            assert reconciler.run_due(_BUSY) < _BUSY
        self.clock.set(end)

    def _next_due(self) -> datetime | None:
        with self.context.store.read() as transaction:
            return transaction.work.next_due(self.clock.now())

    @property
    def service(self) -> ManagerService:
        return ManagerService(self.context)

    def found(self, name: str) -> Lease | None:
        with self.context.store.read() as transaction:
            return transaction.leases.find(id_of(name))

    def status(self, name: str) -> LeaseStatus:
        lease = self.found(name)
        assert lease is not None
        return lease.status

    def objects(self) -> CloudObjects:
        """Return the objects that are in the cloud now."""
        cloud, placement = self.cloud, self.cloud.placement
        slots = set()
        for name in self.host_names:
            provider = placement.find_provider(provider_name(name))
            assert provider is not None
            inventories = placement.get_inventories(provider.uuid).by_class
            slots |= {(name, key, each.total) for key, each in inventories.items()}
        return CloudObjects(
            aggregates=frozenset(
                (each.name, each.availability_zone, each.hosts, frozenset(each.metadata.items()))
                for each in cloud.aggregates.list_aggregates()
            ),
            flavors=frozenset(
                (each.id, cloud.flavors.list_flavor_access(each.id), frozenset(each.extra_specs.items()))
                for each in cloud.flavors.list_flavors()
                if not each.is_public
            ),
            groups=frozenset(each.id for each in cloud.server_groups.list_server_groups()),
            slots=frozenset(slots),
            floatingips=frozenset((each.address, each.project_id, each.tags) for each in self._floatingips()),
            servers=frozenset(each.id for each in cloud.servers.list_servers()),
        )

    def _floatingips(self) -> Sequence[FloatingIP]:
        return self.cloud.networks.list_floating_ips()

    def check_nothing_left(self) -> None:
        """Assert that all hosts are in the freepool and no objects of reservations are in the cloud."""
        freepool = FREEPOOL, None, frozenset(self.host_names), frozenset[tuple[str, str]]()
        assert self.objects() == CloudObjects(
            aggregates=frozenset({freepool}),
            flavors=frozenset(),
            groups=frozenset(),
            slots=frozenset(),
            floatingips=frozenset(),
            servers=frozenset(),
        )
        assert not [each for each in self.cloud.placement.list_resource_classes() if "CUSTOM" in each]
        assert find_leftovers(self.context) == ()
