"""The simulated cloud as a whole, and what its operators and users do to it."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from blazar.cloud.simulated import codec, scheduler
from blazar.cloud.simulated.calls import Calls
from blazar.cloud.simulated.compute import SimulatedCompute
from blazar.cloud.simulated.faults import FaultScript
from blazar.cloud.simulated.flavors import insert_flavor
from blazar.cloud.simulated.hosts import insert_aggregate
from blazar.cloud.simulated.lessee import SimulatedLesseeCompute
from blazar.cloud.simulated.network_operations import NetworkOperations
from blazar.cloud.simulated.networks import SimulatedNetworks
from blazar.cloud.simulated.operations import HostOperations
from blazar.cloud.simulated.placement import SimulatedPlacement
from blazar.cloud.simulated.trusts import SERVICE_USER, SimulatedTrusts
from blazar.ports.clock import Clock
from blazar.ports.compute import Aggregate, Flavor, Lessee, Server
from blazar.ports.identity import Trust
from blazar.ports.side_by_side import OneByOne, SideBySide

if TYPE_CHECKING:
    from blazar.ports.cloud import Cloud

PLAIN_FLAVOR = Flavor(id="plain", name="plain", vcpus=1, memory_mb=512, disk_gb=1, is_public=True)
"""What servers are booted with unless another flavor is named; it comes into being by that."""


class SimulatedCloud(HostOperations, NetworkOperations):
    """Nova, Placement, Neutron and Keystone's trusts in memory, with their real rules.

    The ports are ``compute``, ``placement``, ``networks`` and ``trusts``. The other methods stand for
    operators and users: they are not counted, take no time, and never fail by script. All may be used from
    any thread.

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
        super().__init__(Calls(clock, self.faults, call_duration=call_duration, state_file=state_file))
        self.compute = SimulatedCompute(self._calls, deletion_time=server_deletion_time)
        self.placement = SimulatedPlacement(self._calls)
        self.networks = SimulatedNetworks(self._calls)
        self.trusts = SimulatedTrusts(self._calls)
        self.side_by_side: SideBySide = OneByOne()

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

    def to_json(self) -> str:
        """Return everything there is, by table, as the state file has it."""
        with self._calls.exclusive(writes=False) as state:
            return codec.encode(state)

    def add_aggregate(self, name: str, availability_zone: str | None = None) -> Aggregate:
        """Return a new aggregate, as an operator makes it (the freepool, say). Raises CloudConflict."""
        with self._calls.exclusive() as state:
            return insert_aggregate(state, name, availability_zone)

    def add_trust(self, trustor_user_id: str, project_id: str, trustee_user_id: str = SERVICE_USER) -> Trust:
        """Return a new trust, as the existing service had a lessee make one."""
        with self._calls.exclusive() as state:
            trust = Trust(
                id=state.new_id(),
                trustor_user_id=trustor_user_id,
                trustee_user_id=trustee_user_id,
                project_id=project_id,
            )
            state.trusts[trust.id] = trust
            return trust

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
            flavor_id: Its sizes, and what its extra specs say, are taken of the host in Placement.
            service_host: Forces the host, whatever pools it is in; it needs room all the same.
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


if TYPE_CHECKING:

    def _witness(cloud: SimulatedCloud) -> Cloud:
        return cloud
