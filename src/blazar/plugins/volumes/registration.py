"""Registration of storage pools, which all types of reservations of them share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final, cast

from blazar.domain.collections import ResourceCollection
from blazar.domain.plugin_resources import PluginResource
from blazar.domain.requirements import Fact
from blazar.plugins.capabilities import RegistersResources
from blazar.plugins.contract import JsonObject
from blazar.plugins.volumes.pools import (
    CAPACITY,
    GIBIBYTES,
    SOLE_USE,
    STORAGE_POOLS,
    check_keys,
    check_size,
    check_unused,
    describe_pool,
    get_pool,
)
from blazar.ports.cloud import Cloud

_OWN_KEYS: Final = ("name", CAPACITY, SOLE_USE)


class RegistersPools(RegistersResources):
    """Operators register pools of Cinder."""

    resource_collection: ClassVar[ResourceCollection] = STORAGE_POOLS

    def register(self, cloud: Cloud, body: JsonObject) -> PluginResource:
        """Return the pool that an operator registers.

        Raises:
            InvalidParameter: Cinder has no such pool, or a value is invalid.
            StoragePoolInUse: Others have allocated too much of it, or any of it if it is for sole use.
        """
        given = _capabilities(body)
        check_keys(given)
        storage = cloud.block_storage
        pool = get_pool(storage, str(body["name"]))
        is_for_sole_use = cast("bool | None", body.get(SOLE_USE))
        if is_for_sole_use:
            check_unused(storage, pool)
        size = check_size(storage, pool, cast("int | None", body.get(CAPACITY)))
        return describe_pool(pool, size, given, is_for_sole_use=is_for_sole_use)

    def change(self, cloud: Cloud, resource: PluginResource, body: JsonObject) -> PluginResource:
        """Return a pool with another capacity or other extra capabilities. Raises as :meth:`register`."""
        changes = _capabilities(body)
        check_keys(changes)
        facts = {key: value for key, value in {**resource.facts, **changes}.items() if value is not None}
        properties = (resource.properties | changes.keys()) & facts.keys()
        size, is_for_sole_use = resource.amounts[GIBIBYTES], bool(facts.get(SOLE_USE))
        if body.keys() & {CAPACITY, SOLE_USE}:
            storage = cloud.block_storage
            pool = get_pool(storage, resource.name)
            if CAPACITY in body:
                size = check_size(storage, pool, cast("int", body[CAPACITY]))
                # Others may use capacity that is not registered.
                is_for_sole_use = is_for_sole_use and pool.total == size
            is_for_sole_use = cast("bool", body.get(SOLE_USE, is_for_sole_use))
            if body.get(SOLE_USE):
                check_unused(storage, pool)
        facts |= {CAPACITY: size, SOLE_USE: is_for_sole_use}
        return replace(resource, facts=facts, properties=properties, amounts={GIBIBYTES: size})

    def check_removable(self, cloud: Cloud, resource: PluginResource) -> None:
        """Allow the removal of every pool that no lease holds: its volumes no longer exist."""


def _capabilities(body: JsonObject) -> Mapping[str, Fact]:
    return {key: cast("Fact", value) for key, value in body.items() if key not in _OWN_KEYS}
