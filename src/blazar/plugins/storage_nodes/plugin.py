"""The resource plugin for ``physical:storage``: whole storage pools for the sole use of a project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from blazar.domain.availability import Availability
from blazar.domain.expressions import render
from blazar.domain.lease import Holdings, ResourceId
from blazar.domain.need import Need
from blazar.domain.quotas import QuotaUnit
from blazar.domain.requirements import Requirement
from blazar.plugins.capabilities import ReleasesChosenResources, RequiresProperties, StatesNeed
from blazar.plugins.contract import (
    AllocatedResource,
    Assignment,
    Done,
    JsonObject,
    Outcome,
    ResourcePlugin,
    Unusable,
    Waiting,
    Wish,
)
from blazar.plugins.storage_nodes.choice import FOR_SOLE_USE, choose_whole_pools
from blazar.plugins.storage_nodes.spec import (
    STORAGE_NODE_KEYS,
    StorageNodeSpec,
    decode_spec,
    encode_spec,
    parse_spec,
    render_spec,
    revise_spec,
)
from blazar.plugins.volumes.items import Kind, VolumeItem, VolumesSeen
from blazar.plugins.volumes.offered import asks_the_same, offered
from blazar.plugins.volumes.pool_plugin import PoolPlugin, count_used
from blazar.plugins.volumes.pools import CAPACITY, PUBLIC_POOL_FACTS, count_foreign
from blazar.plugins.volumes.settings import VolumeSettings
from blazar.ports.block_storage import BlockStorage
from blazar.ports.cloud import Cloud
from blazar.settings import Settings

_PATIENCE: Final = timedelta(minutes=2)
"""Time after the start for which a pool may be down, or the deletion of others' volumes may take."""
_RETRY: Final = timedelta(seconds=10)


class StorageNodes(
    PoolPlugin[StorageNodeSpec],
    RequiresProperties[StorageNodeSpec],
    StatesNeed[StorageNodeSpec],
    ReleasesChosenResources[StorageNodeSpec],
):
    """The plugin."""

    resource_type: ClassVar[str] = "physical:storage"
    quota_unit: ClassVar[QuotaUnit] = QuotaUnit(name="storage_node", is_whole=True)
    request_keys: ClassVar[tuple[str, ...]] = STORAGE_NODE_KEYS
    public_facts: ClassVar[frozenset[str]] = PUBLIC_POOL_FACTS | {CAPACITY}
    eligibility: ClassVar[Requirement] = FOR_SOLE_USE
    size_keys: ClassVar[str] = "max"

    def parse(self, body: JsonObject) -> StorageNodeSpec:
        """Return the spec of a new reservation."""
        return offered(parse_spec(body), self._settings)

    def revise(self, spec: StorageNodeSpec, changes: JsonObject, *, is_active: bool) -> StorageNodeSpec:
        """Return the spec with the keys of an update; :meth:`choose` keeps the pools that have volumes."""
        after = revise_spec(spec, changes, is_active=is_active)
        return after if asks_the_same(after, spec) else offered(after, self._settings)

    def encode(self, spec: StorageNodeSpec) -> JsonObject:
        """Return the spec as JSON."""
        return encode_spec(spec)

    def decode(self, stored: JsonObject) -> StorageNodeSpec:
        """Return the spec from its stored form."""
        return decode_spec(stored)

    def least_spec(self) -> StorageNodeSpec:
        """Return the smallest spec: the items are found by the reservation's id."""
        return StorageNodeSpec(minimum=1, maximum=1)

    def render(self, spec: StorageNodeSpec) -> JsonObject:
        """Return the keys that clients see."""
        return render_spec(spec)

    def requirement(self, spec: StorageNodeSpec) -> Requirement:
        """Return the requirement of the properties."""
        return spec.requirement

    def change_requirement(self, requirement: Requirement) -> JsonObject:
        """Return the expression."""
        return {"resource_properties": render(requirement)}

    def need(self, spec: StorageNodeSpec) -> Need:
        """Return the range of pools."""
        return Need(least=spec.minimum, most=spec.maximum, requirement=spec.requirement & FOR_SOLE_USE)

    def change_need(self, units: int) -> JsonObject:
        """Return a fixed number of pools: with more of them, a quota may refuse the request."""
        return {"min": units, "max": units}

    def choose(self, wish: Wish[StorageNodeSpec], availability: Availability) -> Holdings:
        """Return the pools that the reservation holds from now on, each as a whole."""
        return choose_whole_pools(wish, availability)

    def make(
        self, cloud: Cloud, assignment: Assignment[StorageNodeSpec], item: VolumeItem, seen: VolumesSeen
    ) -> Outcome:
        """Make an item of a reservation of pools; access only if the pool has no volumes of other users."""
        made = seen.types.get(item.scope)
        if item.kind is Kind.ACCESS and made is not None:
            outcome = _examine(cloud.block_storage, assignment, item.scope, made.id)
            if not isinstance(outcome, Done):
                return outcome
        return super().make(cloud, assignment, item, seen)

    def count_in_use(
        self, cloud: Cloud, assignment: Assignment[StorageNodeSpec], before: StorageNodeSpec
    ) -> Mapping[ResourceId, int]:
        """Return the GiB in use by pool if the reservation is to shrink; otherwise nothing."""
        if len(assignment.resources) <= assignment.spec.maximum:
            return {}
        return count_used(cloud.block_storage, assignment)

    def reduce(
        self, spec: StorageNodeSpec, released: Sequence[AllocatedResource], left: int
    ) -> StorageNodeSpec:
        """Return the spec with at most the remaining number of pools; the minimum only decreases."""
        return replace(spec, minimum=min(spec.minimum, left), maximum=left)


def _examine(
    storage: BlockStorage, assignment: Assignment[StorageNodeSpec], scope: str, type_id: str
) -> Outcome:
    """Return Done if a pool can be handed over: it is up, and has no volumes of other users.

    A pool in which the lessee has volumes is not taken away again. This takes two requests if the pool is
    empty, and at most four.
    """
    name = next(str(each.facts["pool"]) for each in assignment.resources if each.id == scope)
    pool = next((each for each in storage.list_pools() if each.name == name), None)
    foreign = count_foreign(storage, pool) if pool is not None else 0
    if (pool is not None and not foreign) or storage.list_volumes(type_id):
        return Done()
    if pool is None:
        problem = f"Cinder has no pool {name}, or its back end is down"
    else:
        problem = f"volumes of other users occupy {foreign} GiB of pool {name}"
    left = assignment.window.start + _PATIENCE - assignment.now
    return Waiting(min(left, _RETRY), problem) if left > timedelta(0) else Unusable(problem)


def make_plugin(settings: Settings, conf: object) -> StorageNodes:
    """Return the plugin; the target of the entry point ``physical.storage.plugin``."""
    return StorageNodes(settings.of(VolumeSettings))


if TYPE_CHECKING:
    _: ResourcePlugin[StorageNodeSpec, VolumeItem, VolumesSeen] = StorageNodes(VolumeSettings())
