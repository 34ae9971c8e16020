"""The resource plugin for ``virtual:instance``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from blazar.plugins.capabilities import ToleratesDamagedSpec
from blazar.plugins.contract import JsonObject, ResourcePlugin
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.instances.spec import (
    INSTANCE_KEYS,
    InstanceSpec,
    decode_spec,
    encode_spec,
    parse_spec,
    revise_spec,
)
from blazar.plugins.slots.items import SlotItem, SlotsSeen
from blazar.plugins.slots.plugin import SlotPlugin
from blazar.settings import Settings


class Instances(SlotPlugin[InstanceSpec], ToleratesDamagedSpec[InstanceSpec]):
    """The plugin."""

    resource_type: ClassVar[str] = "virtual:instance"
    request_keys: ClassVar[tuple[str, ...]] = INSTANCE_KEYS
    unit_keys: ClassVar[tuple[str, ...]] = ("vcpus", "memory_mb", "disk_gb")

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
        """Return the spec from its stored form."""
        return decode_spec(stored)

    def least_spec(self) -> InstanceSpec:
        """Return the smallest spec: the items are found by the reservation's id."""
        return InstanceSpec(amount=1, affinity=None, vcpus=1, memory_mb=1, disk_gb=0, resource_properties="")


def make_plugin(settings: Settings, conf: object) -> Instances:
    """Return the plugin; the target of the entry point ``virtual.instance.plugin``."""
    return Instances(settings.of(HostSettings))


if TYPE_CHECKING:
    _: ResourcePlugin[InstanceSpec, SlotItem, SlotsSeen] = Instances(HostSettings())
