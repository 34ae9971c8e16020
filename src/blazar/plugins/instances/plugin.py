"""``virtual:instance`` as a resource plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from blazar.plugins.contract import JsonObject, ResourcePlugin
from blazar.plugins.instances.spec import InstanceSpec, decode_spec, encode_spec, parse_spec, revise_spec
from blazar.plugins.slots.items import SlotItem, SlotsSeen
from blazar.plugins.slots.plugin import SlotPlugin
from blazar.settings import HostSettings, Settings


class Instances(SlotPlugin[InstanceSpec]):
    """The plugin."""

    resource_type: ClassVar[str] = "virtual:instance"

    def parse(self, body: JsonObject) -> InstanceSpec:
        """Return the spec of a new reservation."""
        return parse_spec(body)

    def revise(self, spec: InstanceSpec, changes: JsonObject, *, is_active: bool) -> InstanceSpec:
        """Return the spec with the keys of an update."""
        return revise_spec(spec, changes, is_active=is_active)

    def encode(self, spec: InstanceSpec) -> JsonObject:
        """Return the spec as JSON."""
        return encode_spec(spec)

    def decode(self, stored: JsonObject) -> InstanceSpec:
        """Return the spec that was stored."""
        return decode_spec(stored)


def make_plugin(settings: Settings, conf: object) -> Instances:
    """Return the plugin; the entry point ``virtual.instance.plugin``."""
    return Instances(settings.hosts)


if TYPE_CHECKING:
    _: ResourcePlugin[InstanceSpec, SlotItem, SlotsSeen] = Instances(HostSettings())
