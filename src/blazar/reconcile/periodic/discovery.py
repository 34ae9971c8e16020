"""Discovery: asking plugins for the resources that they find in the cloud."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from blazar.booking.context import Context
from blazar.booking.health import record_health
from blazar.booking.resources import delete_stored, put_stored
from blazar.domain.errors import CloudError
from blazar.domain.health import Diagnosis, Health
from blazar.domain.plugin_resources import PluginResource
from blazar.plugins.capabilities import DiscoversResources

_GONE = Diagnosis(health=Health.FAILED, problem="its plugin no longer finds it")

_LONGEST_NAME = 255

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """The result, as ``<collection>:<name>``."""

    seen: tuple[str, ...]
    changed: tuple[str, ...]
    """Resources that are new, have changed, or no longer exist."""


def discover_resources(
    context: Context, actor: str, *, check_claim: Callable[[], None] = lambda: None
) -> Discovery:
    """Update the stored resources to those that the plugins find.

    A resource that no longer exists is deleted. If a lease holds it, now or later, it is marked as failed and
    deleted once no lease holds it.

    Args:
        context: The context.
        actor: The actor recorded in the journal.
        check_claim: Called before each longer step; an exception from it ends the discovery.

    Raises:
        CloudError: A plugin failed; the resources of its collection are unchanged.
    """
    seen, changed, failure = [], [], None
    for collection in sorted({each.collection for each in context.plugins.values()}):
        check_claim()
        try:
            found = _ask(context, collection)
        except CloudError as error:
            _logger.warning("discovery failed: collection=%s reason=%s", collection, error)
            failure = error
            continue
        except Exception as error:
            # A faulty plugin must not stop the others.
            _logger.exception("discovery failed: collection=%s", collection)
            failure = CloudError(f"a plugin failed to list its resources: {type(error).__name__}")
            continue
        if found is not None:
            names = _apply(context, actor, collection, found, check_claim)
            seen += [f"{collection}:{name}" for name in found]
            changed += [f"{collection}:{name}" for name in names]
    if failure is not None:
        raise failure
    return Discovery(seen=tuple(sorted(seen)), changed=tuple(sorted(changed)))


def _ask(context: Context, collection: str) -> Mapping[str, PluginResource] | None:
    """Return the discovered resources by name; None if operators register those of this collection."""
    sources = [
        plugin
        for plugin in context.plugins.values()
        if plugin.collection == collection and isinstance(plugin, DiscoversResources)
    ]
    if not sources:
        return None
    known = [each for plugin in sources for each in plugin.discover(context.cloud)]
    if any(each.collection != collection or not 0 < len(each.name) <= _LONGEST_NAME for each in known):
        raise ValueError(f"a plugin of {collection} lists a resource with an invalid name or collection")
    return {each.name: each for each in known}


def _apply(
    context: Context,
    actor: str,
    collection: str,
    found: Mapping[str, PluginResource],
    check_claim: Callable[[], None],
) -> list[str]:
    with context.store.read() as transaction:
        before = {each.name: each for each in transaction.plugin_resources.list(collection)}
    changed = []
    for name, resource in sorted(found.items()):
        if before.get(name) == resource:
            continue
        check_claim()
        changed.append(name)
        if name not in before or _describe(before[name]) != _describe(resource):
            put_stored(context, resource)
        record_health(context, actor, resource.id, f"{collection} {name}", resource.diagnosis)
    for name in sorted(before.keys() - found.keys()):
        check_claim()
        if delete_stored(context, before[name]):
            changed.append(name)
        else:
            record_health(context, actor, before[name].id, f"{collection} {name}", _GONE)
    return changed


def _describe(resource: PluginResource) -> tuple[object, object]:
    return resource.facts, resource.amounts
