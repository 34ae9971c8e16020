"""Comparison of registered storage pools with Cinder, to find unusable ones before a lease needs them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from blazar.booking.context import Context
from blazar.booking.health import record_health
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.domain.health import HEALTHY, Diagnosis, Health
from blazar.plugins.volumes.discovery import discover_pools
from blazar.plugins.volumes.pools import STORAGE_POOLS, find_problem
from blazar.plugins.volumes.settings import VolumeSettings

_logger = logging.getLogger(__name__)


def check_pools(
    context: Context, actor: str, *, check_claim: Callable[[], None] = lambda: None
) -> Mapping[str, str]:
    """Update the health of registered storage pools.

    A pool has failed if Cinder does not have it, if it has become smaller than its reservable capacity, or if
    volumes of others take a part of that. If the operator wants it, new pools of Cinder are registered.

    Args:
        context: The context.
        actor: The actor recorded in the journal.
        check_claim: Called before each longer step; an exception from it ends the check.

    Returns:
        The problem of each failed pool, by name.

    Raises:
        CloudUnavailable: Cinder does not respond; results stored so far remain.
    """
    settings = context.settings.of(VolumeSettings)
    with context.store.read() as transaction:
        registered = transaction.plugin_resources.list(STORAGE_POOLS.name)
    if not registered and not settings.discovers_pools:
        return {}
    check_claim()
    storage = context.cloud.block_storage
    pools = {each.name: each for each in storage.list_pools()}
    if settings.discovers_pools:
        discover_pools(context, pools.values(), registered, settings.discovered_names, check_claim)
    failed = {}
    for each in registered:
        check_claim()
        try:
            problem = find_problem(storage, pools.get(each.name), each)
        except (CloudConflict, CloudNotFound, CloudRefused) as error:
            _logger.warning("cannot check a storage pool: pool=%s reason=%s", each.name, error)
            continue
        if problem:
            failed[each.name] = problem
        diagnosis = Diagnosis(health=Health.FAILED, problem=problem) if problem else HEALTHY
        if diagnosis != each.diagnosis:
            record_health(context, actor, each.id, f"storage pool {each.name}", diagnosis)
    return failed
