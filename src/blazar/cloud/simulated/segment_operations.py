"""Actions of operators and users on the networks on segments of the simulated cloud."""

from __future__ import annotations

from dataclasses import replace

from blazar.cloud.simulated.calls import Calls
from blazar.cloud.simulated.segments import delete_segment_network
from blazar.cloud.simulated.state import known
from blazar.ports.segments import ROUTER_INTERFACE, Port, Route, SegmentRange, Trunk


class SegmentOperations:
    """Actions on physical networks, ports, trunks and routers; not counted, without duration or faults."""

    _calls: Calls

    def add_physical_network(self, name: str) -> None:
        """Make a physical network known to Neutron."""
        with self._calls.exclusive() as state:
            state.physical_networks |= {name}

    def add_segment_range(
        self,
        network_type: str,
        physical_network: str | None,
        first: int,
        last: int,
        *,
        project_id: str | None = None,
    ) -> SegmentRange:
        """Return a new range from which Neutron chooses, for all projects or one."""
        with self._calls.exclusive() as state:
            made = SegmentRange(
                id=state.new_id(),
                network_type=network_type,
                physical_network=physical_network,
                first=first,
                last=last,
                project_id=project_id,
            )
            state.segment_ranges[made.id] = made
            return made

    def set_network_quota(self, project_id: str, limit: int) -> None:
        """Limit the number of networks of a project."""
        with self._calls.exclusive() as state:
            state.network_quotas[project_id] = limit

    def change_segment_network(self, network_id: str, *, name: str, description: str, tags: set[str]) -> None:
        """Rename, describe and tag a network, as its user does. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            network = known(state.segment_networks, network_id, "network")
            changed = replace(network, name=name, description=description, tags=frozenset(tags))
            state.segment_networks[network_id] = changed

    def delete_network_as_user(self, network_id: str) -> None:
        """Delete a network on a segment, as its user does. Raises CloudNotFound, CloudConflict."""
        with self._calls.exclusive() as state:
            delete_segment_network(state, network_id)

    def add_port(
        self, network_id: str, project_id: str, *, device_id: str = "", device_owner: str = ""
    ) -> Port:
        """Return a new port of a network. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            known(state.networks, network_id, "network")
            port = Port(
                id=state.new_id(), project_id=project_id, device_id=device_id, device_owner=device_owner
            )
            state.ports[port.id] = port
            state.port_networks[port.id] = network_id
            return port

    def add_trunk(self, port_id: str, subport_ids: frozenset[str] = frozenset()) -> Trunk:
        """Return a new trunk. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            for each in (port_id, *subport_ids):
                known(state.ports, each, "port")
            trunk = Trunk(id=state.new_id(), port_id=port_id, subport_ids=subport_ids)
            state.trunks[trunk.id] = trunk
            return trunk

    def disable_trunk(self, trunk_id: str) -> None:
        """Disable a trunk, as its user does. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            state.trunks[trunk_id] = replace(known(state.trunks, trunk_id, "trunk"), is_enabled=False)

    def add_router(self, network_id: str, project_id: str, routes: tuple[Route, ...] = ()) -> str:
        """Return the id of a new router with an interface in a network. Raises CloudNotFound."""
        with self._calls.exclusive() as state:
            router_id = state.new_id()
            state.routers[router_id] = routes
        self.add_port(network_id, project_id, device_id=router_id, device_owner=ROUTER_INTERFACE)
        return router_id
