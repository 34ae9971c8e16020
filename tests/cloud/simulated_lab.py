"""The simulated cloud as a lab for the contract suite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from clocks import ManualClock
from cloud.contract.lab import LabHost, LabNetwork

from blazar.cloud.simulated import SimulatedCloud
from blazar.ports.compute import Lessee
from blazar.ports.identity import Trust
from blazar.ports.placement import Provider
from blazar.ports.segments import Route

if TYPE_CHECKING:
    from cloud.contract.lab import LabFactory

DELETION_TIME = timedelta(seconds=10)
DETACHMENT_TIME = timedelta(seconds=1)


class SimulatedStorage:
    """Two pools of 10 GiB."""

    def __init__(self, cloud: SimulatedCloud, clock: ManualClock) -> None:
        self._cloud = cloud
        self._clock = clock
        cloud.servers.detachment_time = DETACHMENT_TIME
        first = cloud.add_storage_pool("block@fast#ssd", 10, capabilities={"media": "ssd"})
        second = cloud.add_storage_pool("block@slow#disk", 10)
        ordinary = cloud.add_storage_pool("block@any#shared", None)
        self.pools = (first.name, second.name)
        specs = {"volume_backend_name": ordinary.backend_name}
        self.ordinary_type_id = cloud.add_volume_type("ordinary", specs).id

    def create_volume(self, project_id: str, size: int, type_name: str) -> str:
        return self._cloud.create_volume(project_id, size, type_name).id

    def snapshot(self, volume_id: str) -> None:
        self._cloud.snapshot_volume(volume_id)

    def begin_transfer(self, volume_id: str) -> str:
        return self._cloud.begin_transfer(volume_id)

    def reserve(self, volume_id: str, *, server_id: str | None) -> None:
        self._cloud.set_volume_status(volume_id, "attaching" if server_id is None else "reserved")

    def group(self, name: str, type_ids: frozenset[str], volume_ids: tuple[str, ...]) -> str:
        return self._cloud.group_volumes(name, type_ids, volume_ids).id

    def snapshot_group(self, group_id: str) -> str:
        return self._cloud.snapshot_group(group_id)

    def wait_until_group_snapshot_is_gone(self, group_snapshot_id: str) -> None:
        left = {each.id for each in self._cloud.block_storage.list_group_snapshots()}
        assert group_snapshot_id not in left

    def attach(self, volume_id: str, server_id: str | None) -> str:
        return self._cloud.attach_volume(volume_id, server_id).id

    def boot_from(self, volume_id: str) -> str:
        server = self._cloud.boot_server("from-volume", "project-one", flavor_id="plain")
        self._cloud.attach_volume(volume_id, server.id, is_root=True)
        return server.id

    def suspend(self, server_id: str) -> None:
        self._cloud.suspend_server(server_id)

    def wait_until_active(self, server_id: str) -> None:
        assert not self._cloud.is_suspended(server_id)

    def wait_until_gone(self, type_id: str) -> None:
        assert self._cloud.block_storage.list_volumes(type_id) == ()

    def wait_until_reported(self) -> None:
        """Do nothing: the simulated back ends report at once."""

    def wait_until_group_is_available(self, group_id: str) -> None:
        """Do nothing: a simulated volume joins or leaves a group at once."""

    def wait_until_group_is_gone(self, group_id: str) -> None:
        assert group_id not in {each.id for each in self._cloud.block_storage.list_groups()}

    def serve(self, project_id: str) -> None:
        self._cloud.serve_project(project_id)

    def wait_until_available(self, volume_id: str) -> None:
        self._clock.advance(DETACHMENT_TIME)
        found = self._cloud.find_volume(volume_id)
        assert found is not None
        assert found.status == "available"


class SimulatedSegments:
    """One physical network, of which Neutron chooses the VLANs from 100 to 110 for everybody."""

    physical_network = "physnet1"
    free_ids = (201, 202)
    shared_range = (100, 110)

    def __init__(self, cloud: SimulatedCloud) -> None:
        self._cloud = cloud
        cloud.add_physical_network(self.physical_network)
        cloud.add_segment_range("vlan", self.physical_network, *self.shared_range)

    def limit_networks(self, project_id: str) -> None:
        self._cloud.set_network_quota(project_id, 0)

    def add_subnet(self, network_id: str, cidr: str) -> str:
        return self._cloud.add_subnet(network_id, cidr).id

    def add_port(self, network_id: str, project_id: str, *, server_id: str = "") -> str:
        owner = "compute:nova" if server_id else ""
        return self._cloud.add_port(network_id, project_id, device_id=server_id, device_owner=owner).id

    def add_trunk(self, port_id: str, subport_ids: frozenset[str]) -> str:
        return self._cloud.add_trunk(port_id, subport_ids).id

    def disable_trunk(self, trunk_id: str) -> None:
        self._cloud.disable_trunk(trunk_id)

    def add_router(self, network_id: str, destination: str, nexthop: str) -> str:
        route = Route(destination=destination, nexthop=nexthop)
        return self._cloud.add_router(network_id, "project-one", (route,))


class SimulatedLab:
    """Two hosts and an external network; time passes only during a wait for a deletion."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.cloud = SimulatedCloud(self.clock, server_deletion_time=DELETION_TIME)
        self.project_ids = ("project-one", "project-two")
        for project_id, suffix in zip(self.project_ids, ("one", "two"), strict=True):
            self.cloud.add_project(project_id, self.name(suffix))
        self.lessee = Lessee(project_id=self.project_ids[0])
        self.hosts = tuple(self._host(number) for number in (1, 10))
        self.similar_names = (self.hosts[0].hypervisor_hostname, self.hosts[1].hypervisor_hostname)
        self.network = self._network()
        self.segments = SimulatedSegments(self.cloud)
        self.storage = SimulatedStorage(self.cloud, self.clock)

    def _host(self, number: int) -> LabHost:
        made = self.cloud.add_hypervisor(f"hypervisor-{number}", service_host=f"node-{number}")
        return LabHost(hypervisor_hostname=made.hypervisor_hostname, service_host=made.service_host)

    def _network(self) -> LabNetwork:
        network = self.cloud.add_network("public")
        subnet = self.cloud.add_subnet(
            network.id,
            "203.0.113.0/24",
            gateway_ip="203.0.113.1",
            allocation_pools=(("203.0.113.10", "203.0.113.99"),),
        )
        return LabNetwork(
            network_id=network.id,
            subnet_id=subnet.id,
            free_addresses=("203.0.113.200", "203.0.113.201", "203.0.113.202"),
            outside_address="198.51.100.7",
        )

    def name(self, suffix: str) -> str:
        return f"lab-{suffix}"

    def boot_server(self, name: str, *, service_host: str | None = None, flavor_id: str | None = None) -> str:
        return self.cloud.boot_server(
            name, self.project_ids[0], flavor_id=flavor_id or "plain", service_host=service_host
        ).id

    def resize(self, server_id: str, flavor_id: str) -> None:
        (server,) = (each for each in self.cloud.servers.list_servers() if each.id == server_id)
        other = next(each for each in self.hosts if each.service_host != server.service_host)
        self.cloud.resize_server(server_id, other.service_host, flavor_id)

    def add_child(self, host: LabHost) -> Provider:
        root = self.cloud.placement.find_provider(host.hypervisor_hostname)
        assert root is not None
        return self.cloud.placement.create_provider(self.name("child"), root.uuid)

    def wait_until_gone(self, server_id: str) -> None:
        self.clock.advance(DELETION_TIME)

    def disable(self, service_host: str, reason: str = "") -> None:
        (name,) = (each.hypervisor_hostname for each in self.hosts if each.service_host == service_host)
        self.cloud.set_host_state(name, is_enabled=False, disabled_reason=reason)

    def add_user(self, suffix: str, email: str | None) -> str:
        return self.cloud.add_user(self.name(suffix), email).id

    def make_trust(self) -> Trust:
        return self.cloud.add_trust("lessee", self.project_ids[0])

    def attach(self, floating_ip_id: str) -> None:
        self.cloud.attach_floating_ip(floating_ip_id, "port-1")

    def forward_port(self, floating_ip_id: str) -> str:
        return self.cloud.forward_port(floating_ip_id)


@contextmanager
def simulated_lab() -> Iterator[SimulatedLab]:
    yield SimulatedLab()


if TYPE_CHECKING:
    _: LabFactory = simulated_lab
