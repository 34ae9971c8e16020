"""The resource plugin for ``virtual:volume``.

While a reservation is active, its project has a private volume type for each of its pools, pinned to the
pool, with a quota of exactly the reserved room. At the end, the type is deleted with all its volumes, unless
they are to be kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from blazar.domain.availability import Availability
from blazar.domain.errors import CannotChange, CloudConflict, CloudNotFound
from blazar.domain.interval import Interval
from blazar.domain.lease import Holdings, ReservationId, ResourceId
from blazar.domain.lifecycle import Phase
from blazar.domain.quotas import QuotaUnit
from blazar.plugins.capabilities import (
    ActsBeforeEnd,
    CleansUp,
    DescribesUse,
    HasCatalogueEntry,
    HasIndependentSteps,
    HasLeftovers,
    HoldsAfterEnd,
    ReadsAsLessee,
    ReleasesWhileActive,
    ServesDespiteFailure,
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
    Waiting,
    Wish,
)
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.plugins.units import RequestsUnits
from blazar.plugins.volumes.choice import choose_pools
from blazar.plugins.volumes.copying import copy_volumes
from blazar.plugins.volumes.creating import are_due, create_volumes, places_of
from blazar.plugins.volumes.freezing import freeze_volumes
from blazar.plugins.volumes.items import Kind, VolumeItem, VolumesSeen
from blazar.plugins.volumes.leftovers import VolumeTypeLeftovers
from blazar.plugins.volumes.names import extra_specs, type_name
from blazar.plugins.volumes.observed import find_types, observe_volumes
from blazar.plugins.volumes.offered import asks_the_same, offered
from blazar.plugins.volumes.pools import PUBLIC_POOL_FACTS, STORAGE_POOLS
from blazar.plugins.volumes.registration import RegistersPools
from blazar.plugins.volumes.requested import find_parts
from blazar.plugins.volumes.retaining import check_movable, move_volumes
from blazar.plugins.volumes.settings import VolumeSettings
from blazar.plugins.volumes.spec import (
    VOLUME_KEYS,
    EndAction,
    VolumeSpec,
    decode_spec,
    encode_spec,
    parse_spec,
    render_spec,
    revise_spec,
)
from blazar.plugins.volumes.teardown import remove_type, remove_volumes
from blazar.ports.block_storage import BlockStorage, VolumeType
from blazar.ports.cloud import Cloud
from blazar.ports.compute import LesseeCompute
from blazar.settings import Settings

_RETRY: Final = timedelta(seconds=2)


class Volumes(
    RegistersPools,
    RequestsUnits[VolumeSpec],
    HasCatalogueEntry,
    DescribesUse[VolumeSpec],
    ReadsAsLessee[VolumeSpec],
    ReleasesWhileActive[VolumeSpec],
    HoldsAfterEnd[VolumeSpec],
    ServesDespiteFailure[VolumeSpec],
    HasIndependentSteps,
    CleansUp,
    ActsBeforeEnd[VolumeSpec],
    ToleratesDamagedSpec[VolumeSpec],
    HasLeftovers,
):
    """The plugin."""

    resource_type: ClassVar[str] = "virtual:volume"
    collection: ClassVar[str] = STORAGE_POOLS.name
    quota_unit: ClassVar[QuotaUnit] = QuotaUnit(name="volume")
    request_keys: ClassVar[tuple[str, ...]] = VOLUME_KEYS
    unit_keys: ClassVar[tuple[str, ...]] = ("gibibytes",)
    public_facts: ClassVar[frozenset[str]] = PUBLIC_POOL_FACTS
    independent_ranks: ClassVar[frozenset[int]] = frozenset(Kind)
    clean_up_ranks: ClassVar[frozenset[int]] = frozenset({Kind.VOLUMES})

    def __init__(self, settings: VolumeSettings) -> None:
        self._settings = settings

    def parse(self, body: JsonObject) -> VolumeSpec:
        """Return the spec of a new reservation."""
        return offered(parse_spec(body), self._settings)

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
        return after if asks_the_same(after, spec) else offered(after, self._settings)

    def hold_after_end(self, spec: VolumeSpec) -> timedelta:
        """Return the grace period of frozen volumes."""
        return spec.grace

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
        return {"volume_types": sorted(spec.made.values()), "volumes": created}

    def choose(self, wish: Wish[VolumeSpec], availability: Availability) -> Holdings:
        """Return the pools that the reservation holds from now on, and how many parts in each."""
        return choose_pools(wish, availability)

    def wanted(self, assignment: Assignment[VolumeSpec], phase: Phase) -> frozenset[VolumeItem]:
        """Return types with quotas from shortly before the start, and access to them while the lease runs."""
        if phase not in (Phase.PREPARING, Phase.RUNNING):
            return frozenset()
        kinds = {Kind.TYPE} if phase is Phase.PREPARING else {Kind.TYPE, Kind.ACCESS}
        created = places_of(assignment) if phase is Phase.RUNNING and are_due(assignment) else ()
        return frozenset(VolumeItem(Kind.CREATED, each) for each in created) | frozenset(
            item
            for each in assignment.resources
            for item in (
                *(VolumeItem(kind, each.id) for kind in kinds),
                VolumeItem(Kind.QUOTA, each.id, _reserved(each)),
            )
        )

    def observe(self, cloud: Cloud, assignment: Assignment[VolumeSpec], phase: Phase) -> VolumesSeen:
        """Return the items that exist."""
        target = self._settings.retain_volume_type
        return observe_volumes(cloud.block_storage, assignment, phase, target)

    def make(
        self, cloud: Cloud, assignment: Assignment[VolumeSpec], item: VolumeItem, seen: VolumesSeen
    ) -> Outcome:
        """Create a volume type, set its quota, allow the project to use it, or create requested volumes."""
        if not assignment.project_id:
            return Refused("the lease has no project that could have volumes")
        if item.kind is Kind.TYPE:
            return _make_type(cloud.block_storage, assignment, item, seen)
        made = seen.types.get(item.scope)
        if made is None:
            return Waiting(_RETRY, "the volume type does not exist yet")
        if item.kind is Kind.CREATED:
            return create_volumes(cloud, assignment, item.scope, made)
        try:
            if item.kind is Kind.QUOTA:
                cloud.block_storage.set_quota(assignment.project_id, made.name, item.gibibytes)
            else:
                cloud.block_storage.add_type_access(made.id, assignment.project_id)
        except CloudConflict as error:
            # The project has access already; but a quota that is refused is not set.
            return Done() if item.kind is Kind.ACCESS else Waiting(_RETRY, error.message)
        except CloudNotFound as error:
            return Waiting(_RETRY, error.message)
        return Done()

    def remove(
        self, cloud: Cloud, assignment: Assignment[VolumeSpec], item: VolumeItem, seen: VolumesSeen
    ) -> Outcome:
        """Withdraw the access, delete, move or keep volumes, or delete the type with its quota."""
        found = seen.types.get(item.scope)
        # Another quota replaces this one, or it is deleted with the type. Volumes are another item.
        if item.kind in (Kind.QUOTA, Kind.CREATED) or found is None:
            return Done()
        if item.kind is Kind.VOLUMES:
            return _clear(cloud, assignment, found, seen)
        if item.kind is Kind.TYPE:
            return remove_type(cloud, found.id)
        with suppress(CloudNotFound):
            cloud.block_storage.remove_type_access(found.id, assignment.project_id)
        return Done()

    def lost(
        self, cloud: Cloud, assignment: Assignment[VolumeSpec], failed: Collection[ResourceId]
    ) -> frozenset[ResourceId]:
        """Return the failed pools without a volume type; volumes in others may still serve the lessee."""
        if not failed:
            return frozenset()
        types = find_types(cloud.block_storage, assignment.reservation_id)
        return frozenset(each for each in failed if each not in types)

    def count_in_use(
        self, cloud: Cloud, assignment: Assignment[VolumeSpec], before: VolumeSpec
    ) -> Mapping[ResourceId, int]:
        """Return the GiB in use by pool if the reservation is to shrink; otherwise nothing."""
        after = assignment.spec
        if after.gibibytes >= before.gibibytes and after.amount >= before.amount:
            return {}
        return _count_used(cloud.block_storage, assignment)

    def release(self, cloud: Cloud, assignment: Assignment[VolumeSpec], kept: Holdings) -> None:
        """Lower the quotas to what the reservation holds from now on.

        Raises:
            CannotChange: More is in use.
        """
        storage = cloud.block_storage
        shrinking = {
            each.id: size for each in assignment.resources if (size := _size(kept, each.id)) < _reserved(each)
        }
        if not shrinking:
            return
        used = _count_used(storage, assignment)
        for resource_id, size in shrinking.items():
            if used.get(resource_id, 0) > size:
                raise CannotChange(f"gibibytes, amount: {used[resource_id]} GiB are in use in one pool")
        for resource_id, size in shrinking.items():
            if resource_id in used:
                _lower(storage, assignment, resource_id, size)

    def before_end(self, cloud: Cloud, assignment: Assignment[VolumeSpec], due: datetime) -> Outcome:
        """Copy volumes, and check whether those that are to be retained can be moved.

        After the end, the teardown reports what cannot be moved, so that nothing delays it.
        """
        spec, settings = assignment.spec, self._settings
        outcomes: list[Outcome] = []
        if spec.is_copied and settings.before_end_snapshot:
            outcomes.append(copy_volumes(cloud, assignment, due, settings.before_end_snapshot))
        if spec.end_action is EndAction.RETAIN and assignment.now < assignment.window.end:
            target = settings.retain_volume_type
            outcomes.append(check_movable(cloud.block_storage, assignment.reservation_id, target))
        for each in outcomes:
            if isinstance(each, Waiting):
                return each
        reasons = [each.reason for each in outcomes if isinstance(each, Refused)]
        return Refused("; ".join(reasons)) if reasons else Done()

    def leftover_kinds(self, sweep: Sweep) -> tuple[LeftoverKind, ...]:
        """Return volume types."""
        return (VolumeTypeLeftovers(sweep),)


def _clear(
    cloud: Cloud, assignment: Assignment[VolumeSpec], volume_type: VolumeType, seen: VolumesSeen
) -> Outcome:
    """Advance the end action for the volumes of a type."""
    spec, now = assignment.spec, assignment.now
    ended_at = spec.ended_at or now
    if spec.end_action is EndAction.RETAIN:
        return move_volumes(cloud, volume_type.id, seen.target, now - ended_at)
    if spec.end_action is EndAction.FREEZE:
        # A lease that is deleted ends before the end of its window; late rounds do not prolong the freeze.
        ended = Interval.at_least_an_instant(assignment.window.start, min(assignment.window.end, ended_at))
        until = ended.lengthened(spec.grace).end
        if now < until:
            return freeze_volumes(cloud, volume_type.id, now, until)
    return remove_volumes(cloud, volume_type.id)


def _reserved(resource: AllocatedResource) -> int:
    """Return the GiB that a reservation holds of a pool."""
    return _size({resource.id: resource.share}, resource.id)


def _size(holdings: Holdings, resource_id: ResourceId) -> int:
    share = holdings.get(resource_id)
    return 0 if share is None else share.slots * sum(amount for _, amount in share.demand.amounts)


def _make_type(
    storage: BlockStorage, assignment: Assignment[VolumeSpec], item: VolumeItem, seen: VolumesSeen
) -> Outcome:
    reservation_id = assignment.reservation_id
    facts = next(each.facts for each in assignment.resources if each.id == item.scope)
    name = type_name(reservation_id, item.scope)
    specs = extra_specs(reservation_id, item.scope, str(facts["backend_name"]), str(facts["pool_name"]))
    try:
        seen.types[item.scope] = storage.create_type(name, assignment.spec.volume_name, specs)
    except CloudConflict as error:
        found = find_types(storage, reservation_id).get(item.scope)
        if found is None:
            return Waiting(_RETRY, error.message)
        seen.types[item.scope] = found
    return Done()


def _count_used(storage: BlockStorage, assignment: Assignment[VolumeSpec]) -> Mapping[ResourceId, int]:
    """Return the GiB in use by pool; pools whose types do not exist are omitted. One request."""
    names = {type_name(assignment.reservation_id, each.id): each.id for each in assignment.resources}
    quotas = storage.get_quotas(assignment.project_id, names.keys())
    return {names[name]: each.used for name, each in quotas.items()}


def _lower(
    storage: BlockStorage, assignment: Assignment[VolumeSpec], resource_id: ResourceId, size: int
) -> None:
    """Lower a quota. Raises CannotChange if volumes took the room in the meantime."""
    name = type_name(assignment.reservation_id, resource_id)
    try:
        storage.set_quota(assignment.project_id, name, size)
    except CloudConflict as error:
        raise CannotChange(f"gibibytes, amount: a volume has just taken the room: {error.message}") from error


def make_plugin(settings: Settings, conf: object) -> Volumes:
    """Return the plugin; the target of the entry point ``virtual.volume.plugin``."""
    return Volumes(settings.of(VolumeSettings))


if TYPE_CHECKING:
    _: ResourcePlugin[VolumeSpec, VolumeItem, VolumesSeen] = Volumes(VolumeSettings())
