"""The simulated cloud as a whole, and what its operators and users do to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING

from blazar.cloud.simulated import scheduler
from blazar.cloud.simulated.calls import Calls
from blazar.cloud.simulated.compute import SimulatedCompute
from blazar.cloud.simulated.faults import FaultScript
from blazar.cloud.simulated.flavors import insert_flavor
from blazar.cloud.simulated.hosts import insert_aggregate, insert_member
from blazar.cloud.simulated.lessee import SimulatedLesseeCompute
from blazar.cloud.simulated.networks import SimulatedNetworks
from blazar.cloud.simulated.placement import (
    SimulatedPlacement,
    bump_generation,
    drop_provider,
    insert_provider,
)
from blazar.cloud.simulated.shape import DEFAULT_SHAPE, HostShape
from blazar.cloud.simulated.state import CloudState, known
from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.ports.clock import Clock
from blazar.ports.compute import Aggregate, Flavor, Hypervisor, Lessee, Server
from blazar.ports.network import Network, Subnet

if TYPE_CHECKING:
    from blazar.ports.cloud import Cloud

PLAIN_FLAVOR = Flavor(id="plain", name="plain", vcpus=1, memory_mb=512, disk_gb=1, is_public=True)
"""What servers are booted with unless another flavor is named; it comes into being by that."""


class SimulatedCloud:
    """Nova, Placement and Neutron in memory, with their real rules.

    The ports are ``compute``, ``placement`` and ``networks``. The other methods stand for operators and
    users: they are not counted, take no time, and never fail by script. All may be used from any
    thread.

    Ids follow from the order of calls, so a run can be repeated exactly.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        server_deletion_time: timedelta = timedelta(0),
        call_duration: timedelta = timedelta(0),
        state_file: Path | None = None,
        faults: FaultScript | None = None,
    ) -> None:
        """Begin an empty cloud, or go on with the one in the state file.

        Args:
            clock: Measures the two durations.
            server_deletion_time: Between the request and the end of a server; zero for at once.
            call_duration: What each call takes; zero for no time.
            state_file: Written after each change, so that a killed process finds the cloud as it was;
                its folder must exist, and no other process may use it. None keeps nothing.
            faults: What goes wrong; nothing for None.

        Raises:
            ValueError: The state file holds something else.
        """
        self.faults = FaultScript() if faults is None else faults
        self._calls = Calls(clock, self.faults, call_duration=call_duration, state_file=state_file)
        self.compute = SimulatedCompute(self._calls, deletion_time=server_deletion_time)
        self.placement = SimulatedPlacement(self._calls)
        self.networks = SimulatedNetworks(self._calls)

    def compute_for(self, lessee: Lessee) -> SimulatedLesseeCompute:
        """Return the part of Nova that is used with a lessee's rights."""
        return SimulatedLesseeCompute(self._calls, lessee)

    @property
    def calls(self) -> Counter[str]:
        """Return a copy of how often each operation (``compute.add_host``) was called so far.

        Creating an aggregate with metadata counts as two operations, and so does a flavor with
        extra specs.
        """
        return self._calls.counts

    @property
    def is_empty(self) -> bool:
        """Return whether there is neither a hypervisor, nor an aggregate, nor a network."""
        with self._calls.exclusive(writes=False) as state:
            return not (state.hypervisors or state.aggregates or state.networks)

    def add_hypervisor(
        self,
        name: str,
        shape: HostShape = DEFAULT_SHAPE,
        *,
        service_host: str | None = None,
        availability_zone: str | None = None,
        traits: Iterable[str] = (),
    ) -> Hypervisor:
        """Return a new hypervisor with its compute service and its root provider in Placement.

        Args:
            name: Host name of the hypervisor, and name of the provider.
            shape: Its size.
            service_host: Name of the compute service; the same as *name* for None.
            availability_zone: The host is put into an aggregate of this zone and name, which is made
                if need be. None for no aggregate, which leaves the host in zone ``nova``.
            traits: Of the provider.

        Raises:
            CloudConflict: The name is taken by a hypervisor or a provider, the zone's by an aggregate of
                another zone, or the compute service is in another zone.
        """
        with self._calls.exclusive() as state:
            host = service_host or name
            _check_new_host(state, name, host, availability_zone)
            # The first of these may still be refused, and then nothing has changed.
            aggregate = None if availability_zone is None else _zone_aggregate(state, availability_zone)
            provider = insert_provider(state, name, None)
            state.inventories[provider.uuid] = shape.inventories()
            state.traits[provider.uuid] = frozenset(traits)
            bump_generation(state, provider.uuid)
            hypervisor = shape.hypervisor(str(state.new_number()), name, host)
            state.hypervisors[hypervisor.id] = hypervisor
            if aggregate is not None and host not in aggregate.hosts:
                insert_member(state, aggregate.id, host)
            return hypervisor

    def set_host_state(
        self, name: str, *, is_up: bool | None = None, is_enabled: bool | None = None
    ) -> Hypervisor:
        """Break, mend, disable or enable a host; None leaves it so. Return it. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            present = _by_name(state, name)
            changed = replace(
                present,
                is_up=present.is_up if is_up is None else is_up,
                is_enabled=present.is_enabled if is_enabled is None else is_enabled,
            )
            state.hypervisors[changed.id] = changed
            return changed

    def resize_hypervisor(self, name: str, shape: HostShape) -> Hypervisor:
        """Give a host other sizes, in Nova and in Placement, and return it. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            present = _by_name(state, name)
            changed = replace(
                shape.hypervisor(present.id, name, present.service_host),
                is_up=present.is_up,
                is_enabled=present.is_enabled,
            )
            state.hypervisors[changed.id] = changed
            root = next(each for each in state.providers.values() if each.name == name)
            state.inventories[root.uuid] = shape.inventories()
            bump_generation(state, root.uuid)
            return changed

    def remove_hypervisor(self, name: str) -> None:
        """Take a host out of the cloud, its aggregates and Placement.

        Raises:
            CloudNotFound: There is no hypervisor of this name.
            CloudConflict: Servers are on it.
        """
        with self._calls.exclusive() as state:
            hypervisor = _by_name(state, name)
            host = hypervisor.service_host
            if state.has_servers(host):
                raise CloudConflict(f"hypervisor {name} has servers")
            del state.hypervisors[hypervisor.id]
            for aggregate in list(state.aggregates.values()):
                state.aggregates[aggregate.id] = replace(aggregate, hosts=aggregate.hosts - {host})
            roots = {each.uuid for each in state.providers.values() if each.name == name}
            for provider in list(state.providers.values()):
                if provider.root_uuid in roots:
                    drop_provider(state, provider.uuid)

    def add_aggregate(self, name: str, availability_zone: str | None = None) -> Aggregate:
        """Return a new aggregate, as an operator makes it (the freepool, say). Raises CloudConflict."""
        with self._calls.exclusive() as state:
            return insert_aggregate(state, name, availability_zone)

    def add_network(self, name: str, *, is_external: bool = True) -> Network:
        """Return a new network without subnets."""
        with self._calls.exclusive() as state:
            network = Network(id=state.new_id(), name=name, is_external=is_external)
            state.networks[network.id] = network
            return network

    def add_subnet(
        self,
        network_id: str,
        cidr: str,
        *,
        gateway_ip: str | None = None,
        allocation_pools: tuple[tuple[str, str], ...] = (),
    ) -> Subnet:
        """Return a new subnet. Without pools, Neutron itself gives out none of its addresses.

        Raises:
            CloudNotFound: The network does not exist.
            ValueError: *cidr* is none.
        """
        with self._calls.exclusive() as state:
            known(state.networks, network_id, "network")
            subnet = Subnet(
                id=state.new_id(),
                network_id=network_id,
                cidr=str(ip_network(cidr)),
                gateway_ip=gateway_ip,
                allocation_pools=allocation_pools,
            )
            state.subnets[subnet.id] = subnet
            return subnet

    def boot_server(
        self,
        name: str,
        project_id: str,
        *,
        flavor_id: str = PLAIN_FLAVOR.id,
        service_host: str | None = None,
        reservation_id: str | None = None,
    ) -> Server:
        """Return a new server, which runs at once, where the small scheduler puts it.

        Args:
            name: Need not be unique.
            project_id: Whose it is; must have access to the flavor.
            flavor_id: A flavor with ``resources:CUSTOM_…`` takes that much from Placement; any other
                takes nothing.
            service_host: Forces the host, whatever pools it is in.
            reservation_id: The scheduler hint ``reservation`` of a host reservation.

        Raises:
            CloudNotFound: The forced host does not exist.
            CloudRefused: There is no such flavor for this project.
            CloudConflict: No valid host was found.
        """
        request = scheduler.BootRequest(
            name=name,
            project_id=project_id,
            flavor_id=flavor_id,
            service_host=service_host,
            reservation_id=reservation_id,
        )
        with self._calls.exclusive() as state:
            if flavor_id == PLAIN_FLAVOR.id and flavor_id not in state.flavors:
                insert_flavor(state, PLAIN_FLAVOR)
            return scheduler.boot(state, request)

    def attach_floating_ip(self, floating_ip_id: str, port_id: str) -> None:
        """Put a floating IP on a port, as its user does. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            floating_ip = known(state.floating_ips, floating_ip_id, "floating IP")
            state.floating_ips[floating_ip_id] = replace(floating_ip, port_id=port_id)


def _by_name(state: CloudState, name: str) -> Hypervisor:
    for hypervisor in state.hypervisors.values():
        if hypervisor.hypervisor_hostname == name:
            return hypervisor
    raise CloudNotFound(f"no hypervisor {name}")


def _check_new_host(state: CloudState, name: str, service_host: str, availability_zone: str | None) -> None:
    if any(each.hypervisor_hostname == name for each in state.hypervisors.values()):
        raise CloudConflict(f"a hypervisor named {name} exists")
    if any(each.name == name for each in state.providers.values()):
        raise CloudConflict(f"a resource provider named {name} exists")
    present = state.zone_of(service_host) if state.has_service_host(service_host) else availability_zone
    if availability_zone is not None and present != availability_zone:
        raise CloudConflict(f"compute service {service_host} is in availability zone {present}")


def _zone_aggregate(state: CloudState, availability_zone: str) -> Aggregate:
    for aggregate in state.aggregates.values():
        if aggregate.availability_zone == availability_zone:
            return aggregate
    return insert_aggregate(state, availability_zone, availability_zone)


if TYPE_CHECKING:

    def _witness(cloud: SimulatedCloud) -> Cloud:
        return cloud
