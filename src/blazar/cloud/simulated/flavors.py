"""Nova's flavors, simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from blazar.cloud.simulated.calls import Service, reads, writes
from blazar.cloud.simulated.state import CloudState, known
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.compute import Flavor

if TYPE_CHECKING:
    from blazar.ports.compute import Flavors


class SimulatedFlavors(Service):
    """Flavors and their access lists. A public flavor has no access list."""

    @reads("compute.find_flavor")
    def find_flavor(self, flavor_id: str) -> Flavor | None:
        """Return the flavor with its extra specs, or None."""
        return self._state.flavors.get(flavor_id)

    @reads("compute.list_flavors")
    def list_flavors(self) -> tuple[Flavor, ...]:
        """Return all flavors, including private ones, with their extra specs; oldest first."""
        return tuple(self._state.flavors.values())

    def create_flavor(self, flavor: Flavor) -> None:
        """Create the flavor; its extra specs are set by a second operation, which may fail."""
        self._new_flavor(flavor)
        if flavor.extra_specs:
            self.set_flavor_extra_specs(flavor.id, flavor.extra_specs)

    @writes("compute.create_flavor")
    def _new_flavor(self, flavor: Flavor) -> None:
        insert_flavor(self._state, replace(flavor, extra_specs={}))

    @writes("compute.set_flavor_extra_specs")
    def set_flavor_extra_specs(self, flavor_id: str, extra_specs: Mapping[str, str]) -> None:
        """Set these extra specs and leave others alone. Raises CloudNotFound."""
        flavor = known(self._state.flavors, flavor_id, "flavor")
        merged = {**flavor.extra_specs, **extra_specs}
        self._state.flavors[flavor_id] = replace(flavor, extra_specs=merged)

    @writes("compute.delete_flavor")
    def delete_flavor(self, flavor_id: str) -> None:
        """Delete the flavor and its access list; its servers continue to exist. Raises CloudNotFound."""
        known(self._state.flavors, flavor_id, "flavor")
        del self._state.flavors[flavor_id]
        self._state.flavor_access.pop(flavor_id, None)
        for server_id in [key for key, value in self._state.server_flavors.items() if value == flavor_id]:
            del self._state.server_flavors[server_id]

    @reads("compute.list_flavor_access")
    def list_flavor_access(self, flavor_id: str) -> frozenset[str]:
        """Return the projects on its access list. Raises CloudNotFound, also if it is public."""
        if known(self._state.flavors, flavor_id, "flavor").is_public:
            raise CloudNotFound(f"flavor {flavor_id} is public and has no list of projects")
        return self._state.flavor_access.get(flavor_id, frozenset())

    @writes("compute.add_flavor_access")
    def add_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Grant access to a project.

        Raises:
            CloudNotFound: The flavor does not exist.
            CloudConflict: The project has access already, or the flavor is public.
        """
        flavor = known(self._state.flavors, flavor_id, "flavor")
        projects = self._state.flavor_access.get(flavor_id, frozenset())
        if flavor.is_public or project_id in projects:
            raise CloudConflict(f"project {project_id} may use flavor {flavor_id} already")
        self._state.flavor_access[flavor_id] = projects | {project_id}

    @writes("compute.remove_flavor_access")
    def remove_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Revoke a project's access. Raises CloudNotFound if it had none or the flavor does not exist."""
        known(self._state.flavors, flavor_id, "flavor")
        projects = self._state.flavor_access.get(flavor_id, frozenset())
        if project_id not in projects:
            raise CloudNotFound(f"project {project_id} has no access to flavor {flavor_id}")
        self._state.flavor_access[flavor_id] = projects - {project_id}


def insert_flavor(state: CloudState, flavor: Flavor) -> None:
    """Add a flavor.

    Raises:
        CloudConflict: Its id or its name is taken.
        CloudRefused: It has no vCPU or no memory, or a negative disk size.
    """
    if flavor.id in state.flavors or any(each.name == flavor.name for each in state.flavors.values()):
        raise CloudConflict(f"a flavor with id {flavor.id} or name {flavor.name} exists")
    if min(flavor.vcpus, flavor.memory_mb) < 1 or min(flavor.disk_gb, flavor.ephemeral_gb) < 0:
        raise CloudRefused("a flavor needs at least 1 vCPU, 1 MB of memory and 0 GB of disk")
    state.flavors[flavor.id] = flavor


if TYPE_CHECKING:

    def _witness(flavors: SimulatedFlavors) -> Flavors:
        return flavors
