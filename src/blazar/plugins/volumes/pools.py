"""Storage pools as resources: their declaration, their facts, and their comparison with Cinder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from blazar.domain.collections import ResourceCollection
from blazar.domain.errors import InvalidParameter
from blazar.domain.plugin_resources import PluginResource
from blazar.domain.requirements import Fact
from blazar.domain.wording import first_few
from blazar.plugins.parameters import LARGEST_NUMBER, check_capability_names
from blazar.plugins.volumes.errors import StoragePoolInUse
from blazar.plugins.volumes.names import RESOURCE, reservation_of
from blazar.ports.block_storage import BlockStorage, StoragePool, VolumeType

GIBIBYTES: Final = "GIBIBYTES"
"""The resource class of the capacity of a pool."""
CAPACITY: Final = "gibibytes"
"""The fact with the capacity of a pool that can be reserved, in GiB."""
SOLE_USE: Final = "sole_use"
"""The fact that a pool can be reserved as a whole, because no volumes of other users may be in it."""
POOL_FACTS: Final = frozenset(
    {"pool", "backend_name", "pool_name", "vendor_name", "storage_protocol", CAPACITY, SOLE_USE}
)
"""Facts that every pool has; operators cannot set them as extra capabilities."""
PUBLIC_POOL_FACTS: Final = frozenset({"vendor_name", "storage_protocol"})
_TAKEN_KEYS: Final = POOL_FACTS | {"id", "name", "amounts", "reservable"}

_SIZE: Final = {
    "type": "integer",
    "minimum": 1,
    "maximum": LARGEST_NUMBER,
    "description": "The capacity that can be reserved, in GiB; by default, what others have not allocated.",
}
_SOLE_USE: Final = {
    "type": "boolean",
    "description": "Whether the pool can be reserved as a whole. If true, it is refused while volumes of"
    " others are in the pool. By default, it is true if the registered capacity is that of the whole pool.",
}
_TYPES: Final = ["string", "integer", "number", "boolean"]
_CAPABILITY: Final = {
    "type": _TYPES,
    "maxLength": 255,
    "description": "An extra capability, for requirements.",
}

STORAGE_POOLS: Final = ResourceCollection(
    name="storage-pool",
    path="storage-pools",
    singular="storage_pool",
    plural="storage_pools",
    create_name_key="name",
    create_schema={
        "type": "object",
        "description": "Other keys are extra capabilities.",
        "examples": [{"name": "block1@fast#ssd", "gibibytes": 2000, "rack": "r1"}],
        "required": ["name"],
        "properties": {
            "name": {
                "type": "string",
                "minLength": 1,
                "maxLength": 255,
                "description": "The name of the pool in Cinder, `host@backend#pool`.",
                "examples": ["block1@fast#ssd"],
            },
            "gibibytes": _SIZE,
            "sole_use": _SOLE_USE,
        },
        "additionalProperties": _CAPABILITY,
    },
    update_schema={
        "type": "object",
        "description": "Other keys are extra capabilities; null removes one.",
        "properties": {
            "gibibytes": _SIZE,
            "sole_use": {
                **_SOLE_USE,
                "description": "Whether the pool can be reserved as a whole. Without it, a smaller capacity "
                "makes it false.",
            },
        },
        "additionalProperties": {**_CAPABILITY, "type": [*_TYPES, "null"]},
    },
)


def get_pool(storage: BlockStorage, name: str) -> StoragePool:
    """Return a pool of Cinder. Raises InvalidParameter if there is none with this name."""
    pools = {each.name: each for each in storage.list_pools()}
    if name not in pools:
        known = f"the pools that are up: {first_few(sorted(pools))}" if pools else "no pool is up"
        raise InvalidParameter("name", f"Cinder has no pool {name[:255]}; {known}")
    return pools[name]


def describe_pool(
    pool: StoragePool, gibibytes: int, more: Mapping[str, Fact], *, is_for_sole_use: bool | None = None
) -> PluginResource:
    """Return a pool as a resource.

    Args:
        pool: The pool.
        gibibytes: The capacity that can be reserved.
        more: Facts in addition to the capabilities of its driver.
        is_for_sole_use: Whether it can be reserved as a whole; None: only if it has no other capacity.
    """
    if is_for_sole_use is None:
        is_for_sole_use = pool.total == gibibytes
    facts: dict[str, Fact] = {
        **{key: value for key, value in pool.capabilities.items() if key not in _TAKEN_KEYS},
        **more,
        "pool": pool.name,
        "backend_name": pool.backend_name,
        "pool_name": pool.pool_name,
        **{key: str(pool.capabilities.get(key, "")) for key in sorted(PUBLIC_POOL_FACTS)},
        CAPACITY: gibibytes,
        SOLE_USE: is_for_sole_use,
    }
    return PluginResource(
        collection=STORAGE_POOLS.name,
        name=pool.name,
        facts=facts,
        properties=frozenset(more),
        amounts={GIBIBYTES: gibibytes},
    )


def check_keys(keys: Iterable[str]) -> None:
    """Check the names of extra capabilities. Raises InvalidParameter."""
    check_capability_names(keys, _TAKEN_KEYS)


def check_size(storage: BlockStorage, pool: StoragePool, gibibytes: int | None) -> int:
    """Return the capacity of a pool that can be reserved.

    Args:
        storage: Cinder.
        pool: The pool.
        gibibytes: The wanted capacity; None for all that others have not allocated.

    Raises:
        InvalidParameter: The pool is smaller, or its driver does not report the capacity.
        StoragePoolInUse: Others have allocated too much of it.
    """
    if pool.total is None:
        if gibibytes is None:
            raise InvalidParameter(
                "gibibytes", f"must be given: the driver does not report the capacity of {pool.name}"
            )
        return gibibytes
    if gibibytes is not None and gibibytes > pool.total:
        raise InvalidParameter("gibibytes", f"must be at most {pool.total}, the capacity of {pool.name}")
    foreign = count_foreign(storage, pool)
    left = pool.total - foreign
    if left < (gibibytes or 1):
        raise StoragePoolInUse(
            f"gibibytes: volumes of other users occupy {foreign} of {pool.total} GiB of {pool.name}, so"
            f" {max(left, 0)} can be reserved"
        )
    return left if gibibytes is None else gibibytes


def check_unused(storage: BlockStorage, pool: StoragePool) -> None:
    """Check that a pool has no volumes of other users. Raises StoragePoolInUse."""
    if foreign := count_foreign(storage, pool):
        raise StoragePoolInUse(
            f"sole_use: volumes of other users occupy {foreign} GiB of {pool.name}; it cannot be reserved as"
            " a whole"
        )


def find_problem(storage: BlockStorage, pool: StoragePool | None, resource: PluginResource) -> str:
    """Return why a registered pool cannot be relied on; empty if it can."""
    if pool is None:
        return f"Cinder has no pool {resource.name}, or its back end is down"
    gibibytes = resource.amounts.get(GIBIBYTES, 0)
    if pool.total is not None and pool.total < gibibytes:
        return f"pool {pool.name} has only {pool.total} of {gibibytes} GiB"
    if resource.facts.get(SOLE_USE):
        spare = 0
    elif pool.total is None:
        return ""
    else:
        spare = pool.total - gibibytes
    if pool.allocated <= spare:
        return ""
    foreign = count_foreign(storage, pool)
    return "" if foreign <= spare else f"volumes of other users occupy {foreign} GiB of pool {pool.name}"


def count_foreign(storage: BlockStorage, pool: StoragePool) -> int:
    """Return how many GiB of a pool are taken by volumes that do not belong to a reservation of it.

    The volumes are listed, because the report of the pool may be a minute old, and counts volumes that have
    left it.
    """
    volumes = storage.list_volumes_in(pool.name)
    if not volumes:
        return 0
    resource_id = PluginResource(collection=STORAGE_POOLS.name, name=pool.name).id
    own = {
        each.name
        for each in storage.list_types()
        if reservation_of(each) is not None and each.extra_specs.get(RESOURCE) == resource_id
    }
    return sum(each.size for each in volumes if each.type_name not in own)


def find_open_types(
    types: Iterable[VolumeType], registered: Iterable[PluginResource]
) -> tuple[VolumeType, ...]:
    """Return the types whose volumes Cinder may put into registered pools, without those of reservations."""
    places = {(each.facts["backend_name"], each.facts["pool_name"]) for each in registered}
    return tuple(
        each
        for each in types
        if reservation_of(each) is None
        and any(
            each.extra_specs.get("volume_backend_name", backend_name) == backend_name
            and each.extra_specs.get("pool_name", pool_name) == pool_name
            for backend_name, pool_name in places
        )
    )
