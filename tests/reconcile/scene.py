"""A service with its surroundings, as the invariants look at it."""

from __future__ import annotations

from collections.abc import Mapping

from reconcile import invariants
from reconcile.parts import Conditions, make_plugins

from blazar.booking.context import Plugin
from blazar.plugins.slots.names import provider_name
from blazar.plugins.testing.site import Site
from blazar.ports.compute import Server
from blazar.settings import Settings


class Scene(Site):
    """What there is, in the books and outside; who makes one says how it begins."""

    conditions: Conditions
    host_names: list[str]
    violations: list[str]
    """What must never be, but was; found out while a pass was under way."""

    @property
    def settings(self) -> Settings:
        return self.conditions.settings

    def make_plugins(self) -> Mapping[str, Plugin]:
        return make_plugins(self.conditions)

    def servers(self) -> Mapping[str, Server]:
        """Return all servers by their ids."""
        with self.faults.exempt():
            return {each.id: each for each in self.cloud.compute.list_servers()}

    def world(self) -> invariants.World:
        """Return everything that the database holds."""
        return invariants.read_world(self.engine)

    def host_name(self, resource_id: str) -> str:
        """Return the name of a registered host."""
        return next(str(row.service_name) for row in self.world().hosts if row.id == resource_id)

    def aggregates(self) -> Mapping[str, frozenset[str]]:
        """Return the hosts of every aggregate by its name."""
        with self.faults.exempt():
            return {each.name: each.hosts for each in self.cloud.compute.list_aggregates()}

    def hosts_of(self, lease_id: str) -> frozenset[str]:
        """Return the hosts that a lease has in the cloud."""
        aggregates = self.aggregates()
        reservations = self.lease(lease_id).reservations
        return frozenset().union(*(aggregates.get(each.id, frozenset()) for each in reservations))

    def provider_names(self) -> frozenset[str]:
        """Return which hosts have a reservation provider."""
        find = self.cloud.placement.find_provider
        with self.faults.exempt():
            return frozenset(each for each in self.host_names if find(provider_name(each)) is not None)
