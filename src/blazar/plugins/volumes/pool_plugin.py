"""The common part of the plugins that reserve storage pools; requests and the choice are missing.

While a reservation is active, its project has a private volume type for each of its pools, pinned to the
pool, with a quota of exactly the reserved room. At the end, the type is deleted with all its volumes, unless
they are to be kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import ClassVar, Final

from blazar.domain.errors import CannotChange, CloudConflict, CloudNotFound
from blazar.domain.interval import Interval
from blazar.domain.lease import Holdings, ReservationId, ResourceId
from blazar.domain.lifecycle import Phase
from blazar.plugins.capabilities import (
    ActsBeforeEnd,
    CleansUp,
    DescribesEnd,
    DescribesUse,
    ExplainsProblems,
    HasCatalogueEntry,
    HasIndependentSteps,
    HasLeftovers,
    HoldsAfterEnd,
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
    Waiting,
)
from blazar.plugins.end_texts import EndText
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.plugins.volumes.copying import copy_volumes
from blazar.plugins.volumes.end_words import describe_pool_end, list_pool_ends
from blazar.plugins.volumes.freezing import freeze_volumes
from blazar.plugins.volumes.items import Kind, VolumeItem, VolumesSeen
from blazar.plugins.volumes.leftovers import VolumeTypeLeftovers
from blazar.plugins.volumes.names import extra_specs, type_name
from blazar.plugins.volumes.observed import find_types, observe_volumes
from blazar.plugins.volumes.pool_spec import EndAction, PoolSpecT
from blazar.plugins.volumes.pools import CAPACITY, PUBLIC_POOL_FACTS, STORAGE_POOLS
from blazar.plugins.volumes.problem_texts import PROBLEM_TEXTS
from blazar.plugins.volumes.registration import RegistersPools
from blazar.plugins.volumes.retaining import Wait, check_movable, move_volumes
from blazar.plugins.volumes.settings import VolumeSettings
from blazar.plugins.volumes.teardown import remove_type, remove_volumes
from blazar.ports.block_storage import BlockStorage, VolumeType
from blazar.ports.cloud import Cloud

RETRY: Final = timedelta(seconds=2)


class PoolPlugin(
    RegistersPools,
    HasCatalogueEntry,
    DescribesUse[PoolSpecT],
    DescribesEnd[PoolSpecT],
    ExplainsProblems,
    ReleasesWhileActive[PoolSpecT],
    HoldsAfterEnd[PoolSpecT],
    ServesDespiteFailure[PoolSpecT],
    HasIndependentSteps,
    CleansUp,
    ActsBeforeEnd[PoolSpecT],
    ToleratesDamagedSpec[PoolSpecT],
    HasLeftovers,
):
    """A plugin without its resource type, its spec and its choice."""

    collection: ClassVar[str] = STORAGE_POOLS.name
    problem_texts: ClassVar[Mapping[str, str]] = PROBLEM_TEXTS
    public_facts: ClassVar[frozenset[str]] = PUBLIC_POOL_FACTS
    independent_ranks: ClassVar[frozenset[int]] = frozenset(Kind) - {Kind.QUOTA}
    clean_up_ranks: ClassVar[frozenset[int]] = frozenset({Kind.VOLUMES})
    size_keys: ClassVar[str]
    """The keys of a request that say how much it reserves, for refusals."""

    def __init__(self, settings: VolumeSettings) -> None:
        self._settings = settings
        self.end_texts = list_pool_ends(settings)

    def hold_after_end(self, spec: PoolSpecT) -> timedelta:
        """Return the grace period of frozen volumes."""
        return spec.grace

    def describe_use(self, spec: PoolSpecT, reservation_id: ReservationId) -> JsonObject:
        """Return the volume types with which the lessee creates volumes."""
        return {"volume_types": sorted(spec.made.values())}

    def describe_end(self, spec: PoolSpecT) -> Sequence[EndText]:
        """Return whether volumes are copied, and the treatment of the volumes."""
        return describe_pool_end(spec, self._settings)

    def wanted(self, assignment: Assignment[PoolSpecT], phase: Phase) -> frozenset[VolumeItem]:
        """Return types with quotas from shortly before the start, and access to them while the lease runs."""
        if phase not in (Phase.PREPARING, Phase.RUNNING):
            return frozenset()
        kinds = {Kind.TYPE} if phase is Phase.PREPARING else {Kind.TYPE, Kind.ACCESS}
        return frozenset(
            item
            for each in assignment.resources
            for item in (
                *(VolumeItem(kind, each.id) for kind in kinds),
                VolumeItem(Kind.QUOTA, each.id, _reserved(each)),
            )
        )

    def observe(self, cloud: Cloud, assignment: Assignment[PoolSpecT], phase: Phase) -> VolumesSeen:
        """Return the items that exist."""
        target = self._settings.retain_volume_type
        return observe_volumes(cloud.block_storage, assignment, phase, target)

    def make(
        self, cloud: Cloud, assignment: Assignment[PoolSpecT], item: VolumeItem, seen: VolumesSeen
    ) -> Outcome:
        """Create a volume type, set its quota, or allow the project to use it."""
        if not assignment.project_id:
            return Refused("the lease has no project that could have volumes")
        if item.kind is Kind.TYPE:
            return _make_type(cloud.block_storage, assignment, item, seen)
        made = seen.types.get(item.scope)
        if made is None:
            return Waiting(RETRY, "the volume type does not exist yet")
        try:
            if item.kind is Kind.QUOTA:
                _set_quotas(cloud.block_storage, assignment, item, seen)
            else:
                cloud.block_storage.add_type_access(made.id, assignment.project_id)
        except CloudConflict as error:
            # If access is refused, the project already has it; a refused quota is not set.
            return Done() if item.kind is Kind.ACCESS else Waiting(RETRY, error.message)
        except CloudNotFound as error:
            return Waiting(RETRY, error.message)
        return Done()

    def remove(
        self, cloud: Cloud, assignment: Assignment[PoolSpecT], item: VolumeItem, seen: VolumesSeen
    ) -> Outcome:
        """Withdraw the access, delete, move or keep volumes, or delete the type with its quota."""
        found = seen.types.get(item.scope)
        # A quota is replaced by another one, or deleted with the type. Volumes are a separate item.
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
        self, cloud: Cloud, assignment: Assignment[PoolSpecT], failed: Collection[ResourceId]
    ) -> frozenset[ResourceId]:
        """Return the failed pools without a volume type; volumes in others may still serve the lessee."""
        if not failed:
            return frozenset()
        types = find_types(cloud.block_storage, assignment.reservation_id)
        return frozenset(each for each in failed if each not in types)

    def release(self, cloud: Cloud, assignment: Assignment[PoolSpecT], kept: Holdings) -> None:
        """Lower the quotas to what the reservation holds from now on.

        Raises:
            CannotChange: More is in use.
        """
        storage = cloud.block_storage
        shrinking = {
            each.id: size
            for each in assignment.resources
            if (size := _reserved(replace(each, share=kept[each.id])) if each.id in kept else 0)
            < _reserved(each)
        }
        if not shrinking:
            return
        used = count_used(storage, assignment)
        for resource_id, size in shrinking.items():
            if used.get(resource_id, 0) > size:
                raise CannotChange(f"{self.size_keys}: {used[resource_id]} GiB are in use in one pool")
        for resource_id, size in shrinking.items():
            if resource_id in used:
                self._lower(storage, assignment, resource_id, size)

    def _lower(
        self, storage: BlockStorage, assignment: Assignment[PoolSpecT], resource_id: ResourceId, size: int
    ) -> None:
        """Lower a quota. Raises CannotChange if volumes took the room in the meantime."""
        name = type_name(assignment.reservation_id, resource_id)
        try:
            storage.set_quotas(assignment.project_id, {name: size})
        except CloudConflict as error:
            raise CannotChange(
                f"{self.size_keys}: a volume has just taken the space: {error.message}"
            ) from error

    def before_end(self, cloud: Cloud, assignment: Assignment[PoolSpecT], due: datetime) -> Outcome:
        """Copy volumes, and check whether those that are to be retained can be moved.

        After the end, nothing may delay the teardown, which itself reports volumes that cannot be moved.
        """
        spec, settings = assignment.spec, self._settings
        outcomes: list[Outcome] = []
        if spec.is_copied and settings.before_end_snapshot:
            outcomes.append(copy_volumes(cloud, assignment, due, settings.before_end_snapshot))
        if spec.end_action is EndAction.RETAIN and assignment.now < assignment.window.end:
            target = settings.retain_volume_type
            found = check_movable(cloud.block_storage, assignment.reservation_id, target, spec.wait)
            outcomes.append(found)
        for each in outcomes:
            if isinstance(each, Waiting):
                return each
        reasons = [each.reason for each in outcomes if isinstance(each, Refused)]
        saved = tuple(one for each in outcomes if isinstance(each, Done | Refused) for one in each.results)
        return Refused("; ".join(reasons), saved) if reasons else Done(saved)

    def leftover_kinds(self, sweep: Sweep) -> tuple[LeftoverKind, ...]:
        """Return volume types."""
        return (VolumeTypeLeftovers(sweep),)


def count_used(storage: BlockStorage, assignment: Assignment[PoolSpecT]) -> Mapping[ResourceId, int]:
    """Return the GiB in use by pool; pools whose types do not exist are omitted. One request."""
    names = {type_name(assignment.reservation_id, each.id): each.id for each in assignment.resources}
    quotas = storage.get_quotas(assignment.project_id, names.keys())
    return {names[name]: each.used for name, each in quotas.items()}


def _clear(
    cloud: Cloud, assignment: Assignment[PoolSpecT], volume_type: VolumeType, seen: VolumesSeen
) -> Outcome:
    """Advance the end action for the volumes of a type."""
    spec, now = assignment.spec, assignment.now
    ended_at = spec.ended_at or now
    if spec.end_action is EndAction.RETAIN:
        wait = Wait(ended_at, now, spec.wait)
        return move_volumes(cloud, volume_type.id, seen.target, wait, assignment.project_id)
    if spec.end_action is EndAction.FREEZE:
        # A lease that is deleted ends before the end of its window; late rounds do not prolong the freeze.
        ended = Interval.at_least_an_instant(assignment.window.start, min(assignment.window.end, ended_at))
        until = ended.lengthened(spec.grace).end
        if now < until:
            return freeze_volumes(cloud, volume_type.id, now, until)
    return remove_volumes(cloud, volume_type.id, assignment.project_id)


def _reserved(resource: AllocatedResource) -> int:
    """Return the GiB that a reservation holds of a pool: its share, or all that was registered."""
    share = resource.share
    if share is None:
        return int(resource.facts.get(CAPACITY) or 0)
    return share.slots * sum(amount for _, amount in share.demand.amounts)


def _set_quotas(
    storage: BlockStorage, assignment: Assignment[PoolSpecT], item: VolumeItem, seen: VolumesSeen
) -> None:
    """Set the quota of a pool together with those of the reservation's other pools, in one request.

    Raises:
        CloudConflict: The quota of the pool is refused; if that of another one is, only this one is set.
    """
    if item.scope in seen.limited:
        return
    sizes = {each.id: _reserved(each) for each in assignment.resources if each.id in seen.types}
    limits = {seen.types[scope].name: size for scope, size in sizes.items()}
    try:
        storage.set_quotas(assignment.project_id, limits)
        seen.limited.update(sizes)
    except CloudConflict:
        if len(limits) == 1:
            raise
        storage.set_quotas(assignment.project_id, {seen.types[item.scope].name: item.gibibytes})


def _make_type(
    storage: BlockStorage, assignment: Assignment[PoolSpecT], item: VolumeItem, seen: VolumesSeen
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
            return Waiting(RETRY, error.message)
        seen.types[item.scope] = found
    return Done()
