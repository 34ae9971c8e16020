"""``virtual:floatingip`` as a resource plugin: which floating IPs should exist, and how one comes and goes.

A registered address exists in Neutron only while a reservation has it: it is made in the lessee's project
when the lease starts, and deleted when it ends. Whatever else is found at the address is left alone
(behaviour 12, 32).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from blazar.domain.availability import Availability
from blazar.domain.errors import CannotChange, CloudConflict, CloudNotFound
from blazar.domain.lease import Holdings, ResourceId
from blazar.domain.lifecycle import Phase
from blazar.plugins.base import Plugin
from blazar.plugins.contract import (
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
from blazar.plugins.floatingips.choice import choose_floatingips
from blazar.plugins.floatingips.items import FloatingIPItem, FloatingIPsSeen, Kind
from blazar.plugins.floatingips.names import is_of_reservation, reservation_tag, say_in_use, tags_of
from blazar.plugins.floatingips.spec import FloatingIPSpec, encode_spec, parse_spec, revise_spec
from blazar.ports.cloud import Cloud
from blazar.ports.network import FloatingIP, Networks
from blazar.settings import Settings

_RETRY = timedelta(seconds=2)


class FloatingIPs(Plugin[FloatingIPSpec]):
    """The plugin."""

    resource_type: ClassVar[str] = "virtual:floatingip"
    collection: ClassVar[str] = "floatingip"

    def parse(self, body: JsonObject) -> FloatingIPSpec:
        """Return the spec of a new reservation."""
        return parse_spec(body)

    def revise(self, spec: FloatingIPSpec, changes: JsonObject, *, is_active: bool) -> FloatingIPSpec:
        """Return the spec with the keys of an update."""
        return revise_spec(spec, changes, is_active=is_active)

    def encode(self, spec: FloatingIPSpec) -> JsonObject:
        """Return the spec as JSON."""
        return encode_spec(spec)

    def decode(self, stored: JsonObject) -> FloatingIPSpec:
        """Return the spec that was stored."""
        return parse_spec(stored)

    def give_up(self, cloud: Cloud, assignment: Assignment[FloatingIPSpec], kept: Holdings) -> None:
        """Do nothing but look: only what is lost is ever given up, and of that nothing exists.

        Raises:
            CannotChange: It exists after all.
        """
        giving_up = [each.id for each in assignment.resources if each.id not in kept]
        if not giving_up:
            return
        own = self.observe(cloud, assignment, Phase.RUNNING).own
        existing = [own[each].address for each in giving_up if each in own]
        if existing:
            raise CannotChange(f"the lessee has what would have to be given up: {', '.join(existing)}")

    def choose(self, wish: Wish[FloatingIPSpec], availability: Availability) -> Holdings:
        """Return the floating IPs that the reservation is to have."""
        return choose_floatingips(wish, availability)

    def wanted(self, assignment: Assignment[FloatingIPSpec], phase: Phase) -> frozenset[FloatingIPItem]:
        """Return every address, with its tags, while the lease runs."""
        if phase is not Phase.RUNNING:
            return frozenset()
        return frozenset(
            FloatingIPItem(kind, scope, network_id, address)
            for scope, (network_id, address) in _promised(assignment).items()
            for kind in Kind
        )

    def lost(
        self, cloud: Cloud, assignment: Assignment[FloatingIPSpec], failed: Collection[ResourceId]
    ) -> frozenset[ResourceId]:
        """Return those that do not exist: an address that does serves the lessee, whatever is said of it."""
        own = self.observe(cloud, assignment, Phase.RUNNING).own
        return frozenset(each for each in failed if each not in own)

    def observe(self, cloud: Cloud, assignment: Assignment[FloatingIPSpec], phase: Phase) -> FloatingIPsSeen:
        """Return what exists: one request, and one more where a promised address was not found by that.

        What bears no tag is the reservation's only at an address that it holds, and once it has begun:
        before, it has made nothing.
        """
        promised = _promised(assignment)
        scopes = {place: scope for scope, place in promised.items()}
        tag = reservation_tag(assignment.reservation_id)
        own = {
            scopes.get((each.floating_network_id, each.address), each.id): each
            for each in cloud.networks.list_floating_ips(tags=frozenset({tag}))
            if each.project_id == assignment.project_id
        }
        foreign: dict[str, FloatingIP] = {}
        missing = {place[1] for scope, place in promised.items() if scope not in own}
        if missing and assignment.now >= assignment.window.start:
            network_id = assignment.spec.network_id
            for each in cloud.networks.list_floating_ips(network_id=network_id, addresses=missing):
                scope = scopes[each.floating_network_id, each.address]
                (own if _is_own(each, assignment) else foreign)[scope] = each
        items = frozenset(_items(own, assignment))
        return FloatingIPsSeen(items=items, own=own, foreign=foreign)

    def make(
        self,
        cloud: Cloud,
        assignment: Assignment[FloatingIPSpec],
        item: FloatingIPItem,
        seen: FloatingIPsSeen,
    ) -> Outcome:
        """Make a floating IP in the lessee's project, or tag it."""
        if item.kind is Kind.ADDRESS:
            return _make_address(cloud.networks, assignment, item, seen)
        own = seen.own.get(item.scope)
        if own is None:
            return Waiting(_RETRY, f"the floating IP {item.address} does not exist yet")
        tags = own.tags | tags_of(assignment.reservation_id)
        cloud.networks.set_floating_ip_tags(own.id, tags)
        return Done()

    def remove(
        self,
        cloud: Cloud,
        assignment: Assignment[FloatingIPSpec],
        item: FloatingIPItem,
        seen: FloatingIPsSeen,
    ) -> Outcome:
        """Take a floating IP off its port and delete it."""
        own = seen.own.get(item.scope)
        # The tags go with it: without them nobody could tell whose it is.
        if item.kind is Kind.TAGS or own is None:
            return Done()
        try:
            if own.port_id is not None:
                cloud.networks.detach_floating_ip(own.id)
            cloud.networks.delete_floating_ip(own.id)
        except CloudNotFound:
            return Done()
        return Done()


def _promised(assignment: Assignment[FloatingIPSpec]) -> Mapping[str, tuple[str, str]]:
    """Return network and address of each resource."""
    return {
        each.id: (str(each.facts["network_id"]), str(each.facts["address"])) for each in assignment.resources
    }


def _is_own(found: FloatingIP, assignment: Assignment[FloatingIPSpec]) -> bool:
    return is_of_reservation(found, assignment.reservation_id, assignment.project_id)


def _items(own: Mapping[str, FloatingIP], assignment: Assignment[FloatingIPSpec]) -> Iterator[FloatingIPItem]:
    tags = tags_of(assignment.reservation_id)
    for scope, each in own.items():
        yield FloatingIPItem(Kind.ADDRESS, scope, each.floating_network_id, each.address)
        if tags <= each.tags:
            yield FloatingIPItem(Kind.TAGS, scope, each.floating_network_id, each.address)


def _make_address(
    networks: Networks,
    assignment: Assignment[FloatingIPSpec],
    item: FloatingIPItem,
    seen: FloatingIPsSeen,
) -> Outcome:
    """Make a floating IP, or find out what is in the way."""
    if not assignment.project_id:
        return Refused("the lease belongs to no project, in which a floating IP could be made")
    foreign = seen.foreign.get(item.scope)
    if foreign is not None:
        return _taken(foreign)
    subnet_id = next(str(each.facts["subnet_id"]) for each in assignment.resources if each.id == item.scope)
    try:
        seen.own[item.scope] = networks.create_floating_ip(
            item.network_id, subnet_id, item.address, assignment.project_id
        )
    except CloudConflict as error:
        for each in networks.list_floating_ips(network_id=item.network_id, addresses=[item.address]):
            if not _is_own(each, assignment):
                return _taken(each)
            seen.own[item.scope] = each
            return Done()
        return Unusable(f"Neutron does not give out {item.address}: {error.message}")
    except CloudNotFound as error:
        if all(each.id != subnet_id for each in networks.list_subnets(item.network_id)):
            return Unusable(f"Neutron does not know subnet {subnet_id} any more", is_final=True)
        return Waiting(_RETRY, error.message)
    return Done()


def _taken(found: FloatingIP) -> Unusable:
    return Unusable(say_in_use(found))


def make_plugin(settings: Settings, conf: object) -> FloatingIPs:
    """Return the plugin; the entry point ``virtual.floatingip.plugin``."""
    return FloatingIPs()


if TYPE_CHECKING:
    _: ResourcePlugin[FloatingIPSpec, FloatingIPItem, FloatingIPsSeen] = FloatingIPs()
