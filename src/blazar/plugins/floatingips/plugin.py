"""The resource plugin for ``virtual:floatingip``.

A registered address exists in Neutron only while a reservation uses it: the floating IP is created in the
lessee's project when the lease starts, and deleted when it ends. Other floating IPs at the address are not
changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from blazar.domain.availability import Availability
from blazar.domain.errors import CannotChange, CloudConflict, CloudNotFound
from blazar.domain.lease import Holdings, ReservationId, ResourceId
from blazar.domain.lifecycle import Phase
from blazar.domain.need import Need
from blazar.domain.quotas import QuotaUnit
from blazar.domain.wording import first_few
from blazar.plugins.capabilities import (
    DescribesEnd,
    DescribesUse,
    ExplainsProblems,
    HasCatalogueEntry,
    HasLeftovers,
    ObservesUse,
    ReleasesChosenResources,
    ReleasesWhileActive,
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
    Result,
    ResultKind,
    Unusable,
    Waiting,
    Wish,
)
from blazar.plugins.end_texts import EndText
from blazar.plugins.floatingips.choice import choose_floatingips, in_network
from blazar.plugins.floatingips.items import FloatingIPItem, FloatingIPsSeen, Kind
from blazar.plugins.floatingips.leftovers import FloatingIPLeftovers
from blazar.plugins.floatingips.names import say_in_use
from blazar.plugins.floatingips.spec import (
    FLOATING_IP_KEYS,
    MADE,
    FloatingIPSpec,
    decode_spec,
    encode_spec,
    parse_spec,
    render_spec,
    revise_spec,
)
from blazar.plugins.floatingips.teardown import delete_with_uses
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.plugins.neutron_tags import other_tags, reservation_tag, tags_of
from blazar.ports.cloud import Cloud
from blazar.ports.network import FloatingIP, Networks
from blazar.settings import Settings

_RETRY = timedelta(seconds=2)


class FloatingIPs(
    StatesNeed[FloatingIPSpec],
    HasCatalogueEntry,
    DescribesUse[FloatingIPSpec],
    DescribesEnd[FloatingIPSpec],
    ExplainsProblems,
    ReleasesWhileActive[FloatingIPSpec],
    ReleasesChosenResources[FloatingIPSpec],
    ServesDespiteFailure[FloatingIPSpec],
    ObservesUse[FloatingIPSpec],
    ToleratesDamagedSpec[FloatingIPSpec],
    HasLeftovers,
):
    """The plugin."""

    resource_type: ClassVar[str] = "virtual:floatingip"
    collection: ClassVar[str] = "floatingip"
    quota_unit: ClassVar[QuotaUnit] = QuotaUnit(name="floatingip", is_whole=True)
    request_keys: ClassVar[tuple[str, ...]] = FLOATING_IP_KEYS
    public_facts: ClassVar[frozenset[str]] = frozenset({"network_id", "subnet_id"})
    problem_texts: ClassVar[Mapping[str, str]] = {
        "is in use in Neutron": "a resource is in use outside of all reservations"
    }
    end_texts: Sequence[EndText] = (
        EndText(text="The reserved floating IPs are removed from their ports and from your project."),
    )

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
        """Return the spec from its stored form."""
        return decode_spec(stored)

    def least_spec(self) -> FloatingIPSpec:
        """Return the smallest spec: the items are found by the reservation's id."""
        return FloatingIPSpec(network_id="unknown", amount=0)

    def render(self, spec: FloatingIPSpec) -> JsonObject:
        """Return the keys that clients see."""
        return render_spec(spec)

    def describe_use(self, spec: FloatingIPSpec, reservation_id: ReservationId) -> JsonObject:
        """Return the tag by which Neutron lists the addresses."""
        return {"floating_ip_tags": [reservation_tag(reservation_id)]}

    def describe_end(self, spec: FloatingIPSpec) -> Sequence[EndText]:
        """Return that floating IPs are released."""
        return self.end_texts

    def count_in_use(
        self, cloud: Cloud, assignment: Assignment[FloatingIPSpec], before: FloatingIPSpec
    ) -> Mapping[ResourceId, int]:
        """Return the floating IPs in use if the reservation is to shrink; otherwise nothing."""
        if assignment.spec.amount >= before.amount:
            return {}
        own = self.observe(cloud, assignment, Phase.RUNNING).own
        return {each.id: 1 for each in assignment.resources if each.id in own and own[each.id].is_in_use}

    def observe_use(
        self, cloud: Cloud, assignments: Sequence[Assignment[FloatingIPSpec]]
    ) -> Mapping[ReservationId, Mapping[ResourceId, int]]:
        """Return the floating IPs on ports or with port forwardings, from one list of all."""
        existing = {
            (each.floating_network_id, each.address): each
            for each in (cloud.networks.list_floating_ips() if assignments else ())
            if each.is_in_use
        }
        return {
            each.reservation_id: {
                ResourceId(scope): 1
                for scope, place in _promised(each).items()
                if place in existing and _is_own(existing[place], scope, each)
            }
            for each in assignments
        }

    def release(self, cloud: Cloud, assignment: Assignment[FloatingIPSpec], kept: Holdings) -> None:
        """Delete the floating IPs that the reservation no longer holds.

        Raises:
            CannotChange: One of them is on a port or has port forwardings; none is deleted.
        """
        released = [each.id for each in assignment.resources if each.id not in kept]
        if not released:
            return
        own = self.observe(cloud, assignment, Phase.RUNNING).own
        existing = [own[each] for each in released if each in own]
        used = sorted(each.address for each in existing if each.is_in_use)
        if used:
            raise CannotChange(
                "amount: floating IPs on ports or with port forwardings cannot be released: "
                f"{first_few(used)}"
            )
        for each in existing:
            with suppress(CloudNotFound):
                cloud.networks.delete_floating_ip(each.id)

    def need(self, spec: FloatingIPSpec) -> Need:
        """Return the number of addresses in the network; which ones are required is left to the choice."""
        return Need(least=spec.amount, most=spec.amount, requirement=in_network(spec.network_id))

    def change_need(self, units: int) -> JsonObject:
        """Return a smaller number of addresses."""
        return {"amount": units}

    def reduce(
        self, spec: FloatingIPSpec, released: Sequence[AllocatedResource], left: int
    ) -> FloatingIPSpec:
        """Return the spec with the remaining number of addresses; a released one is no longer required."""
        addresses = {str(each.facts["address"]) for each in released}
        required = tuple(each for each in spec.required if each not in addresses)
        return replace(spec, amount=left, required=required)

    def choose(self, wish: Wish[FloatingIPSpec], availability: Availability) -> Holdings:
        """Return the floating IPs that the reservation holds from now on."""
        return choose_floatingips(wish, availability)

    def wanted(self, assignment: Assignment[FloatingIPSpec], phase: Phase) -> frozenset[FloatingIPItem]:
        """Return each address and its tags while the lease runs; otherwise nothing."""
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
        """Return the failed resources without a floating IP; an existing one serves the lessee."""
        own = self.observe(cloud, assignment, Phase.RUNNING).own
        return frozenset(each for each in failed if each not in own)

    def leftover_kinds(self, sweep: Sweep) -> tuple[LeftoverKind, ...]:
        """Return floating IPs."""
        return (FloatingIPLeftovers(sweep),)

    def observe(self, cloud: Cloud, assignment: Assignment[FloatingIPSpec], phase: Phase) -> FloatingIPsSeen:
        """Return the floating IPs at the reservation's addresses, in one or more requests.

        A reservation that has not begun owns none of them.
        """
        scopes = {place: scope for scope, place in _promised(assignment).items()}
        if not scopes or not assignment.has_begun:
            return FloatingIPsSeen()
        awaited = {each.id for each in assignment.resources if each.is_awaited}
        own: dict[str, FloatingIP] = {}
        foreign: dict[str, FloatingIP] = {}
        addresses = {address for _, address in scopes}
        network_id = assignment.spec.network_id
        for each in cloud.networks.list_floating_ips(network_id=network_id, addresses=addresses):
            scope = scopes[each.floating_network_id, each.address]
            is_own = _is_own(each, scope, assignment) and scope not in awaited
            (own if is_own else foreign)[scope] = each
        items = frozenset(_items(own, assignment))
        made = {scope: each.id for scope, each in own.items()} if phase is Phase.RUNNING else {}
        notes = {MADE: made} if phase is Phase.RUNNING and made != assignment.spec.made else {}
        return FloatingIPsSeen(items=items, own=own, foreign=foreign, notes=notes)

    def make(
        self,
        cloud: Cloud,
        assignment: Assignment[FloatingIPSpec],
        item: FloatingIPItem,
        seen: FloatingIPsSeen,
    ) -> Outcome:
        """Create a floating IP in the lessee's project, or set its tags."""
        if item.kind is Kind.ADDRESS:
            return _make_address(cloud.networks, assignment, item, seen)
        own = seen.own.get(item.scope)
        if own is None:
            return Waiting(_RETRY, f"the floating IP {item.address} does not exist yet")
        tags = other_tags(own.tags) | tags_of(assignment.reservation_id)
        cloud.networks.set_floating_ip_tags(own.id, tags)
        return Done()

    def remove(
        self,
        cloud: Cloud,
        assignment: Assignment[FloatingIPSpec],
        item: FloatingIPItem,
        seen: FloatingIPsSeen,
    ) -> Outcome:
        """Delete a floating IP, also one that is in use."""
        own = seen.own.get(item.scope)
        # The tags are deleted with the floating IP.
        if item.kind is Kind.TAGS or own is None:
            return Done()
        try:
            delete_with_uses(cloud.networks, own)
        except CloudNotFound:
            return Done()
        return Done((Result(ResultKind.RELEASED, f"floating IP {own.address}"),))


def _promised(assignment: Assignment[FloatingIPSpec]) -> Mapping[str, tuple[str, str]]:
    """Return network and address by resource."""
    return {
        each.id: (str(each.facts["network_id"]), str(each.facts["address"])) for each in assignment.resources
    }


def _is_own(found: FloatingIP, scope: str, assignment: Assignment[FloatingIPSpec]) -> bool:
    """Return whether a floating IP at an address of a reservation was created for the reservation.

    If an id is recorded, only the floating IP with this id was. Otherwise, it may have been created just
    before.
    """
    if found.project_id != assignment.project_id:
        return False
    return assignment.spec.made.get(scope, found.id) == found.id


def _items(own: Mapping[str, FloatingIP], assignment: Assignment[FloatingIPSpec]) -> Iterator[FloatingIPItem]:
    tags = tags_of(assignment.reservation_id)
    for scope, each in own.items():
        yield FloatingIPItem(Kind.ADDRESS, scope, each.floating_network_id, each.address)
        if each.tags - other_tags(each.tags) == tags:
            yield FloatingIPItem(Kind.TAGS, scope, each.floating_network_id, each.address)


def _find_obstacle(
    assignment: Assignment[FloatingIPSpec], item: FloatingIPItem, seen: FloatingIPsSeen
) -> Outcome | None:
    """Return the reason that a floating IP cannot be created now, if no request is needed to find it."""
    if not assignment.project_id:
        return Refused("the lease has no project in which a floating IP can be created")
    foreign = seen.foreign.get(item.scope)
    if foreign is not None:
        return _taken(foreign)
    if item.scope in assignment.spec.made:
        # Record first that the earlier floating IP is gone, so that the new one is recognized after a crash.
        return Waiting(timedelta(0), f"the floating IP {item.address} has been deleted")
    return None


def _make_address(
    networks: Networks,
    assignment: Assignment[FloatingIPSpec],
    item: FloatingIPItem,
    seen: FloatingIPsSeen,
) -> Outcome:
    """Create a floating IP, or return the obstacle."""
    obstacle = _find_obstacle(assignment, item, seen)
    if obstacle is not None:
        return obstacle
    subnet_id = next(str(each.facts["subnet_id"]) for each in assignment.resources if each.id == item.scope)
    try:
        seen.own[item.scope] = networks.create_floating_ip(
            item.network_id,
            subnet_id,
            item.address,
            assignment.project_id,
            description=reservation_tag(assignment.reservation_id),
        )
    except CloudConflict as error:
        for each in networks.list_floating_ips(network_id=item.network_id, addresses=[item.address]):
            if not _is_own(each, item.scope, assignment):
                return _taken(each)
            seen.own[item.scope] = each
            return Done()
        return Unusable(f"Neutron refuses to allocate {item.address}: {error.message}")
    except CloudNotFound as error:
        if all(each.id != subnet_id for each in networks.list_subnets(item.network_id)):
            return Unusable(f"Neutron no longer has subnet {subnet_id}", is_final=True)
        return Waiting(_RETRY, error.message)
    return Done()


def _taken(found: FloatingIP) -> Unusable:
    return Unusable(say_in_use(found))


def make_plugin(settings: Settings, conf: object) -> FloatingIPs:
    """Return the plugin; the target of the entry point ``virtual.floatingip.plugin``."""
    return FloatingIPs()


if TYPE_CHECKING:
    _: ResourcePlugin[FloatingIPSpec, FloatingIPItem, FloatingIPsSeen] = FloatingIPs()
