"""A plugin that finds its resources itself: things on a shelf, which are given out whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from app.world import World

from blazar.booking.context import Context
from blazar.domain.availability import Availability
from blazar.domain.errors import CloudError, Conflict
from blazar.domain.lease import Holdings, ReservationId
from blazar.domain.lifecycle import Phase
from blazar.domain.stock import StockedResource
from blazar.manager.build import make_indexes
from blazar.plugins.base import Plugin
from blazar.plugins.contract import Assignment, Done, Item, JsonObject, Outcome, ResourcePlugin, Wish
from blazar.ports.cloud import Cloud

THING: JsonObject = {"resource_type": "thing"}
"""A reservation of one."""


def thing(name: str, **fields: Any) -> StockedResource:
    """Return something on a shelf."""
    return StockedResource(collection="shelf", name=name, **fields)


@dataclass(frozen=True)
class NothingSeen:
    items: frozenset[Item] = frozenset()
    notes: Mapping[str, object] = field(default_factory=dict)


class Shelf(Plugin[JsonObject]):
    """The plugin; nothing has to be made for its reservations."""

    resource_type: ClassVar[str] = "thing"
    collection: ClassVar[str] = "shelf"

    def __init__(self, *things: StockedResource) -> None:
        self.things = list(things)
        self.leftovers: dict[str, ReservationId] = {}
        self.problem: Exception | None = None

    def parse(self, body: JsonObject) -> JsonObject:
        return {}

    def revise(self, spec: JsonObject, changes: JsonObject, *, is_active: bool) -> JsonObject:
        return spec

    def encode(self, spec: JsonObject) -> JsonObject:
        return spec

    def decode(self, stored: JsonObject) -> JsonObject:
        return stored

    def choose(self, wish: Wish[JsonObject], availability: Availability) -> Holdings:
        free = availability.free(
            wish.window, now=wish.now, cleaning_time=wish.cleaning_time, ignoring=wish.ignoring
        )
        usable = free & availability.reservable() & ~availability.mask_of(wish.excluded)
        held = availability.in_order(usable & availability.mask_of(wish.held))
        for position in (*held, *availability.in_order(usable)):
            return {availability.resource_at(position).id: None}
        raise Conflict("The shelf is empty")

    def wanted(self, assignment: Assignment[JsonObject], phase: Phase) -> frozenset[Item]:
        return frozenset()

    def observe(self, cloud: Cloud, assignment: Assignment[JsonObject], phase: Phase) -> NothingSeen:
        return NothingSeen()

    def make(
        self, cloud: Cloud, assignment: Assignment[JsonObject], item: Item, seen: NothingSeen
    ) -> Outcome:
        return Done()

    def remove(
        self, cloud: Cloud, assignment: Assignment[JsonObject], item: Item, seen: NothingSeen
    ) -> Outcome:
        return Done()

    def stock(self, cloud: Cloud) -> Sequence[StockedResource]:
        self._stumble()
        return tuple(self.things)

    def find_leftovers(self, cloud: Cloud) -> Mapping[str, ReservationId]:
        self._stumble()
        return dict(self.leftovers)

    def remove_leftover(self, cloud: Cloud, name: str) -> None:
        self._stumble()
        del self.leftovers[name]

    def _stumble(self) -> None:
        if self.problem is not None:
            raise self.problem


def with_shelf(world: World, shelf: Shelf, **more: Plugin[Any]) -> Context:
    """Have the world serve the shelf, too, and return its context."""
    context = world.context
    plugins: Any = {**context.plugins, shelf.resource_type: shelf, **more}
    indexes = make_indexes(context.store, world.clock, plugins)
    world.restart(replace(context, plugins=plugins, indexes=indexes))
    return world.context


def out_of_order() -> CloudError:
    """Return what a plugin raises that cannot look."""
    return CloudError("the keys of the store room are lost")


if TYPE_CHECKING:
    _: ResourcePlugin[JsonObject, Item, NothingSeen] = Shelf()
