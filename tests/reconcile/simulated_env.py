"""A service with its cloud and database, as the invariants see it."""

from __future__ import annotations

from collections.abc import Mapping

from reconcile import invariants
from reconcile.parts import Conditions, make_plugins

from blazar.booking.context import Plugin
from blazar.plugins.slots.names import provider_name
from blazar.ports.compute import Server
from blazar.settings import Settings
from blazar_plugin_testing.service_env import ServiceEnv


class SimulatedEnv(ServiceEnv):
    """The state of the service and of its cloud; subclasses provide the initial state."""

    conditions: Conditions
    host_names: list[str]
    violations: list[str]
    """Violations of invariants that were found during a pass."""

    @property
    def settings(self) -> Settings:
        return self.conditions.settings

    def make_plugins(self) -> Mapping[str, Plugin]:
        return make_plugins(self.conditions)

    def servers(self) -> Mapping[str, Server]:
        """Return all servers, by ID."""
        with self.faults.exempt():
            return {each.id: each for each in self.cloud.servers.list_servers()}

    def rows(self) -> invariants.DatabaseRows:
        """Return all rows of the database."""
        return invariants.read_rows(self.engine)

    def host_name(self, resource_id: str) -> str:
        """Return the name of a registered host, by its ID."""
        return next(str(row.service_name) for row in self.rows().hosts if row.id == resource_id)

    def aggregates(self) -> Mapping[str, frozenset[str]]:
        """Return the hosts of every aggregate, by the aggregate's name."""
        with self.faults.exempt():
            return {each.name: each.hosts for each in self.cloud.aggregates.list_aggregates()}

    def hosts_of(self, lease_id: str) -> frozenset[str]:
        """Return the hosts in the aggregates of a lease."""
        aggregates = self.aggregates()
        reservations = self.lease(lease_id).reservations
        return frozenset().union(*(aggregates.get(each.id, frozenset()) for each in reservations))

    def provider_names(self) -> frozenset[str]:
        """Return the names of the hosts that have a reservation provider."""
        find = self.cloud.placement.find_provider
        with self.faults.exempt():
            return frozenset(each for each in self.host_names if find(provider_name(each)) is not None)
