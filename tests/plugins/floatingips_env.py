"""A reservation of floating IPs on the simulated cloud, for tests of its plugin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from plugin_cases import CASES, NETWORK, PROJECT, RESERVATION, assignment_of, new_cloud

from blazar.cloud.simulated.faults import FaultRule
from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import Assignment, Done, Outcome
from blazar.plugins.floatingips.items import FloatingIPItem, Kind
from blazar.plugins.floatingips.plugin import FloatingIPs
from blazar.plugins.floatingips.spec import FloatingIPSpec
from blazar.ports.network import FloatingIP

TAGS = frozenset({"blazar", f"reservation:{RESERVATION}"})
OTHERS_TAGS = frozenset({"blazar", "reservation:99999999-2222-4333-8444-555555555555"})


class FloatingIPEnv:
    """A running reservation of two addresses without any items."""

    def __init__(self) -> None:
        self.cloud = new_cloud()
        self.networks = self.cloud.networks
        self.plugin = FloatingIPs()
        case = CASES["virtual:floatingip"]
        resources = case.furnish(self.cloud)
        self.assignment: Assignment[FloatingIPSpec] = assignment_of(self.plugin, case, resources)
        self.subnet_id = str(resources[0].facts["subnet_id"])
        self.first, self.second = (str(each.facts["address"]) for each in resources[:2])

    def put(self, address: str, project_id: str = PROJECT, tags: frozenset[str] = frozenset()) -> FloatingIP:
        """Create a floating IP that does not belong to the reservation."""
        made = self.networks.create_floating_ip(NETWORK, self.subnet_id, address, project_id)
        self.networks.set_floating_ip_tags(made.id, tags)
        return replace(made, tags=tags)

    def at(self, address: str) -> FloatingIP | None:
        found = self.networks.list_floating_ips(network_id=NETWORK, addresses=[address])
        return found[0] if found else None

    def item(self, kind: Kind = Kind.ADDRESS, number: int = 0) -> FloatingIPItem:
        resource = self.assignment.resources[number]
        return FloatingIPItem(kind, resource.id, NETWORK, str(resource.facts["address"]))

    def items(self, phase: Phase = Phase.RUNNING) -> frozenset[FloatingIPItem]:
        return self.plugin.observe(self.cloud, self.assignment, phase).items

    def make(self, kind: Kind = Kind.ADDRESS) -> Outcome:
        """Make an item of the first address."""
        seen = self.plugin.observe(self.cloud, self.assignment, Phase.RUNNING)
        return self.plugin.make(self.cloud, self.assignment, self.item(kind), seen)

    def make_all(self) -> None:
        for item in sorted(self.plugin.wanted(self.assignment, Phase.RUNNING)):
            seen = self.plugin.observe(self.cloud, self.assignment, Phase.RUNNING)
            assert self.plugin.make(self.cloud, self.assignment, item, seen) == Done()

    def end(self) -> None:
        """Remove all observed items after the end."""
        seen = self.plugin.observe(self.cloud, self.assignment, Phase.OVER)
        for item in sorted(seen.items, reverse=True):
            assert self.plugin.remove(self.cloud, self.assignment, item, seen) == Done()

    def fail(self, operation: str, **rule: Any) -> None:
        self.cloud.faults.add(FaultRule(operation=operation, nth=1, **rule))
