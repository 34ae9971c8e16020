"""Registration of storage pools, which all types of reservations of them share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, cast

from blazar.domain.collections import ResourceCollection
from blazar.domain.plugin_resources import PluginResource
from blazar.domain.requirements import Fact
from blazar.plugins.capabilities import RegistersResources
from blazar.plugins.contract import JsonObject
from blazar.plugins.volumes.pools import (
    GIBIBYTES,
    STORAGE_POOLS,
    check_keys,
    check_size,
    describe_pool,
    get_pool,
)
from blazar.ports.cloud import Cloud


class RegistersPools(RegistersResources):
    """Operators register pools of Cinder."""

    resource_collection: ClassVar[ResourceCollection] = STORAGE_POOLS

    def register(self, cloud: Cloud, body: JsonObject) -> PluginResource:
        """Return the pool that an operator registers.

        Raises:
            InvalidParameter: Cinder has no such pool, or a value is invalid.
            StoragePoolInUse: Others have allocated too much of it.
        """
        given = _capabilities(body)
        check_keys(given)
        pool = get_pool(cloud.block_storage, str(body["name"]))
        size = check_size(cloud.block_storage, pool, cast("int | None", body.get("gibibytes")))
        return describe_pool(pool, size, given)

    def change(self, cloud: Cloud, resource: PluginResource, body: JsonObject) -> PluginResource:
        """Return a pool with another capacity or other extra capabilities. Raises as :meth:`register`."""
        changes = _capabilities(body)
        check_keys(changes)
        facts = {key: value for key, value in {**resource.facts, **changes}.items() if value is not None}
        amounts = resource.amounts
        if "gibibytes" in body:
            pool = get_pool(cloud.block_storage, resource.name)
            wanted = cast("int", body["gibibytes"])
            amounts = {GIBIBYTES: check_size(cloud.block_storage, pool, wanted)}
        properties = (resource.properties | changes.keys()) & facts.keys()
        return replace(resource, facts=facts, properties=properties, amounts=amounts)

    def check_removable(self, cloud: Cloud, resource: PluginResource) -> None:
        """Allow the removal of every pool that no lease holds: its volumes are gone by then."""


def _capabilities(body: JsonObject) -> Mapping[str, Fact]:
    return {key: cast("Fact", value) for key, value in body.items() if key not in ("name", "gibibytes")}
