"""The resource plugin for ``physical:host``.

A host is handed over when it is in the reservation's aggregate and out of the freepool. It enters the
aggregate before it leaves the freepool, and vice versa on release. So it is always in one of them,
and no ordinary server can be placed on it.

The aggregate's name, zone and metadata are those that BlazarFilter reads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from blazar.domain.availability import Availability
from blazar.domain.expressions import render
from blazar.domain.lease import Holdings, ReservationId, ResourceId
from blazar.domain.lifecycle import Phase
from blazar.domain.need import Need
from blazar.domain.quotas import QuotaUnit
from blazar.domain.requirements import Fact, Requirement
from blazar.plugins.capabilities import (
    ActsBeforeEnd,
    CleansUp,
    DescribesEnd,
    DescribesUse,
    ExplainsProblems,
    HasCatalogueEntry,
    HasIndependentSteps,
    HasLeftovers,
    HasPool,
    ObservesAnswers,
    ObservesUse,
    ReleasesChosenResources,
    ReleasesWhileActive,
    RequiresProperties,
    StatesNeed,
    SuggestsOtherTypes,
    ToleratesDamagedSpec,
)
from blazar.plugins.contract import (
    AllocatedResource,
    Assignment,
    Done,
    JsonObject,
    Outcome,
    ResourcePlugin,
    Wish,
)
from blazar.plugins.end_texts import EndText, chosen
from blazar.plugins.hosts.choice import choose_hosts
from blazar.plugins.hosts.handover import Handover
from blazar.plugins.hosts.host import PUBLIC_HOST_FACTS
from blazar.plugins.hosts.instead import instances_instead
from blazar.plugins.hosts.items import HostItem, HostsSeen, Kind
from blazar.plugins.hosts.leftovers import host_leftovers
from blazar.plugins.hosts.observed import Observation
from blazar.plugins.hosts.pool import put_back, take_out
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.hosts.snapshots import take_snapshots
from blazar.plugins.hosts.spec import HOST_KEYS, HostSpec, encode_spec, parse_spec, revise_spec
from blazar.plugins.hosts.teardown import Teardown
from blazar.plugins.hosts.used import count_servers
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.ports.cloud import Cloud
from blazar.settings import Settings


class Hosts(
    RequiresProperties[HostSpec],
    StatesNeed[HostSpec],
    SuggestsOtherTypes[HostSpec],
    HasCatalogueEntry,
    DescribesUse[HostSpec],
    DescribesEnd[HostSpec],
    ExplainsProblems,
    ReleasesWhileActive[HostSpec],
    ReleasesChosenResources[HostSpec],
    HasIndependentSteps,
    ObservesAnswers[HostSpec, HostsSeen],
    CleansUp,
    ActsBeforeEnd[HostSpec],
    ObservesUse[HostSpec],
    ToleratesDamagedSpec[HostSpec],
    HasPool,
    HasLeftovers,
):
    """The plugin."""

    resource_type: ClassVar[str] = "physical:host"
    collection: ClassVar[str] = "host"
    quota_unit: ClassVar[QuotaUnit] = QuotaUnit(name="host", is_whole=True)
    request_keys: ClassVar[tuple[str, ...]] = HOST_KEYS
    public_facts: ClassVar[frozenset[str]] = PUBLIC_HOST_FACTS
    problem_texts: ClassVar[Mapping[str, str]] = {
        "preemptible": "servers of others are being removed from a resource",
        "has servers that": "a resource is occupied by servers of others",
    }
    independent_ranks: ClassVar[frozenset[int]] = frozenset({Kind.MEMBER, Kind.WITHDRAWN})
    clean_up_ranks: ClassVar[frozenset[int]] = frozenset(
        {Kind.DISPLACED, Kind.CLOSED, Kind.UNANNOUNCED, Kind.SERVER, Kind.RESIZE}
    )

    def __init__(self, settings: HostSettings) -> None:
        self._settings = settings
        self._handover = Handover(settings)
        self._teardown = Teardown(settings)
        self.end_texts = _end_texts(settings)

    def parse(self, body: JsonObject) -> HostSpec:
        """Return the spec of a new reservation."""
        return parse_spec(body)

    def revise(self, spec: HostSpec, changes: JsonObject, *, is_active: bool) -> HostSpec:
        """Return the spec with the keys of an update; :meth:`choose` keeps the hosts that are in use."""
        return revise_spec(spec, changes)

    def encode(self, spec: HostSpec) -> JsonObject:
        """Return the spec as JSON."""
        return encode_spec(spec)

    def decode(self, stored: JsonObject) -> HostSpec:
        """Return the spec from its stored form."""
        return parse_spec(stored)

    def render(self, spec: HostSpec) -> JsonObject:
        """Return the keys that clients see: all of them."""
        return encode_spec(spec)

    def describe_use(self, spec: HostSpec, reservation_id: ReservationId) -> JsonObject:
        """Return the hint with which Nova places servers on the hosts."""
        return {"scheduler_hints": {"reservation": reservation_id}}

    def describe_end(self, spec: HostSpec) -> Sequence[EndText]:
        """Return that servers are deleted, after a snapshot if the spec or the site requests it."""
        return chosen(self.end_texts, {"before_end": spec.before_end})

    def least_spec(self) -> HostSpec:
        """Return the smallest spec: the items are found by the reservation's id."""
        return HostSpec(minimum=1, maximum=1, hypervisor_properties="", resource_properties="")

    def requirement(self, spec: HostSpec) -> Requirement:
        """Return the requirement of both expressions together."""
        return spec.requirement

    def change_requirement(self, requirement: Requirement) -> JsonObject:
        """Return both expressions, of which one is empty."""
        return {"hypervisor_properties": "", "resource_properties": render(requirement)}

    def need(self, spec: HostSpec) -> Need:
        """Return the range of hosts."""
        return Need(least=spec.minimum, most=spec.maximum, requirement=spec.requirement)

    def change_need(self, units: int) -> JsonObject:
        """Return a fixed number of hosts: with more of them, a quota may refuse the request."""
        return {"min": units, "max": units}

    def other_types(
        self, spec: HostSpec, facts: Sequence[Mapping[str, Fact]]
    ) -> Iterator[tuple[str, JsonObject]]:
        """Yield instances in place of the hosts."""
        return instances_instead(spec, facts)

    def count_in_use(
        self, cloud: Cloud, assignment: Assignment[HostSpec], before: HostSpec
    ) -> Mapping[ResourceId, int]:
        """Return the number of servers by host if the reservation is to shrink; otherwise nothing."""
        if len(assignment.resources) <= assignment.spec.maximum:
            return {}
        return self._teardown.count_servers(cloud, assignment)

    def observe_use(
        self, cloud: Cloud, assignments: Sequence[Assignment[HostSpec]]
    ) -> Mapping[ReservationId, Mapping[ResourceId, int]]:
        """Return the number of servers by host."""
        return count_servers(cloud, assignments)

    def release(self, cloud: Cloud, assignment: Assignment[HostSpec], kept: Holdings) -> None:
        """Return hosts without servers to the freepool.

        Raises:
            CannotChange: A host has servers.
        """
        released = [each for each in assignment.resources if each.id not in kept]
        if released:
            self._teardown.release(cloud, assignment, released)

    def reduce(self, spec: HostSpec, released: Sequence[AllocatedResource], left: int) -> HostSpec:
        """Return the spec with at most the remaining number of hosts; the minimum only decreases."""
        return replace(spec, minimum=min(spec.minimum, left), maximum=left)

    def choose(self, wish: Wish[HostSpec], availability: Availability) -> Holdings:
        """Return the hosts that the reservation holds from now on."""
        return choose_hosts(wish, availability)

    def wanted(self, assignment: Assignment[HostSpec], phase: Phase) -> frozenset[HostItem]:
        """Return the aggregate shortly before the start, and also its hosts from the start on."""
        if phase in (Phase.AHEAD, Phase.OVER):
            return frozenset()
        items = {HostItem(Kind.AGGREGATE), HostItem(Kind.OWNER)}
        if phase is Phase.RUNNING:
            for resource in assignment.resources:
                service_host = str(resource.facts["service_name"])
                items.add(HostItem(Kind.MEMBER, resource.id, service_host))
                items.add(HostItem(Kind.WITHDRAWN, resource.id, service_host))
        return frozenset(items)

    def leftover_kinds(self, sweep: Sweep) -> tuple[LeftoverKind, ...]:
        """Return aggregates and hosts."""
        return host_leftovers(sweep, self._settings)

    def observe(self, cloud: Cloud, assignment: Assignment[HostSpec], phase: Phase) -> HostsSeen:
        """Return the items that exist, in one request, or two in a cloud with very many aggregates.

        When the reservation is over, there is one more request for each host; if preemptible servers are
        notified, there is also one for each host shortly before the start.
        """
        return Observation(self._settings, cloud, assignment, phase).look()

    def observe_answers(
        self, cloud: Cloud, assignment: Assignment[HostSpec], phase: Phase, seen: HostsSeen
    ) -> HostsSeen | None:
        """Return the items by the aggregates in Nova's answers, if that is all there is to a handover."""
        shown = Observation(self._settings, cloud, assignment, phase).look_at_answers(seen)
        return shown if shown and shown.items == self.wanted(assignment, phase) else None

    def make(
        self, cloud: Cloud, assignment: Assignment[HostSpec], item: HostItem, seen: HostsSeen
    ) -> Outcome:
        """Create the aggregate, set its metadata, or take one of the two steps of a handover."""
        match item.kind:
            case Kind.AGGREGATE:
                return self._handover.make_aggregate(cloud, assignment, seen)
            case Kind.OWNER:
                return self._handover.set_owner(cloud, assignment, seen)
            case Kind.MEMBER:
                return self._handover.add_member(cloud, assignment, item, seen)
            case Kind.WITHDRAWN:
                return self._handover.withdraw(cloud, item, seen)
        raise ValueError(f"such an item is only cleaned up: {item!r}")

    def remove(
        self, cloud: Cloud, assignment: Assignment[HostSpec], item: HostItem, seen: HostsSeen
    ) -> Outcome:
        """Delete a server, take one of the steps of a release, or delete the aggregate."""
        if item.kind is Kind.UNANNOUNCED:
            return self._handover.announce(cloud, assignment, item, seen)
        return self._teardown.remove(cloud, assignment, item, seen)

    def before_end(self, cloud: Cloud, assignment: Assignment[HostSpec], due: datetime) -> Outcome:
        """Snapshot the servers on the hosts, if the spec or the site requests it."""
        action = assignment.spec.before_end
        if action == "default":
            action = self._settings.before_end
        if action != "snapshot":
            return Done()
        return take_snapshots(cloud, assignment, due, self._settings.image_prefix)

    def leave_pool(self, cloud: Cloud, resources: Sequence[Mapping[str, Fact]]) -> None:
        """Take hosts out of the freepool."""
        take_out(cloud, self._settings, _service_hosts(resources))

    def enter_pool(self, cloud: Cloud, resources: Sequence[Mapping[str, Fact]]) -> None:
        """Put hosts back into the freepool, except those in a reservation's aggregate."""
        put_back(cloud, self._settings, _service_hosts(resources))

    def find_by_aggregate(self, cloud: Cloud, name: str) -> Collection[str] | None:
        """Return the hypervisors of the hosts in an aggregate of Nova, by name; None if there is none."""
        for each in cloud.aggregates.list_aggregates():
            if each.name == name:
                hosts = each.hosts
                hypervisors = cloud.hypervisors.list_hypervisors()
                return [one.hypervisor_hostname for one in hypervisors if one.service_host in hosts]
        return None


def _end_texts(settings: HostSettings) -> Sequence[EndText]:
    saved = (
        "A snapshot of each of your servers on the reserved hosts is taken; the images stay in your project."
    )
    values = ("snapshot", "default") if settings.before_end == "snapshot" else ("snapshot",)
    return (
        *(EndText(text=saved, key="before_end", value=each, is_before_end=True) for each in values),
        EndText(text="The servers on the reserved hosts are deleted, with their local disks."),
    )


def _service_hosts(resources: Sequence[Mapping[str, Fact]]) -> frozenset[str]:
    return frozenset(str(each["service_name"]) for each in resources)


def make_plugin(settings: Settings, conf: object) -> Hosts:
    """Return the plugin; the target of the entry point ``physical.host.plugin``."""
    return Hosts(settings.of(HostSettings))


if TYPE_CHECKING:
    _: ResourcePlugin[HostSpec, HostItem, HostsSeen] = Hosts(HostSettings())
