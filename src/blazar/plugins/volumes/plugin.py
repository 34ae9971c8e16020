"""The resource plugin for ``virtual:volume``: parts of storage pools, and volumes created at the start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from blazar.domain.availability import Availability
from blazar.domain.lease import Holdings, ReservationId, ResourceId
from blazar.domain.lifecycle import Phase
from blazar.domain.quotas import QuotaUnit
from blazar.plugins.capabilities import ReadsAsLessee
from blazar.plugins.contract import Assignment, JsonObject, Outcome, ResourcePlugin, Wish
from blazar.plugins.units import RequestsUnits
from blazar.plugins.volumes.choice import choose_pools
from blazar.plugins.volumes.creating import are_due, create_volumes, places_of
from blazar.plugins.volumes.items import Kind, VolumeItem, VolumesSeen
from blazar.plugins.volumes.observed import see_created
from blazar.plugins.volumes.offered import asks_the_same, check_volumes, offered
from blazar.plugins.volumes.pool_plugin import PoolPlugin, count_used
from blazar.plugins.volumes.requested import find_parts
from blazar.plugins.volumes.settings import VolumeSettings
from blazar.plugins.volumes.spec import (
    VOLUME_KEYS,
    VolumeSpec,
    decode_spec,
    encode_spec,
    parse_spec,
    render_spec,
    revise_spec,
)
from blazar.ports.cloud import Cloud
from blazar.ports.compute import LesseeCompute
from blazar.settings import Settings


class Volumes(PoolPlugin[VolumeSpec], RequestsUnits[VolumeSpec], ReadsAsLessee[VolumeSpec]):
    """The plugin."""

    resource_type: ClassVar[str] = "virtual:volume"
    quota_unit: ClassVar[QuotaUnit] = QuotaUnit(name="volume")
    request_keys: ClassVar[tuple[str, ...]] = VOLUME_KEYS
    unit_keys: ClassVar[tuple[str, ...]] = ("gibibytes",)
    size_keys: ClassVar[str] = "gibibytes, amount"

    def parse(self, body: JsonObject) -> VolumeSpec:
        """Return the spec of a new reservation."""
        spec = parse_spec(body)
        check_volumes(spec.volumes, self._settings)
        return offered(spec, self._settings)

    def look_up(self, spec: VolumeSpec, lessee: LesseeCompute) -> VolumeSpec:
        """Return the spec of a request, whose volumes fit. Calls nothing.

        Searches for alternatives also try smaller reservations, in which the volumes need not fit.
        """
        if spec.volume_ids is None:
            find_parts(spec.volumes, spec.gibibytes, spec.amount)
        return spec

    def revise(self, spec: VolumeSpec, changes: JsonObject, *, is_active: bool) -> VolumeSpec:
        """Return the spec with the keys of an update."""
        after = revise_spec(spec, changes, is_active=is_active)
        if after.volumes == spec.volumes and asks_the_same(after, spec):
            return after
        check_volumes(after.volumes, self._settings)
        return offered(after, self._settings)

    def encode(self, spec: VolumeSpec) -> JsonObject:
        """Return the spec as JSON."""
        return encode_spec(spec)

    def decode(self, stored: JsonObject) -> VolumeSpec:
        """Return the spec from its stored form."""
        return decode_spec(stored)

    def least_spec(self) -> VolumeSpec:
        """Return the smallest spec: the items are found by the reservation's id."""
        return VolumeSpec(gibibytes=1)

    def render(self, spec: VolumeSpec) -> JsonObject:
        """Return the keys that clients see."""
        return render_spec(spec)

    def describe_use(self, spec: VolumeSpec, reservation_id: ReservationId) -> JsonObject:
        """Return the volume types with which the lessee creates volumes, and the created volumes."""
        created = [each for each in spec.volume_ids or () if each is not None]
        return {**super().describe_use(spec, reservation_id), "volumes": created}

    def choose(self, wish: Wish[VolumeSpec], availability: Availability) -> Holdings:
        """Return the pools that the reservation holds from now on, and how many parts in each."""
        return choose_pools(wish, availability)

    def wanted(self, assignment: Assignment[VolumeSpec], phase: Phase) -> frozenset[VolumeItem]:
        """Return the items of every reservation of pools, and requested volumes while the lease runs."""
        created = places_of(assignment) if phase is Phase.RUNNING and are_due(assignment) else ()
        return super().wanted(assignment, phase) | {VolumeItem(Kind.CREATED, each) for each in created}

    def observe(self, cloud: Cloud, assignment: Assignment[VolumeSpec], phase: Phase) -> VolumesSeen:
        """Return the items that exist."""
        seen = super().observe(cloud, assignment, phase)
        see_created(cloud.block_storage, assignment, phase, seen)
        return seen

    def make(
        self, cloud: Cloud, assignment: Assignment[VolumeSpec], item: VolumeItem, seen: VolumesSeen
    ) -> Outcome:
        """Make an item of every reservation of pools, or create requested volumes."""
        made = seen.types.get(item.scope)
        if item.kind is Kind.CREATED and made is not None and assignment.project_id:
            return create_volumes(cloud, assignment, item.scope, made)
        return super().make(cloud, assignment, item, seen)

    def count_in_use(
        self, cloud: Cloud, assignment: Assignment[VolumeSpec], before: VolumeSpec
    ) -> Mapping[ResourceId, int]:
        """Return the GiB in use by pool if the reservation is to shrink; otherwise nothing."""
        after = assignment.spec
        if after.gibibytes >= before.gibibytes and after.amount >= before.amount:
            return {}
        return count_used(cloud.block_storage, assignment)


def make_plugin(settings: Settings, conf: object) -> Volumes:
    """Return the plugin; the target of the entry point ``virtual.volume.plugin``."""
    return Volumes(settings.of(VolumeSettings))


if TYPE_CHECKING:
    _: ResourcePlugin[VolumeSpec, VolumeItem, VolumesSeen] = Volumes(VolumeSettings())
