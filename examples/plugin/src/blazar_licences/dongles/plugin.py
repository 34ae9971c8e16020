"""The resource plugin for ``hardware:dongle``: a lessee reserves one dongle of a product.

Operators register dongles, and hand them over by hand, so nothing exists in the cloud for a reservation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from blazar.domain.availability import Availability
from blazar.domain.collections import ResourceCollection
from blazar.domain.errors import InvalidParameter, NotEnoughResources
from blazar.domain.lease import Holdings
from blazar.domain.lifecycle import Phase
from blazar.domain.plugin_resources import PluginResource
from blazar.domain.quotas import QuotaUnit
from blazar.domain.requirements import Condition, Operator, Requirement
from blazar.plugins.capabilities import RegistersResources
from blazar.plugins.contract import Assignment, Done, Item, JsonObject, Outcome, ResourcePlugin, Wish
from blazar.ports.cloud import Cloud
from blazar.settings import Settings
from blazar_licences.dongles.collection import DONGLES


@dataclass(frozen=True, slots=True)
class DongleSpec:
    """The product for which a dongle is needed."""

    product: str


@dataclass(frozen=True, slots=True)
class NothingSeen:
    """The items of a reservation: none."""

    items: frozenset[Item] = frozenset()
    notes: Mapping[str, object] = field(default_factory=dict)


class Dongles(RegistersResources):
    """The plugin."""

    resource_type: ClassVar[str] = "hardware:dongle"
    collection: ClassVar[str] = DONGLES.name
    resource_collection: ClassVar[ResourceCollection] = DONGLES
    quota_unit: ClassVar[QuotaUnit] = QuotaUnit(name="dongle", is_whole=True)

    # Registration.

    def register(self, cloud: Cloud, body: JsonObject) -> PluginResource:
        """Return the dongle that an operator registers; its serial number is its name."""
        facts = {"product": str(body["product"]), "drawer": str(body.get("drawer", ""))}
        return PluginResource(collection=self.collection, name=str(body["serial"]), facts=facts)

    def change(self, cloud: Cloud, resource: PluginResource, body: JsonObject) -> PluginResource:
        """Return a dongle with another product or drawer."""
        changes = {key: str(value) for key, value in body.items()}
        return replace(resource, facts={**resource.facts, **changes})

    def check_removable(self, cloud: Cloud, resource: PluginResource) -> None:
        """Allow the removal of every dongle that no lease holds."""

    # Reservation.

    def parse(self, body: JsonObject) -> DongleSpec:
        """Return the spec of a new reservation."""
        product = body.get("product")
        if not isinstance(product, str) or not product:
            raise InvalidParameter("product", "must be the name of a product")
        return DongleSpec(product)

    def revise(self, spec: DongleSpec, changes: JsonObject, *, is_active: bool) -> DongleSpec:
        """Return the spec: the product is fixed."""
        if changes.get("product", spec.product) != spec.product:
            raise InvalidParameter("product", "cannot be changed")
        return spec

    def encode(self, spec: DongleSpec) -> JsonObject:
        """Return the spec as JSON."""
        return {"product": spec.product}

    def decode(self, stored: JsonObject) -> DongleSpec:
        """Return the spec from its stored form."""
        return self.parse(stored)

    def render(self, spec: DongleSpec) -> JsonObject:
        """Return the keys that clients see."""
        return self.encode(spec)

    def choose(self, wish: Wish[DongleSpec], availability: Availability) -> Holdings:
        """Return a free dongle of the product, preferably the one that the reservation holds."""
        product = Requirement((Condition("product", Operator.EQ, wish.spec.product),))
        free = availability.free(
            wish.window,
            now=wish.now,
            cleaning_time=wish.cleaning_time,
            ignoring=wish.ignoring,
            awaited=wish.awaited,
        )
        usable = free & availability.matching(product) & ~availability.mask_of(wish.excluded)
        held = usable & availability.mask_of(wish.held)
        candidates = held if held.any() else usable & availability.reservable()
        for position in availability.in_order(candidates, wish.shuffle):
            return {availability.resource_at(position).id: None}
        raise NotEnoughResources(f"Not enough dongles available: no dongle of {wish.spec.product} is free")

    def wanted(self, assignment: Assignment[DongleSpec], phase: Phase) -> frozenset[Item]:
        """Return nothing: people hand dongles over."""
        return frozenset()

    def observe(self, cloud: Cloud, assignment: Assignment[DongleSpec], phase: Phase) -> NothingSeen:
        """Return nothing."""
        return NothingSeen()

    def make(
        self, cloud: Cloud, assignment: Assignment[DongleSpec], item: Item, seen: NothingSeen
    ) -> Outcome:
        """Do nothing: there are no items."""
        return Done()

    def remove(
        self, cloud: Cloud, assignment: Assignment[DongleSpec], item: Item, seen: NothingSeen
    ) -> Outcome:
        """Do nothing: there are no items."""
        return Done()


def make_plugin(settings: Settings, conf: object) -> Dongles:
    """Return the plugin; the target of the entry point ``hardware.dongle.plugin``."""
    return Dongles()


if TYPE_CHECKING:
    _: ResourcePlugin[DongleSpec, Item, NothingSeen] = Dongles()
