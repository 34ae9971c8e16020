"""A reservation of slots on two hosts of a simulated cloud, for the tests of both slot plugins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from clocks import ManualClock
from plugin_cases import CASES, PROJECT, RESERVATION, assignment_of, lessee_of, spec_of

from blazar.cloud.simulated import SimulatedCloud
from blazar.cloud.simulated.faults import FaultKind, FaultRule
from blazar.domain.capacity import Share
from blazar.domain.errors import CloudError
from blazar.domain.lifecycle import Phase
from blazar.domain.providers import Inventory
from blazar.plugins.contract import Assignment, Outcome
from blazar.plugins.slots.items import Kind, SlotItem, SlotsSeen
from blazar.plugins.slots.names import provider_name, reservation_class
from blazar.plugins.slots.plugin import SlotPlugin
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Aggregate, Flavor, Server
from blazar.settings import Settings
from blazar_plugin_testing.plugin_env import complete_spec

CLASS = reservation_class(RESERVATION)


class AlteredCloud:
    """A cloud in which some ports differ."""

    def __init__(self, cloud: SimulatedCloud, **ports: object) -> None:
        self._cloud = cloud
        self.__dict__.update(ports)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cloud, name)


class SlotEnv:
    """A reservation, its plugin, and the cloud; hosts are counted from 0, and the first two are held."""

    def __init__(self, resource_type: str = "virtual:instance", **keys: object) -> None:
        self.clock = ManualClock()
        self.cloud = SimulatedCloud(self.clock, server_deletion_time=timedelta(seconds=5))
        case = CASES[resource_type]
        case = replace(case, body={**case.body, **keys})
        plugin = case.make(Settings(), None)
        assert isinstance(plugin, SlotPlugin)
        self.plugin = plugin
        self.resources = case.furnish(self.cloud)
        self.lessee = lessee_of(self.cloud)
        spec = spec_of(self.plugin, case, self.lessee)
        self.assignment: Assignment[Any] = assignment_of(self.plugin, case, self.resources, spec)

    def change(self, **keys: object) -> None:
        """Change keys of the reservation's spec, as an update does."""
        spec = self.plugin.revise(self.assignment.spec, keys, is_active=False)
        spec = complete_spec(self.plugin, spec, self.lessee)
        self.plugin.withdraw(self.cloud, self.assignment.spec, spec)
        self.assignment = replace(self.assignment, spec=spec)

    def hold(self, **slots: int) -> None:
        """Set the held slots by the names of the hosts' compute services."""
        demand = self.assignment.spec.demand
        by_name = {str(each.facts["service_name"]).replace("-", "_"): each for each in self.resources}
        some = self.assignment.resources[0]
        held = tuple(
            replace(
                some, id=by_name[name].id, facts=by_name[name].facts, share=Share(slots=count, demand=demand)
            )
            for name, count in slots.items()
        )
        self.assignment = replace(self.assignment, resources=held)

    def seen(self, phase: Phase, cloud: Cloud | None = None) -> SlotsSeen:
        seen: SlotsSeen = self.plugin.observe(cloud or self.cloud, self.assignment, phase)
        return seen

    def wanted(self, phase: Phase) -> frozenset[SlotItem]:
        items: frozenset[SlotItem] = self.plugin.wanted(self.assignment, phase)
        return items

    def reach(self, phase: Phase, cloud: Cloud | None = None) -> list[Outcome]:
        """Take the steps of one reconcile pass; return their outcomes."""
        seen, wanted = self.seen(phase), self.wanted(phase)
        outcomes = [
            self.plugin.remove(cloud or self.cloud, self.assignment, item, seen)
            for item in sorted(seen.items - wanted, key=lambda each: -each.rank)
        ]
        outcomes += [
            self.plugin.make(cloud or self.cloud, self.assignment, item, seen)
            for item in sorted(wanted - seen.items, key=lambda each: each.rank)
        ]
        return outcomes

    def make(self, kind: Kind, phase: Phase = Phase.RUNNING, cloud: Cloud | None = None) -> Outcome:
        """Make the first wanted item of a kind."""
        item = min(each for each in self.wanted(phase) if each.kind is kind)
        return self.plugin.make(cloud or self.cloud, self.assignment, item, self.seen(phase))

    def remove(self, kind: Kind, phase: Phase = Phase.OVER, cloud: Cloud | None = None) -> Outcome:
        """Remove the first observed item of a kind."""
        seen = self.seen(phase)
        item = min(each for each in seen.items if each.kind is kind)
        return self.plugin.remove(cloud or self.cloud, self.assignment, item, seen)

    def fail(self, operation: str, error: type[CloudError], times: int = 1) -> None:
        """Let the next calls of an operation fail with a refusal."""
        rule = FaultRule(kind=FaultKind.ERROR, operation=operation, error=error, times=times)
        self.cloud.faults.add(rule)

    def boot(self, host: str | None = None) -> Server:
        return self.cloud.boot_server("server", PROJECT, flavor_id=RESERVATION, service_host=host)

    def hosts_of(self, kind: Kind, phase: Phase = Phase.RUNNING) -> frozenset[str]:
        return frozenset(each.host for each in self.seen(phase).items if each.kind is kind)

    @property
    def kinds(self) -> set[Kind]:
        """The observation in ``Phase.OVER``."""
        return {each.kind for each in self.seen(Phase.OVER).items}

    @property
    def flavor(self) -> Flavor | None:
        return self.cloud.flavors.find_flavor(RESERVATION)

    @property
    def aggregate(self) -> Aggregate:
        return self.aggregate_named(RESERVATION)

    def aggregate_named(self, name: str) -> Aggregate:
        (found,) = [each for each in self.cloud.aggregates.list_aggregates() if each.name == name]
        return found

    def inventories(self, host: str) -> Mapping[str, Inventory]:
        """Return the inventories of a host's reservation provider, by the name of the compute service."""
        provider = self.cloud.placement.find_provider(provider_name(f"{host}.example"))
        return self.cloud.placement.get_inventories(provider.uuid).by_class if provider else {}
