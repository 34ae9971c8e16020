"""The sweep: what bears our mark and belongs to no living reservation is removed, seen twice.

It also brings registered hosts back into the freepool that are nowhere, opens those that are closed to
preemptible servers for nobody, and forgets old entries of the books. Nothing that does not bear our
mark is touched, and no server is ever deleted here: what servers still use is reported and left alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from blazar.booking.index import CHANGES_KEPT_FOR
from blazar.booking.context import Context
from blazar.booking.health import have_missing_sought
from blazar.domain.errors import CloudConflict, CloudNotFound, CloudRefused
from blazar.ports.store import JournalEntry, Transaction
from blazar.reconcile.sweeping.floatingips import FloatingIPs
from blazar.reconcile.sweeping.hosts import ClosedHosts, HostAggregates, StrayHosts
from blazar.reconcile.sweeping.kinds import Kind, Surroundings
from blazar.reconcile.sweeping.plugins import PluginLeftovers
from blazar.reconcile.sweeping.slots import Flavors, ResourceClasses, ServerGroups, SlotAggregates

_SLOT_TYPES = frozenset({"virtual:instance", "flavor:instance"})
"""The resource types whose reservations have flavors, resource classes and server groups."""
_FLOATINGIP_TYPE = "virtual:floatingip"
_FINDER = "sweep"

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweepings:
    """What a sweep found and what it mended.

    The keys are ``aggregate:<name>``, ``host:<service host>``, ``closed:<service host>``,
    ``class:<name>``, ``flavor:<id>``, ``group:<id>`` and ``floatingip:<id>``; what a plugin finds by itself
    has its resource type there.
    """

    found: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leftover:
    kind: Kind
    name: str
    reservation_id: str | None

    @property
    def key(self) -> str:
        return f"{self.kind.name}:{self.name}"


def sweep(context: Context, actor: str, *, before_each: Callable[[], None] = lambda: None) -> Sweepings:
    """Look for what belongs to nobody; remove what an earlier sweep, an interval ago, saw already.

    The interval is what a request takes at most that makes things outside before it is stored. With a
    database that has never known a lease nothing of any reservation is removed: it may be another
    installation's, which is to be taken over still.

    Args:
        context: The context.
        actor: Who sweeps, for the journal.
        before_each: Called before each removal and other long steps; what it raises ends the sweep.

    Returns:
        What was found, sorted, and which of it was removed.

    Raises:
        CloudUnavailable: A service of the cloud does not answer; what was removed so far stays so.
    """
    aggregates = context.cloud.compute.list_aggregates()
    surroundings = Surroundings(context=context, aggregates=aggregates, before_each=before_each)
    leftovers = _find(surroundings)
    now = context.clock.now()
    with context.store.begin() as transaction:
        first_seen = transaction.findings.note(_FINDER, [each.key for each in leftovers], now)
        is_new = not transaction.journal.knows_leases()
        _forget_old_entries(context, transaction)
        transaction.commit()
    if is_new and leftovers:
        _logger.warning(
            "nothing is removed that was reserved elsewhere: this database has known no lease yet"
        )
    removed = []
    for each in leftovers:
        if is_new and each.reservation_id is not None:
            continue
        if _is_due(context, first_seen[each.key], now):
            before_each()
            if _remove(context, each):
                removed.append(each.key)
    _report(context, actor, sorted(first_seen), sorted(removed))
    return Sweepings(found=tuple(sorted(first_seen)), removed=tuple(sorted(removed)))


def find_leftovers(context: Context) -> tuple[str, ...]:
    """Return what belongs to nobody, as keys like those of :class:`Sweepings`; nothing is noted or removed.

    Raises:
        CloudUnavailable: A service of the cloud does not answer.
    """
    aggregates = context.cloud.compute.list_aggregates()
    surroundings = Surroundings(context=context, aggregates=aggregates, before_each=lambda: None)
    return tuple(sorted({each.key for each in _find(surroundings)}))


def _kinds(surroundings: Surroundings) -> list[Kind]:
    """Return all kinds in the order in which leftovers are removed."""
    kinds: list[Kind] = [
        HostAggregates(surroundings),
        ClosedHosts(surroundings),
        StrayHosts(surroundings),
    ]
    if surroundings.context.plugins.keys() & _SLOT_TYPES:
        kinds.append(ResourceClasses(surroundings))
    kinds.append(SlotAggregates(surroundings))
    if surroundings.context.plugins.keys() & _SLOT_TYPES:
        kinds += [Flavors(surroundings), ServerGroups(surroundings)]
    if _FLOATINGIP_TYPE in surroundings.context.plugins:
        kinds.append(FloatingIPs(surroundings))
    plugins = surroundings.context.plugins
    kinds += [PluginLeftovers(surroundings, plugins[resource_type]) for resource_type in sorted(plugins)]
    return kinds


def _find(surroundings: Surroundings) -> list[_Leftover]:
    """Return what belongs to nobody."""
    candidates = [
        _Leftover(kind=kind, name=name, reservation_id=reservation_id)
        for kind in _kinds(surroundings)
        for name, reservation_id in sorted(_candidates(kind).items())
    ]
    # The books are read after the cloud: what is made later is not among the candidates.
    deployed = _deployed(surroundings.context, candidates)
    return [each for each in candidates if each.reservation_id not in deployed]


def _candidates(kind: Kind) -> Mapping[str, str | None]:
    try:
        return kind.candidates()
    except CloudRefused as error:
        _logger.warning("leftovers of the kind %s are not looked for: %s", kind.name, error)
        return {}


def _deployed(context: Context, leftovers: list[_Leftover]) -> frozenset[str]:
    """Return those of their reservations of which something may be outside."""
    ids = {each.reservation_id for each in leftovers if each.reservation_id is not None}
    if not ids:
        return frozenset()
    with context.store.read() as transaction:
        return transaction.leases.deployed_reservations(sorted(ids))


def _is_due(context: Context, first_seen: datetime, now: datetime) -> bool:
    # A sweep that failed is repeated soon, which is not the second time that counts.
    return first_seen < now and now - first_seen >= context.settings.reconciler.sweep_interval


def _remove(context: Context, leftover: _Leftover) -> bool:
    # It may have come to life since it was listed: a reservation's id is never used twice, but a pass
    # that was under way may only now have recorded what it made.
    if _deployed(context, [leftover]):
        return False
    try:
        return leftover.kind.remove(leftover.name)
    except CloudNotFound:
        return True
    except (CloudConflict, CloudRefused) as error:
        _logger.warning("orphaned %s cannot be removed: %s", leftover.key, error)
        return False


def _forget_old_entries(context: Context, transaction: Transaction) -> None:
    now = context.clock.now()
    if transaction.allocations.purge_released(now - context.settings.leases.cleaning_time):
        # What is clean again may be what somebody misses.
        have_missing_sought(context, transaction)
    transaction.availability.purge_changes(now - CHANGES_KEPT_FOR)


def _report(context: Context, actor: str, found: list[str], removed: list[str]) -> None:
    if not found:
        return
    _logger.warning("sweep found %s; removed %s", ", ".join(found), ", ".join(removed) or "nothing")
    with context.store.begin() as transaction:
        transaction.journal.append(
            [
                JournalEntry(
                    at=context.clock.now(),
                    lease_id=None,
                    event="sweep.removed" if key in removed else "sweep.found",
                    reason=key,
                    actor=actor,
                )
                for key in found
            ]
        )
        transaction.commit()
