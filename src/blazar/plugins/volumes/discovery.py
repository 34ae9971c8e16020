"""Automatic registration of storage pools that Cinder reports."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase

from blazar.booking.context import Context
from blazar.booking.resources import insert_stored
from blazar.domain.errors import BlazarError, CloudUnavailable, Conflict
from blazar.domain.plugin_resources import PluginResource
from blazar.plugins.volumes.pools import check_size, describe_pool, find_open_types
from blazar.ports.block_storage import StoragePool

_logger = logging.getLogger(__name__)


def discover_pools(
    context: Context,
    pools: Iterable[StoragePool],
    registered: Sequence[PluginResource],
    names: str,
    check_claim: Callable[[], None],
) -> Sequence[str]:
    """Register pools that are not registered, with the capacity that others have not allocated.

    A pool that volumes of another type may use is not registered: others will take its capacity. No pool is
    changed or removed.

    Args:
        context: The context.
        pools: The pools of Cinder.
        registered: The pools that are registered.
        names: A pattern for the names of pools, as for file names.
        check_claim: Called before each longer step; an exception from it ends the discovery.

    Returns:
        The names of the pools that were registered.

    Raises:
        CloudUnavailable: Cinder does not respond; pools registered so far remain.
    """
    known = {each.name for each in registered}
    new = [each for each in pools if each.name not in known and fnmatchcase(each.name, names)]
    if not new:
        return ()
    storage = context.cloud.block_storage
    types = storage.list_types()
    added = []
    for pool in new:
        check_claim()
        try:
            resource = describe_pool(pool, check_size(storage, pool, None), {})
            if types_of_others := find_open_types(types, [resource]):
                raise Conflict(f"volume type {types_of_others[0].name} may use it")
            insert_stored(context, [resource])
        except CloudUnavailable:
            raise
        except BlazarError as error:
            _logger.info("discovered storage pool not registered: pool=%s reason=%s", pool.name, error)
            continue
        _logger.info("registered a discovered storage pool: pool=%s", pool.name)
        added.append(pool.name)
    return added
