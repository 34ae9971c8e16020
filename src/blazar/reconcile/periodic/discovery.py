"""Taking stock: plugins that find their resources themselves are asked what there is now."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from blazar.booking.context import Context
from blazar.booking.health import have_missing_sought, record_health
from blazar.booking.retrying import retrying
from blazar.domain.errors import CloudError
from blazar.domain.health import Diagnosis, Health
from blazar.domain.stock import StockedResource

_GONE = Diagnosis(health=Health.FAILED, problem="its plugin has it in stock no more")

_LONGEST_NAME = 255

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stocktaking:
    """What came of it, as ``<collection>:<name>``."""

    seen: tuple[str, ...]
    changed: tuple[str, ...]
    """What is new, described in another way, or gone."""


def take_stock(
    context: Context, actor: str, *, before_each: Callable[[], None] = lambda: None
) -> Stocktaking:
    """Have the books say what plugins have in stock.

    What is gone is forgotten; if somebody holds it, now or later, it has failed, and is forgotten when
    nobody does any more.

    Args:
        context: The context.
        actor: Who asks, for the journal.
        before_each: Called before each of many steps; what it raises ends the work.

    Raises:
        CloudError: A plugin could not find out; of its stock nothing has changed.
    """
    seen, changed, failure = [], [], None
    for collection in sorted({each.collection for each in context.plugins.values()}):
        before_each()
        try:
            found = _ask(context, collection)
        except CloudError as error:
            _logger.warning("nobody knows what is in stock: collection=%s reason=%s", collection, error)
            failure = error
            continue
        except Exception as error:
            # A faulty plugin must not stop the others.
            _logger.exception("nobody knows what is in stock: collection=%s", collection)
            failure = CloudError(f"a plugin failed to say what is in stock: {type(error).__name__}")
            continue
        if found is not None:
            names = _apply(context, actor, collection, found, before_each)
            seen += [f"{collection}:{name}" for name in found]
            changed += [f"{collection}:{name}" for name in names]
    if failure is not None:
        raise failure
    return Stocktaking(seen=tuple(sorted(seen)), changed=tuple(sorted(changed)))


def _ask(context: Context, collection: str) -> Mapping[str, StockedResource] | None:
    """Return by name what there is; None if operators register what is in the collection."""
    answers = [
        plugin.stock(context.cloud) for plugin in context.plugins.values() if plugin.collection == collection
    ]
    known = [one for each in answers if each is not None for one in each]
    if any(each.collection != collection or not 0 < len(each.name) <= _LONGEST_NAME for each in known):
        raise ValueError(f"a plugin of {collection} has something in stock under an impossible name")
    return {each.name: each for each in known} if any(each is not None for each in answers) else None


def _apply(
    context: Context,
    actor: str,
    collection: str,
    found: Mapping[str, StockedResource],
    before_each: Callable[[], None],
) -> list[str]:
    with context.store.read() as transaction:
        before = {each.name: each for each in transaction.stock.list(collection)}
    changed = []
    for name, resource in sorted(found.items()):
        if before.get(name) == resource:
            continue
        before_each()
        changed.append(name)
        if name not in before or _describe(before[name]) != _describe(resource):
            _put(context, resource)
        record_health(context, actor, resource.id, f"{collection} {name}", resource.diagnosis)
    for name in sorted(before.keys() - found.keys()):
        before_each()
        if _forget(context, before[name]):
            changed.append(name)
        else:
            record_health(context, actor, before[name].id, f"{collection} {name}", _GONE)
    return changed


def _describe(resource: StockedResource) -> tuple[object, object]:
    return resource.facts, resource.amounts


def _put(context: Context, resource: StockedResource) -> None:
    with context.store.begin() as transaction:
        transaction.stock.put(resource, context.clock.now())
        have_missing_sought(context, transaction)
        transaction.commit()
    context.waker.wake()


def _forget(context: Context, resource: StockedResource) -> bool:
    """Delete a resource unless somebody holds it, or it is being cleaned; return whether that was done."""

    def once(attempt: int) -> bool:
        now = context.clock.now()
        with context.store.begin() as transaction:
            transaction.allocations.purge_released(now - context.settings.leases.cleaning_time)
            # Whoever books it meanwhile moves it on.
            generation = transaction.availability.generations([resource.id])
            transaction.allocations.claim(generation)
            if transaction.allocations.count_on(resource.id):
                return False
            transaction.work.schedule(transaction.resources.list_holders(resource.id), now)
            transaction.stock.delete(resource.id, now)
            transaction.commit()
        return True

    return retrying(context, once)
