"""The part of Nova that is called with a lessee's token, simulated."""

from __future__ import annotations

from blazar.cloud.simulated.calls import Calls, Service, reads, writes
from blazar.cloud.simulated.state import is_visible
from blazar.domain.errors import CloudRefused
from blazar.ports.compute import Flavor, Lessee, ServerGroup

POLICIES = frozenset({"affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"})


class SimulatedLesseeCompute(Service):
    """Nova as one lessee sees it."""

    def __init__(self, calls: Calls, lessee: Lessee) -> None:
        super().__init__(calls)
        self._project_id = lessee.project_id

    @reads("lessee.find_flavor")
    def find_flavor(self, flavor_id: str) -> Flavor | None:
        """Return the flavor, or None if it does not exist or the lessee may not see it."""
        return (
            self._state.flavors[flavor_id] if is_visible(self._state, flavor_id, self._project_id) else None
        )

    @reads("lessee.list_flavors")
    def list_flavors(self) -> tuple[Flavor, ...]:
        """Return the flavors that the lessee may use."""
        visible = (key for key in self._state.flavors if is_visible(self._state, key, self._project_id))
        return tuple(self._state.flavors[key] for key in visible)

    @writes("lessee.create_server_group")
    def create_server_group(self, name: str, policy: str) -> ServerGroup:
        """Return a new server group. Raises CloudRefused for a policy that Nova does not have."""
        if policy not in POLICIES:
            raise CloudRefused(f"{policy} is not a policy of server groups")
        group = ServerGroup(id=self._state.new_id(), name=name, policy=policy, project_id=self._project_id)
        self._state.server_groups[group.id] = group
        return group
