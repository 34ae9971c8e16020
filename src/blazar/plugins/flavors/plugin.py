"""``flavor:instance`` as a resource plugin."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from blazar.domain.errors import FlavorNotFound
from blazar.plugins.contract import JsonObject, ResourcePlugin
from blazar.plugins.flavors.demand import check_reservable
from blazar.plugins.flavors.spec import FlavorSpec, decode_spec, encode_spec, parse_spec, revise_spec
from blazar.plugins.slots.items import SlotItem, SlotsSeen
from blazar.plugins.slots.plugin import SlotPlugin
from blazar.ports.compute import LesseeCompute
from blazar.settings import HostSettings, Settings


class Flavors(SlotPlugin[FlavorSpec]):
    """The plugin."""

    resource_type: ClassVar[str] = "flavor:instance"

    def parse(self, body: JsonObject) -> FlavorSpec:
        """Return the spec of a new reservation."""
        return parse_spec(body)

    def revise(self, spec: FlavorSpec, changes: JsonObject, *, is_active: bool) -> FlavorSpec:
        """Return the spec with the keys of an update."""
        return revise_spec(spec, changes, is_active=is_active)

    def encode(self, spec: FlavorSpec) -> JsonObject:
        """Return the spec as JSON."""
        return encode_spec(spec)

    def decode(self, stored: JsonObject) -> FlavorSpec:
        """Return the spec that was stored."""
        return decode_spec(stored)

    def look_up(self, spec: FlavorSpec, lessee: LesseeCompute) -> FlavorSpec:
        """Return the spec with the source flavor as it is now; once it is known, it stays as it was.

        Raises:
            FlavorNotFound: The lessee does not see it.
            FlavorNotReservable: It has extra specs that no reservation can guarantee.
            InvalidParameter: Its extra specs make no sense, or its servers need nothing.
        """
        if spec.source is not None:
            return spec
        source = lessee.find_flavor(spec.source_id)
        if source is None:
            raise FlavorNotFound(spec.source_id)
        check_reservable(source)
        return replace(spec, source=source)


def make_plugin(settings: Settings, conf: object) -> Flavors:
    """Return the plugin; the entry point ``flavor.instance.plugin``."""
    return Flavors(settings.hosts)


if TYPE_CHECKING:
    _: ResourcePlugin[FlavorSpec, SlotItem, SlotsSeen] = Flavors(HostSettings())
