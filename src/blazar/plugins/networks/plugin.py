"""The resource plugin for ``network``.

While a reservation is active, its project has a network on each of its segments. At the end, the networks are
deleted with everything that is on them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from blazar.domain.availability import Availability
from blazar.domain.errors import CannotChange, CloudConflict, CloudNotFound
from blazar.domain.expressions import render
from blazar.domain.lease import Holdings, ReservationId, ResourceId
from blazar.domain.lifecycle import Phase
from blazar.domain.need import Need
from blazar.domain.quotas import QuotaUnit
from blazar.domain.requirements import Requirement
from blazar.domain.wording import first_few
from blazar.plugins.capabilities import (
    DescribesEnd,
    DescribesUse,
    ExplainsProblems,
    HasCatalogueEntry,
    HasIndependentSteps,
    HasLeftovers,
    ReleasesChosenResources,
    ReleasesWhileActive,
    RequiresProperties,
    ServesDespiteFailure,
    StatesNeed,
    ToleratesDamagedSpec,
)
from blazar.plugins.contract import (
    AllocatedResource,
    Assignment,
    Done,
    JsonObject,
    Outcome,
    Refused,
    ResourcePlugin,
    Unusable,
    Waiting,
    Wish,
)
from blazar.plugins.end_texts import EndText
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.plugins.networks.choice import choose_segments
from blazar.plugins.networks.items import Kind, NetworkItem, NetworksSeen
from blazar.plugins.networks.leftovers import NetworkLeftovers
from blazar.plugins.networks.names import network_description
from blazar.plugins.networks.observed import is_own, observe_networks
from blazar.plugins.networks.registration import RegistersSegments
from blazar.plugins.networks.segments import (
    NETWORKS,
    PUBLIC_NETWORK_FACTS,
    name_segment,
    say_in_use,
    segment_of,
)
from blazar.plugins.networks.spec import (
    NETWORK_KEYS,
    NetworkSpec,
    decode_spec,
    encode_spec,
    parse_spec,
    render_spec,
    revise_spec,
)
from blazar.plugins.networks.teardown import list_used_ports, remove_network
from blazar.plugins.neutron_tags import other_tags, reservation_tag, tags_of
from blazar.ports.cloud import Cloud
from blazar.ports.segments import SegmentNetwork, Segments
from blazar.settings import Settings

_RETRY: Final = timedelta(seconds=2)


class Networks(
    RegistersSegments,
    RequiresProperties[NetworkSpec],
    StatesNeed[NetworkSpec],
    HasCatalogueEntry,
    DescribesUse[NetworkSpec],
    DescribesEnd[NetworkSpec],
    ExplainsProblems,
    ReleasesWhileActive[NetworkSpec],
    ReleasesChosenResources[NetworkSpec],
    ServesDespiteFailure[NetworkSpec],
    HasIndependentSteps,
    ToleratesDamagedSpec[NetworkSpec],
    HasLeftovers,
):
    """The plugin."""

    resource_type: ClassVar[str] = "network"
    collection: ClassVar[str] = NETWORKS.name
    quota_unit: ClassVar[QuotaUnit] = QuotaUnit(name="network", is_whole=True)
    request_keys: ClassVar[tuple[str, ...]] = NETWORK_KEYS
    public_facts: ClassVar[frozenset[str]] = PUBLIC_NETWORK_FACTS
    problem_texts: ClassVar[Mapping[str, str]] = {
        "^network .* is being deleted": "a network is being deleted with everything that is on it",
        "is in use in Neutron": "a resource is in use outside of all reservations",
    }
    independent_ranks: ClassVar[frozenset[int]] = frozenset(Kind)
    end_texts: Sequence[EndText] = (
        EndText(
            text="The reserved networks are deleted with their subnets and ports. Your servers and routers"
            " stay, without them."
        ),
    )

    def parse(self, body: JsonObject) -> NetworkSpec:
        """Return the spec of a new reservation."""
        return parse_spec(body)

    def revise(self, spec: NetworkSpec, changes: JsonObject, *, is_active: bool) -> NetworkSpec:
        """Return the spec with the keys of an update."""
        return revise_spec(spec, changes, is_active=is_active)

    def encode(self, spec: NetworkSpec) -> JsonObject:
        """Return the spec as JSON."""
        return encode_spec(spec)

    def decode(self, stored: JsonObject) -> NetworkSpec:
        """Return the spec from its stored form."""
        return decode_spec(stored)

    def least_spec(self) -> NetworkSpec:
        """Return a spec without records: the networks are found by segment and project."""
        return NetworkSpec(network_name="unknown", has_records=False)

    def render(self, spec: NetworkSpec) -> JsonObject:
        """Return the keys that clients see."""
        return render_spec(spec)

    def describe_use(self, spec: NetworkSpec, reservation_id: ReservationId) -> JsonObject:
        """Return the networks, and the tag by which Neutron lists them."""
        return {
            "network_ids": sorted(each for each in spec.made.values() if each),
            "network_tags": [reservation_tag(reservation_id)],
        }

    def describe_end(self, spec: NetworkSpec) -> Sequence[EndText]:
        """Return that networks are deleted."""
        return self.end_texts

    def requirement(self, spec: NetworkSpec) -> Requirement:
        """Return the requirement of both expressions together."""
        return spec.requirement

    def change_requirement(self, requirement: Requirement) -> JsonObject:
        """Return both expressions, of which one is empty."""
        return {"network_properties": "", "resource_properties": render(requirement)}

    def need(self, spec: NetworkSpec) -> Need:
        """Return the number of segments."""
        return Need(least=spec.amount, most=spec.amount, requirement=spec.requirement)

    def change_need(self, units: int) -> JsonObject:
        """Return a smaller number of segments."""
        return {"amount": units}

    def reduce(self, spec: NetworkSpec, released: Sequence[AllocatedResource], left: int) -> NetworkSpec:
        """Return the spec with the remaining number of segments."""
        return replace(spec, amount=left)

    def choose(self, wish: Wish[NetworkSpec], availability: Availability) -> Holdings:
        """Return the segments that the reservation holds from now on."""
        return choose_segments(wish, availability)

    def wanted(self, assignment: Assignment[NetworkSpec], phase: Phase) -> frozenset[NetworkItem]:
        """Return a network with tags on each segment while the lease runs; otherwise nothing."""
        if phase is not Phase.RUNNING:
            return frozenset()
        return frozenset(NetworkItem(kind, each.id) for each in assignment.resources for kind in Kind)

    def observe(self, cloud: Cloud, assignment: Assignment[NetworkSpec], phase: Phase) -> NetworksSeen:
        """Return the items that exist, in one request."""
        return observe_networks(cloud.segments, assignment, phase)

    def make(
        self, cloud: Cloud, assignment: Assignment[NetworkSpec], item: NetworkItem, seen: NetworksSeen
    ) -> Outcome:
        """Create a network in the lessee's project, or set its tags."""
        if item.kind is Kind.NETWORK:
            return _make_network(cloud.segments, assignment, item, seen)
        own = seen.own.get(item.scope)
        if own is None:
            return Waiting(_RETRY, "the network does not exist yet")
        cloud.segments.set_network_tags(own.id, other_tags(own.tags) | tags_of(assignment.reservation_id))
        return Done()

    def remove(
        self, cloud: Cloud, assignment: Assignment[NetworkSpec], item: NetworkItem, seen: NetworksSeen
    ) -> Outcome:
        """Delete a network with everything that is on it."""
        own = seen.own.get(item.scope)
        # The tags are deleted with the network.
        if item.kind is Kind.TAGS or own is None:
            return Done()
        return remove_network(cloud, own.id, own.name)

    def lost(
        self, cloud: Cloud, assignment: Assignment[NetworkSpec], failed: Collection[ResourceId]
    ) -> frozenset[ResourceId]:
        """Return the failed segments without a network; an existing one serves the lessee."""
        own = self.observe(cloud, assignment, Phase.RUNNING).own
        return frozenset(each for each in failed if each not in own)

    def count_in_use(
        self, cloud: Cloud, assignment: Assignment[NetworkSpec], before: NetworkSpec
    ) -> Mapping[ResourceId, int]:
        """Return the numbers of ports if the reservation is to shrink; otherwise nothing."""
        if assignment.spec.amount >= len(assignment.resources):
            return {}
        own = self.observe(cloud, assignment, Phase.RUNNING).own
        found = {
            each.id: len(list_used_ports(cloud.segments, own[each.id].id))
            for each in assignment.resources
            if each.id in own
        }
        return {key: number for key, number in found.items() if number}

    def release(self, cloud: Cloud, assignment: Assignment[NetworkSpec], kept: Holdings) -> None:
        """Delete the networks of segments that the reservation no longer holds.

        Raises:
            CannotChange: One of them has ports; none is deleted, or only some of those without ports.
        """
        released = [each.id for each in assignment.resources if each.id not in kept]
        if not released:
            return
        own = self.observe(cloud, assignment, Phase.RUNNING).own
        existing = [own[each] for each in released if each in own]
        used = [each for each in existing if list_used_ports(cloud.segments, each.id)]
        if used:
            raise CannotChange(f"amount: networks with ports cannot be released: {_list_names(used)}")
        for each in existing:
            try:
                with suppress(CloudNotFound):
                    cloud.segments.delete_network(each.id)
            except CloudConflict as error:
                raise CannotChange(
                    f"amount: a network to be released has just come into use: {_list_names([each])}"
                ) from error

    def leftover_kinds(self, sweep: Sweep) -> tuple[LeftoverKind, ...]:
        """Return networks."""
        return (NetworkLeftovers(sweep),)


def _list_names(networks: Sequence[SegmentNetwork]) -> str:
    return first_few(sorted(f"{each.name} ({each.id})" for each in networks))


def _make_network(
    segments: Segments, assignment: Assignment[NetworkSpec], item: NetworkItem, seen: NetworksSeen
) -> Outcome:
    """Create a network, or return the obstacle."""
    if not assignment.project_id:
        return Refused("the lease has no project that could have networks")
    foreign = seen.foreign.get(item.scope)
    if foreign is not None:
        return Unusable(say_in_use(foreign))
    if assignment.spec.made.get(item.scope) != "":
        # Record first that nothing is on the segment, so that the network is recognized after a crash.
        return Waiting(timedelta(0), "the network does not exist yet")
    segment = segment_of(next(each.facts for each in assignment.resources if each.id == item.scope))
    try:
        seen.own[item.scope] = segments.create_network(
            segment,
            name=seen.names[item.scope],
            project_id=assignment.project_id,
            description=network_description(assignment.spec.network_description, assignment.reservation_id),
        )
    except CloudConflict as error:
        found = segments.find_network(segment)
        if found is None:
            return Unusable(f"Neutron refuses a network on {name_segment(segment)}: {error.message}")
        if not is_own(found, item.scope, assignment):
            return Unusable(say_in_use(found))
        seen.own[item.scope] = found
    return Done()


def make_plugin(settings: Settings, conf: object) -> Networks:
    """Return the plugin; the target of the entry point ``network.plugin``."""
    return Networks()


if TYPE_CHECKING:
    _: ResourcePlugin[NetworkSpec, NetworkItem, NetworksSeen] = Networks()
