"""A plugin that discovers its own resources: things on a shelf, each reserved as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from app.http_env import HttpEnv

from blazar.booking.context import Context, Plugin
from blazar.db.store import SqlStore
from blazar.domain.availability import Availability
from blazar.domain.errors import CloudError, Conflict
from blazar.domain.lease import Holdings, ReservationId
from blazar.domain.lifecycle import Phase
from blazar.domain.plugin_resources import PluginResource
from blazar.domain.quotas import QuotaUnit
from blazar.manager.build import make_indexes
from blazar.plugins.capabilities import DiscoversResources, HasLeftovers
from blazar.plugins.contract import Assignment, Done, Item, JsonObject, Outcome, ResourcePlugin, Wish
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.ports.cloud import Cloud

THING: JsonObject = {"resource_type": "thing"}
"""A reservation of one thing."""


def thing(name: str, **fields: Any) -> PluginResource:
    """Return a thing on the shelf."""
    return PluginResource(collection="shelf", name=name, **fields)


@dataclass(frozen=True)
class NothingSeen:
    items: frozenset[Item] = frozenset()
    notes: Mapping[str, object] = field(default_factory=dict)


class Things(HasLeftovers):
    """The plugin without its resources; its reservations need nothing in the cloud."""

    resource_type: ClassVar[str] = "thing"
    collection: ClassVar[str] = "shelf"
    quota_unit: ClassVar[QuotaUnit] = QuotaUnit(name="shelf")

    def __init__(self, *things: PluginResource) -> None:
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

    def render(self, spec: JsonObject) -> JsonObject:
        return spec

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

    def leftover_kinds(self, sweep: Sweep) -> tuple[LeftoverKind, ...]:
        return (LeftThings(self),)

    def stumble(self) -> None:
        if self.problem is not None:
            raise self.problem


class Shelf(Things, DiscoversResources):
    """The plugin that discovers the things."""

    def discover(self, cloud: Cloud) -> Sequence[PluginResource]:
        self.stumble()
        return tuple(self.things)


class LeftThings:
    """The things that reservations have left."""

    name: ClassVar[str] = "left"

    def __init__(self, shelf: Things) -> None:
        self._shelf = shelf

    def candidates(self) -> Mapping[str, str | None]:
        self._shelf.stumble()
        return dict(self._shelf.leftovers)

    def remove(self, name: str) -> bool:
        self._shelf.stumble()
        del self._shelf.leftovers[name]
        return True


def with_shelf(env: HttpEnv, shelf: Things, **more: Plugin) -> Context:
    """Add the shelf's plugin to the environment and return the new context."""
    context = env.context
    plugins: Any = {**context.plugins, shelf.resource_type: shelf, **more}
    store = SqlStore(env.engine, env.clock, plugins)
    indexes = make_indexes(store, env.clock, plugins)
    env.restart(replace(context, store=store, plugins=plugins, indexes=indexes))
    return env.context


def out_of_order() -> CloudError:
    """Return the error that a plugin raises when discovery fails."""
    return CloudError("the keys of the store room are lost")


if TYPE_CHECKING:
    _: ResourcePlugin[JsonObject, Item, NothingSeen] = Shelf()
