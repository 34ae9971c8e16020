"""``physical:host`` as a resource plugin: which aggregate memberships should exist, and how to change one.

A host is handed over by being in the reservation's aggregate and out of the freepool. It enters the one
before it leaves the other, and returns the same way round: at no instant is it in neither, where an
ordinary server could land on it.

The aggregate's name, zone and metadata are what BlazarFilter looks at (behaviour 3.1, 5).
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from blazar.domain.availability import Availability
from blazar.domain.lease import Holdings
from blazar.domain.lifecycle import Phase
from blazar.plugins.base import Plugin
from blazar.plugins.contract import Assignment, Done, JsonObject, Outcome, ResourcePlugin, Waiting, Wish
from blazar.plugins.hosts.choice import choose_hosts
from blazar.plugins.hosts.teardown import GivingBack
from blazar.plugins.hosts.handover import RETRY, Handover
from blazar.plugins.hosts.items import HostItem, HostsSeen, Kind
from blazar.plugins.hosts.observed import Observation
from blazar.plugins.hosts.snapshots import take_snapshots
from blazar.plugins.hosts.spec import HostSpec, encode_spec, parse_spec, revise_spec
from blazar.ports.cloud import Cloud
from blazar.settings import HostSettings, Settings


class Hosts(Plugin[HostSpec]):
    """The plugin."""

    resource_type: ClassVar[str] = "physical:host"
    collection: ClassVar[str] = "host"
    independent_ranks: ClassVar[frozenset[int]] = frozenset({Kind.MEMBER, Kind.WITHDRAWN})

    def __init__(self, settings: HostSettings) -> None:
        self._settings = settings
        self._handover = Handover(settings)
        self._giving_back = GivingBack(settings)

    def parse(self, body: JsonObject) -> HostSpec:
        """Return the spec of a new reservation."""
        return parse_spec(body)

    def revise(self, spec: HostSpec, changes: JsonObject, *, is_active: bool) -> HostSpec:
        """Return the spec with the keys of an update; what is in use is for :meth:`choose` to keep."""
        return revise_spec(spec, changes)

    def encode(self, spec: HostSpec) -> JsonObject:
        """Return the spec as JSON."""
        return encode_spec(spec)

    def decode(self, stored: JsonObject) -> HostSpec:
        """Return the spec that was stored."""
        return parse_spec(stored)

    def properties_used(self, spec: HostSpec) -> frozenset[str]:
        """Return the properties that both expressions name."""
        return spec.requirement.keys

    def give_up(self, cloud: Cloud, assignment: Assignment[HostSpec], kept: Holdings) -> None:
        """Put hosts on which there are no servers back into the freepool.

        Raises:
            CannotChange: There are servers on one.
        """
        giving_up = [each for each in assignment.resources if each.id not in kept]
        if giving_up:
            self._giving_back.give_up(cloud.compute, assignment, giving_up)

    def choose(self, wish: Wish[HostSpec], availability: Availability) -> Holdings:
        """Return the hosts that the reservation is to have."""
        return choose_hosts(wish, availability)

    def wanted(self, assignment: Assignment[HostSpec], phase: Phase) -> frozenset[HostItem]:
        """Return the aggregate shortly before the start, and the hosts in it from then on."""
        if phase in (Phase.AHEAD, Phase.OVER):
            return frozenset()
        items = {HostItem(Kind.AGGREGATE), HostItem(Kind.OWNER)}
        if phase is Phase.RUNNING:
            for resource in assignment.resources:
                service_host = str(resource.facts["service_name"])
                items.add(HostItem(Kind.MEMBER, resource.id, service_host))
                items.add(HostItem(Kind.WITHDRAWN, resource.id, service_host))
        return frozenset(items)

    def observe(self, cloud: Cloud, assignment: Assignment[HostSpec], phase: Phase) -> HostsSeen:
        """Return what exists: one request, and when the reservation is over one more for each host.

        Where preemptible servers get notice, it is one more for each host shortly before the start, too.
        """
        return Observation(self._settings, cloud, assignment, phase).look()

    def make(
        self, cloud: Cloud, assignment: Assignment[HostSpec], item: HostItem, seen: HostsSeen
    ) -> Outcome:
        """Make the aggregate, complete its metadata, or take one of the two steps of handing over a host."""
        compute = cloud.compute
        match item.kind:
            case Kind.AGGREGATE:
                return self._handover.make_aggregate(compute, assignment, seen)
            case Kind.OWNER if seen.own is not None:
                return self._handover.set_owner(compute, assignment, seen.own)
            case Kind.MEMBER:
                return self._handover.add_member(compute, assignment, item, seen)
            case Kind.WITHDRAWN:
                return self._handover.withdraw(compute, item, seen)
        return Waiting(RETRY, "the aggregate does not exist yet")

    def remove(
        self, cloud: Cloud, assignment: Assignment[HostSpec], item: HostItem, seen: HostsSeen
    ) -> Outcome:
        """Delete a server, take one of the steps of giving a host back, or delete the aggregate."""
        if item.kind is Kind.UNANNOUNCED:
            return self._handover.announce(cloud.compute, assignment, item, seen)
        return self._giving_back.give_back(cloud.compute, assignment, item, seen)

    def before_end(self, cloud: Cloud, assignment: Assignment[HostSpec], due: datetime) -> Outcome:
        """Snapshot the servers on the hosts, if the spec or the site asks for it."""
        action = assignment.spec.before_end
        if action == "default":
            action = self._settings.before_end
        if action != "snapshot":
            return Done()
        return take_snapshots(cloud.compute, assignment, due, self._settings.image_prefix)


def make_plugin(settings: Settings, conf: object) -> Hosts:
    """Return the plugin; the entry point ``physical.host.plugin``."""
    return Hosts(settings.hosts)


if TYPE_CHECKING:
    _: ResourcePlugin[HostSpec, HostItem, HostsSeen] = Hosts(HostSettings())
