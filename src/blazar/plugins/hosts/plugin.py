"""``physical:host`` as a resource plugin: which aggregate memberships should exist, and how to change one.

A host is handed over by being in the reservation's aggregate and out of the freepool. It enters the one
before it leaves the other, and returns the same way round: at no instant is it in neither, where an
ordinary server could land on it.

The aggregate's name, zone and metadata are what BlazarFilter looks at (behaviour 3.1, 5).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

from blazar.domain.availability import Availability
from blazar.domain.errors import CloudConflict, CloudNotFound
from blazar.domain.lease import ResourceId
from blazar.domain.lifecycle import Phase
from blazar.plugins.contract import (
    Assignment,
    Done,
    JsonObject,
    Outcome,
    Refused,
    ResourcePlugin,
    Waiting,
    Wish,
)
from blazar.plugins.hosts.choice import choose_hosts
from blazar.plugins.hosts.snapshots import take_snapshots
from blazar.plugins.hosts.spec import HostSpec, encode_spec, parse_spec, revise_spec
from blazar.ports.cloud import Cloud
from blazar.ports.compute import Aggregate
from blazar.settings import HostSettings, Settings

RETRY = timedelta(seconds=2)


class Kind(IntEnum):
    """What exists for a reservation, in the order in which it is made."""

    AGGREGATE = 0
    OWNER = 1
    """The aggregate's metadata, without which the lessee may not use it."""
    MEMBER = 2
    """A host is in the aggregate."""
    WITHDRAWN = 3
    """A host in the aggregate is not in the freepool."""
    SERVER = 4
    """A server runs on a host whose reservation is over; never wanted."""


@dataclass(frozen=True, slots=True, order=True)
class HostItem:
    """One item; ``service_host`` and ``server_id`` are empty where they do not apply."""

    kind: Kind
    scope: str = ""
    service_host: str = ""
    server_id: str = ""

    @property
    def rank(self) -> int:
        """Return the place in the order of making."""
        return int(self.kind)


@dataclass(slots=True, kw_only=True)
class HostsSeen:
    """What Nova showed; a step that makes the aggregate notes its id here."""

    items: frozenset[HostItem]
    aggregate_id: int | None
    freepool_id: int | None
    deleting_servers: frozenset[str] = field(default_factory=frozenset)


class Hosts:
    """The plugin."""

    resource_type: ClassVar[str] = "physical:host"
    collection: ClassVar[str] = "host"

    def __init__(self, settings: HostSettings) -> None:
        self._settings = settings

    def parse(self, body: JsonObject) -> HostSpec:
        """Return the spec of a new reservation."""
        return parse_spec(body)

    def revise(self, spec: HostSpec, changes: JsonObject) -> HostSpec:
        """Return the spec with the keys of an update."""
        return revise_spec(spec, changes)

    def encode(self, spec: HostSpec) -> JsonObject:
        """Return the spec as JSON."""
        return encode_spec(spec)

    def decode(self, stored: JsonObject) -> HostSpec:
        """Return the spec that was stored."""
        return parse_spec(stored)

    def render(self, spec: HostSpec) -> JsonObject:
        """Return what clients see of the spec."""
        return encode_spec(spec)

    def properties_used(self, spec: HostSpec) -> frozenset[str]:
        """Return the properties that both expressions name."""
        return spec.requirement.keys

    def choose(self, wish: Wish[HostSpec], availability: Availability) -> tuple[ResourceId, ...]:
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
        """Return what exists: one request, and when the reservation is over one more for each host."""
        aggregates = {each.name: each for each in cloud.compute.list_aggregates()}
        freepool = aggregates.get(self._settings.freepool_name)
        own = aggregates.get(assignment.reservation_id)
        seen = HostsSeen(
            items=frozenset(),
            aggregate_id=own.id if own else None,
            freepool_id=freepool.id if freepool else None,
        )
        if own is None:
            return seen
        items = {HostItem(Kind.AGGREGATE)}
        if own.metadata.get(self._settings.owner_key) == assignment.project_id:
            items.add(HostItem(Kind.OWNER))
        resource_of = {str(each.facts["service_name"]): each.id for each in assignment.resources}
        for service_host in own.hosts:
            scope = resource_of.get(service_host, service_host)
            items.add(HostItem(Kind.MEMBER, scope, service_host))
            if freepool is None or service_host not in freepool.hosts:
                items.add(HostItem(Kind.WITHDRAWN, scope, service_host))
        if phase is Phase.OVER:
            ours = {name: scope for name, scope in resource_of.items() if name in own.hosts}
            self._add_servers(cloud, ours, items, seen)
        seen.items = frozenset(items)
        return seen

    def make(
        self, cloud: Cloud, assignment: Assignment[HostSpec], item: HostItem, seen: HostsSeen
    ) -> Outcome:
        """Make the aggregate, complete its metadata, or take one of the two steps of handing over a host."""
        metadata = {self._settings.owner_key: assignment.project_id}
        match item.kind:
            case Kind.AGGREGATE:
                made = self._make_aggregate(cloud, assignment, metadata)
                seen.aggregate_id = made.id if made else None
                return Done() if made else Waiting(RETRY, "the aggregate has just been made by another")
            case Kind.OWNER if seen.aggregate_id is not None:
                cloud.compute.set_aggregate_metadata(seen.aggregate_id, metadata)
                return Done()
            case Kind.MEMBER if seen.aggregate_id is not None:
                return self._add_member(cloud, seen.aggregate_id, item.service_host)
            case Kind.WITHDRAWN:
                return self._withdraw(cloud, seen.freepool_id, item.service_host)
        return Waiting(RETRY, "the aggregate does not exist yet")

    def remove(
        self, cloud: Cloud, assignment: Assignment[HostSpec], item: HostItem, seen: HostsSeen
    ) -> Outcome:
        """Delete a server, take one of the two steps of giving a host back, or delete the aggregate."""
        try:
            match item.kind:
                case Kind.SERVER:
                    if item.server_id not in seen.deleting_servers:
                        cloud.compute.delete_server(item.server_id)
                    return Waiting(RETRY, f"server {item.server_id} is being deleted")
                case Kind.WITHDRAWN:
                    return self._return_to_freepool(cloud, seen.freepool_id, item.service_host)
                case Kind.MEMBER if seen.aggregate_id is not None:
                    cloud.compute.remove_host(seen.aggregate_id, item.service_host)
                case Kind.AGGREGATE if seen.aggregate_id is not None:
                    cloud.compute.delete_aggregate(seen.aggregate_id)
        except CloudNotFound:
            return Done()
        except CloudConflict as error:
            return Waiting(RETRY, error.message)
        return Done()  # metadata goes with its aggregate

    def before_end(self, cloud: Cloud, assignment: Assignment[HostSpec], due: datetime) -> Outcome:
        """Snapshot the servers on the hosts, if the spec or the site asks for it."""
        action = assignment.spec.before_end
        if action == "default":
            action = self._settings.before_end
        if action != "snapshot":
            return Done()
        return take_snapshots(cloud.compute, assignment, due, self._settings.image_prefix)

    def _make_aggregate(
        self, cloud: Cloud, assignment: Assignment[HostSpec], metadata: dict[str, str]
    ) -> Aggregate | None:
        name = assignment.reservation_id
        zone = f"{self._settings.availability_zone_prefix}{name}"
        try:
            return cloud.compute.create_aggregate(name, zone, metadata)
        except CloudConflict:
            return None

    def _add_member(self, cloud: Cloud, aggregate_id: int, service_host: str) -> Outcome:
        try:
            cloud.compute.add_host(aggregate_id, service_host)
        except CloudNotFound:
            if cloud.compute.find_availability_zone(service_host) is None:
                return Refused(f"Nova does not know the host {service_host} any more")
            return Waiting(RETRY, "the aggregate has just been deleted by another")
        except CloudConflict as error:
            return Waiting(RETRY, f"host {service_host} cannot be handed over yet: {error.message}")
        return Done()

    def _withdraw(self, cloud: Cloud, freepool_id: int | None, service_host: str) -> Outcome:
        if freepool_id is not None:
            try:
                cloud.compute.remove_host(freepool_id, service_host)
            except CloudNotFound:
                return Done()
        return Done()

    def _return_to_freepool(self, cloud: Cloud, freepool_id: int | None, service_host: str) -> Outcome:
        if freepool_id is None:
            name = self._settings.freepool_name
            return Waiting(RETRY, f"Nova has no aggregate named {name} (the freepool)")
        try:
            # A conflict may mean that it is in there already; only what is seen next tells.
            cloud.compute.add_host(freepool_id, service_host)
        except CloudNotFound:
            if cloud.compute.find_availability_zone(service_host) is not None:
                return Waiting(RETRY, "the freepool has just been deleted by another")
        return Done()

    def _add_servers(
        self, cloud: Cloud, hosts: dict[str, ResourceId], items: set[HostItem], seen: HostsSeen
    ) -> None:
        deleting: set[str] = set()
        for service_host, scope in hosts.items():
            for server in cloud.compute.list_servers(service_host=service_host):
                items.add(HostItem(Kind.SERVER, scope, service_host, server.id))
                if server.is_deleting:
                    deleting.add(server.id)
        seen.deleting_servers = frozenset(deleting)


def make_plugin(settings: Settings) -> Hosts:
    """Return the plugin; the entry point ``physical.host.plugin``."""
    return Hosts(settings.hosts)


if TYPE_CHECKING:
    _: ResourcePlugin[HostSpec, HostItem, HostsSeen] = Hosts(HostSettings())
