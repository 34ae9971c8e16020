"""The simulated cloud, and the actions of its operators and users."""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from blazar.cloud.simulated import codec, scheduler
from blazar.cloud.simulated.block_storage import SimulatedBlockStorage
from blazar.cloud.simulated.calls import Calls
from blazar.cloud.simulated.faults import FaultScript
from blazar.cloud.simulated.flavors import SimulatedFlavors, insert_flavor
from blazar.cloud.simulated.hosts import SimulatedAggregates, SimulatedHypervisors, insert_aggregate
from blazar.cloud.simulated.keystone import SERVICE_USER, SimulatedProjects, SimulatedTrusts, SimulatedUsers
from blazar.cloud.simulated.lessee import SimulatedLesseeCompute
from blazar.cloud.simulated.network_operations import NetworkOperations
from blazar.cloud.simulated.networks import SimulatedNetworks
from blazar.cloud.simulated.operations import HostOperations
from blazar.cloud.simulated.placement import SimulatedPlacement
from blazar.cloud.simulated.project_storage import SimulatedProjectStorage
from blazar.cloud.simulated.segment_operations import SegmentOperations
from blazar.cloud.simulated.segments import SimulatedSegments
from blazar.cloud.simulated.server_operations import ServerOperations
from blazar.cloud.simulated.servers import SimulatedImages, SimulatedServerGroups, SimulatedServers
from blazar.cloud.simulated.storage_operations import StorageOperations
from blazar.null_ports import SerialExecutor
from blazar.ports.clock import Clock
from blazar.ports.compute import Aggregate, Flavor, Lessee, Server
from blazar.ports.executor import Executor
from blazar.ports.identity import Project, Trust, User

if TYPE_CHECKING:
    from blazar.ports.cloud import Cloud

PLAIN_FLAVOR = Flavor(id="plain", name="plain", vcpus=1, memory_mb=512, disk_gb=1, is_public=True)
"""The default flavor of servers; it is created when it is first used."""


class SimulatedCloud(
    HostOperations, ServerOperations, NetworkOperations, SegmentOperations, StorageOperations
):
    """Nova, Placement, Neutron, Cinder and parts of Keystone in memory, with their real rules; thread-safe.

    The ports are those of :class:`blazar.ports.cloud.Cloud`. The other methods are actions of operators and
    users: they are not counted, take no time, and have no faults.

    Ids depend only on the order of calls, so runs can be repeated exactly.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        server_deletion_time: timedelta = timedelta(0),
        call_duration: timedelta = timedelta(0),
        state_file: Path | None = None,
        faults: FaultScript | None = None,
        is_read_only: bool = False,
    ) -> None:
        """Create an empty cloud, or load the one in the state file.

        Args:
            clock: Measures the two durations.
            server_deletion_time: The time from the request until a server is gone; zero for none.
            call_duration: The duration of each call; zero for none.
            state_file: Written after each change, so that the state survives a killed process. Its folder
                must exist, and no other process may use it. None to keep no state.
            faults: The faults; None for no faults.
            is_read_only: Refuse changes, because the state file belongs to another process.

        Raises:
            ValueError: The state file has other content.
        """
        self.faults = FaultScript() if faults is None else faults
        super().__init__(
            Calls(
                clock,
                self.faults,
                call_duration=call_duration,
                state_file=state_file,
                is_read_only=is_read_only,
            )
        )
        self.hypervisors = SimulatedHypervisors(self._calls)
        self.aggregates = SimulatedAggregates(self._calls)
        self.servers = SimulatedServers(self._calls, deletion_time=server_deletion_time)
        self.images = SimulatedImages(self._calls)
        self.flavors = SimulatedFlavors(self._calls)
        self.server_groups = SimulatedServerGroups(self._calls)
        self.placement = SimulatedPlacement(self._calls)
        self.networks = SimulatedNetworks(self._calls)
        self.segments = SimulatedSegments(self._calls)
        self.block_storage = SimulatedBlockStorage(self._calls)
        self.projects = SimulatedProjects(self._calls)
        self.users = SimulatedUsers(self._calls)
        self.trusts = SimulatedTrusts(self._calls)
        self.executor: Executor = SerialExecutor()

    def compute_for(self, lessee: Lessee) -> SimulatedLesseeCompute:
        """Return the part of Nova that is called with a lessee's token."""
        return SimulatedLesseeCompute(self._calls, lessee)

    def storage_in(self, project_id: str) -> SimulatedProjectStorage:
        """Return Cinder as a member of a project uses it."""
        return SimulatedProjectStorage(self._calls, project_id, copy_time=self.block_storage.copy_time)

    @property
    def calls(self) -> Counter[str]:
        """Return a copy of the number of calls by operation, such as ``compute.add_host``.

        The creation of an aggregate with metadata counts as two operations, and so does that of a flavor with
        extra specs.
        """
        return self._calls.counts

    @property
    def is_empty(self) -> bool:
        """Return whether the cloud has no hypervisors, aggregates and networks."""
        with self._calls.exclusive(writes=False) as state:
            return not (state.hypervisors or state.aggregates or state.networks)

    def saved_once(self) -> AbstractContextManager[None]:
        """Return a context in which changes are written to the state file at its end: all of them or none."""
        return self._calls.saved_once()

    def to_json(self) -> str:
        """Return the whole state, by table, in the format of the state file."""
        with self._calls.exclusive(writes=False) as state:
            return codec.encode(state)

    def add_aggregate(self, name: str, availability_zone: str | None = None) -> Aggregate:
        """Return a new aggregate, made by an operator, such as the freepool. Raises CloudConflict."""
        with self._calls.exclusive() as state:
            return insert_aggregate(state, name, availability_zone)

    def add_project(self, project_id: str, name: str, domain_id: str = "default") -> Project:
        """Return a new project, made by an operator."""
        with self._calls.exclusive() as state:
            project = Project(id=project_id, name=name, domain_id=domain_id)
            state.projects[project_id] = project
            return project

    def add_user(self, user_id: str, email: str | None = None, *, is_enabled: bool = True) -> User:
        """Return a new or changed user, made by an operator."""
        with self._calls.exclusive() as state:
            user = User(id=user_id, name=user_id, email=email, is_enabled=is_enabled)
            state.users[user_id] = user
            return user

    def add_trust(self, trustor_user_id: str, project_id: str, trustee_user_id: str = SERVICE_USER) -> Trust:
        """Return a new trust, as lessees of the existing service created them."""
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
        """Return a new server, which is active at once, on the host that the scheduler selects.

        Args:
            name: Need not be unique.
            project_id: The owner; needs access to the flavor.
            flavor_id: The flavor; its sizes and extra specs are allocated in Placement.
            service_host: Forces the host, regardless of its pools; it needs room all the same.
            reservation_id: The scheduler hint ``reservation`` of a host reservation.

        Raises:
            CloudNotFound: The forced host does not exist.
            CloudRefused: The flavor does not exist for this project.
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
