"""The resource plugin for ``flavor:instance``."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from blazar.domain.errors import BadRequest, Conflict
from blazar.plugins.capabilities import ListsChoices, ReadsAsLessee, ToleratesDamagedSpec
from blazar.plugins.contract import JsonObject, ResourcePlugin
from blazar.plugins.flavors.demand import check_reservable
from blazar.plugins.flavors.errors import FlavorNotFound, FlavorNotReservable
from blazar.plugins.flavors.extra_specs import PCI_ALIAS
from blazar.plugins.flavors.pci import PciAlias, list_devices, parse_aliases
from blazar.plugins.flavors.settings import FlavorSettings
from blazar.plugins.flavors.spec import (
    FLAVOR_KEYS,
    FlavorSpec,
    decode_spec,
    encode_spec,
    parse_spec,
    revise_spec,
)
from blazar.plugins.hosts.settings import HostSettings
from blazar.plugins.slots.inventories import NewTurn
from blazar.plugins.slots.items import SlotItem, SlotsSeen
from blazar.plugins.slots.plugin import SlotPlugin
from blazar.ports.compute import Flavor, LesseeCompute
from blazar.settings import Settings


class Flavors(
    SlotPlugin[FlavorSpec], ReadsAsLessee[FlavorSpec], ListsChoices, ToleratesDamagedSpec[FlavorSpec]
):
    """The plugin."""

    resource_type: ClassVar[str] = "flavor:instance"
    request_keys: ClassVar[tuple[str, ...]] = FLAVOR_KEYS
    unit_keys: ClassVar[tuple[str, ...]] = ("flavor_id",)

    def __init__(
        self,
        settings: HostSettings,
        new_turn: NewTurn = threading.Lock,
        *,
        aliases: Mapping[str, PciAlias] | None = None,
        refuses_unguaranteed: bool = False,
    ) -> None:
        """Create the plugin.

        Args:
            settings: The names that the site uses in Nova.
            new_turn: As for :class:`~blazar.plugins.slots.inventories.SlotInventories`.
            aliases: PCI aliases that Nova counts in Placement, by name; None for none.
            refuses_unguaranteed: Refuse flavors with extra specs that a reservation cannot guarantee.
        """
        super().__init__(settings, new_turn)
        self._aliases = aliases or {}
        self._refuses_unguaranteed = refuses_unguaranteed

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
        """Return the spec from its stored form."""
        return decode_spec(stored)

    def least_spec(self) -> FlavorSpec:
        """Return the smallest spec: the items are found by the reservation's id."""
        source = Flavor(id="unknown", name="unknown", vcpus=1, memory_mb=1, disk_gb=0, is_public=True)
        return FlavorSpec(amount=1, affinity=None, source_id=source.id, source=source)

    def look_up(self, spec: FlavorSpec, lessee: LesseeCompute) -> FlavorSpec:
        """Return the spec with the source flavor as it is now; a source that was read before is kept.

        Raises:
            FlavorNotFound: The lessee cannot see the flavor.
            FlavorNotReservable: It has extra specs that only this service may set; or it has some that a
                reservation cannot guarantee, and the site refuses those.
            InvalidParameter: An extra spec is invalid, or its servers need no resources.
        """
        if spec.source is not None:
            return spec
        source = lessee.find_flavor(spec.source_id)
        if source is None:
            raise FlavorNotFound(spec.source_id)
        return self._with_source(spec, source)

    def list_choices(self, lessee: LesseeCompute) -> Mapping[str, Sequence[JsonObject]]:
        """Return the flavors for which the lessee can reserve."""
        return {"flavor_id": [_choice(each) for each in lessee.list_flavors() if self._can_serve(each)]}

    def _can_serve(self, source: Flavor) -> bool:
        spec = FlavorSpec(amount=1, affinity=None, source_id=source.id)
        with suppress(BadRequest, Conflict):
            self._with_source(spec, source)
            return True
        return False

    def _with_source(self, spec: FlavorSpec, source: Flavor) -> FlavorSpec:
        check_reservable(source)
        devices = list_devices(source.extra_specs.get(PCI_ALIAS, ""), self._aliases) or ()
        spec = replace(spec, source=source, devices=devices)
        if self._refuses_unguaranteed and spec.unguaranteed:
            raise FlavorNotReservable(source.id, "a reservation cannot guarantee", spec.unguaranteed)
        return spec


def _choice(flavor: Flavor) -> JsonObject:
    return {
        "id": flavor.id,
        "name": flavor.name,
        "vcpus": flavor.vcpus,
        "memory_mb": flavor.memory_mb,
        "disk_gb": flavor.disk_gb,
    }


def make_plugin(settings: Settings, conf: object) -> Flavors:
    """Return the plugin; the target of the entry point ``flavor.instance.plugin``.

    Raises:
        ValueError: A configured PCI alias is invalid.
    """
    own = settings.of(FlavorSettings)
    try:
        aliases = parse_aliases(own.pci_aliases)
    except ValueError as error:
        raise ValueError(f"[flavor:instance] pci_alias: {error}") from error
    return Flavors(
        settings.of(HostSettings),
        aliases=aliases,
        refuses_unguaranteed=own.refuses_unguaranteed,
    )


if TYPE_CHECKING:
    _: ResourcePlugin[FlavorSpec, SlotItem, SlotsSeen] = Flavors(HostSettings())
