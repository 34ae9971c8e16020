"""What the contract suite needs to know of each plugin: a request, and resources in a simulated cloud."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from clocks import EPOCH, ManualClock

from blazar.app.context import Plugin
from blazar.cloud.simulated.cloud import SimulatedCloud
from blazar.domain.availability import Resource
from blazar.domain.interval import Interval
from blazar.domain.lease import LeaseId, ReservationId, ResourceId
from blazar.domain.requirements import Fact
from blazar.plugins.contract import AllocatedResource, Assignment
from blazar.plugins.hosts.plugin import make_plugin
from blazar.settings import Settings

RESERVATION = ReservationId("5b0c8f4e-61d7-4f0a-9c55-2d3a7be01f10")


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginCase:
    """One plugin: how it is made, a body that it accepts, and its resources."""

    make: Callable[[Settings], Plugin]
    body: Mapping[str, object]
    changes: Mapping[str, object]
    furnish: Callable[[SimulatedCloud], tuple[Resource, ...]]


def assignment_of(plugin: Plugin, case: PluginCase, resources: tuple[Resource, ...]) -> Assignment[Any]:
    """Return a reservation of the first two resources."""
    return Assignment(
        lease_id=LeaseId("lease"),
        reservation_id=RESERVATION,
        project_id="project",
        window=Interval(EPOCH, EPOCH + timedelta(hours=1)),
        now=EPOCH,
        spec=plugin.parse(case.body),
        resources=tuple(AllocatedResource(id=each.id, facts=each.facts) for each in resources[:2]),
    )


def _furnish_hosts(cloud: SimulatedCloud) -> tuple[Resource, ...]:
    freepool = cloud.add_aggregate("freepool")
    found = []
    for number in range(4):
        hypervisor = cloud.add_hypervisor(f"host-{number}")
        cloud.compute.add_host(freepool.id, hypervisor.service_host)
        facts: dict[str, Fact] = {"service_name": hypervisor.service_host, "vcpus": hypervisor.vcpus}
        found.append(
            Resource(id=ResourceId(hypervisor.id), generation=0, is_reservable=True, facts=facts, size=(1,))
        )
    return tuple(found)


def new_cloud() -> SimulatedCloud:
    """Return an empty simulated cloud."""
    return SimulatedCloud(ManualClock())


CASES = {
    "physical:host": PluginCase(
        make=make_plugin,
        body={
            "min": 2,
            "max": "2",
            "hypervisor_properties": '[">=", "$vcpus", "1"]',
            "resource_properties": "",
            "before_end": "snapshot",
        },
        changes={"max": 3},
        furnish=_furnish_hosts,
    )
}
