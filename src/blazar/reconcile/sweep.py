"""The sweep: removes marked objects that belong to no live reservation, once they were found twice.

It also returns registered hosts that are in no aggregate to the freepool, and reopens hosts that are closed
to preemptible servers without reason. Objects without the service's mark are not touched, and no server is
ever deleted: objects that servers still use are reported and left alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from blazar.booking.context import Context
from blazar.domain.errors import CloudConflict, CloudError, CloudNotFound, CloudRefused, CloudUnavailable
from blazar.domain.lease import is_canonical_id
from blazar.plugins.capabilities import HasLeftovers
from blazar.plugins.leftovers import LeftoverKind, Sweep
from blazar.ports.journal import JournalEntry

_FINDER = "sweep"

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweepings:
    """The objects that a sweep found and removed.

    The keys are ``<kind>:<name>``, with the kinds that the plugins declare: ``aggregate``, ``flavor`` and
    others.
    """

    found: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leftover:
    kind: LeftoverKind
    name: str
    reservation_id: str | None

    @property
    def key(self) -> str:
        return f"{self.kind.name}:{self.name}"


def sweep(context: Context, actor: str, *, check_claim: Callable[[], None] = lambda: None) -> Sweepings:
    """Find objects that belong to no reservation; remove those that a sweep an interval ago also found.

    The interval is the longest time that a request takes between creating objects and storing its lease. If
    the database has never contained a lease, no object of a reservation is removed: it may belong to another
    installation that is yet to be imported.

    Args:
        context: The context.
        actor: The actor recorded in the journal.
        check_claim: Called before each removal and each longer step; an exception from it ends the sweep.

    Returns:
        The keys of the objects found, sorted, and of those removed.

    Raises:
        CloudUnavailable: A cloud service does not respond; leftovers of other services were removed.
    """
    leftovers, problem = _find(context, check_claim)
    now = context.clock.now()
    with context.store.begin() as transaction:
        first_seen = transaction.findings.note(_FINDER, [each.key for each in leftovers], now)
        is_new = not transaction.journal.knows_leases()
        transaction.commit()
    if is_new and leftovers:
        _logger.warning(
            "not removing objects of unknown reservations, because this database has never contained a lease"
        )
    removed = []
    for each in leftovers:
        if is_new and each.reservation_id is not None:
            continue
        if _is_due(context, first_seen[each.key], now):
            check_claim()
            if _remove(context, each):
                removed.append(each.key)
    _report(context, actor, sorted(first_seen), sorted(removed))
    if problem is not None:
        raise problem
    return Sweepings(found=tuple(sorted(first_seen)), removed=tuple(sorted(removed)))


def find_leftovers(context: Context) -> tuple[str, ...]:
    """Return objects that belong to no reservation, by key as in :class:`Sweepings`; change nothing.

    Raises:
        CloudUnavailable: A cloud service does not respond.
    """
    leftovers, problem = _find(context, lambda: None)
    if problem is not None:
        raise problem
    return tuple(sorted({each.key for each in leftovers}))


def find_owners(context: Context) -> Mapping[str, str]:
    """Return marked objects by key, with the id of the reservation for which each was made.

    They are leftovers or belong to a live reservation.

    Raises:
        CloudUnavailable: A cloud service does not respond.
    """
    found = [each for kind in _kinds(context, lambda: None) for each in _candidates(kind)]
    return {each.key: each.reservation_id for each in found if each.reservation_id is not None}


def _find(
    context: Context, check_claim: Callable[[], None]
) -> tuple[list[_Leftover], CloudUnavailable | None]:
    """Return the objects that belong to no live reservation, in the order of their removal.

    The second value is the error of a cloud service that did not respond, if one did not.
    """
    candidates: list[_Leftover] = []
    problem: CloudUnavailable | None = None
    for kind in _kinds(context, check_claim):
        try:
            candidates += _candidates(kind)
        except CloudUnavailable as error:
            problem = problem or error
    # Read the database after the cloud, so that objects created later are not among the candidates.
    deployed = _deployed(context, candidates)
    return [each for each in candidates if each.reservation_id not in deployed], problem


def _kinds(context: Context, check_claim: Callable[[], None]) -> tuple[LeftoverKind, ...]:
    """Return each kind once, however many plugins share it."""
    sweep = Sweep(cloud=context.cloud, store=context.store, clock=context.clock, check_claim=check_claim)
    by_class: dict[type[LeftoverKind], LeftoverKind] = {}
    for _, plugin in sorted(context.plugins.items()):
        for kind in plugin.leftover_kinds(sweep) if isinstance(plugin, HasLeftovers) else ():
            by_class.setdefault(type(kind), kind)
    return tuple(by_class.values())


def _candidates(kind: LeftoverKind) -> list[_Leftover]:
    try:
        found = kind.candidates()
    except CloudUnavailable:
        raise
    except CloudError as error:
        _logger.warning("cannot look for leftovers: kind=%s reason=%s", kind.name, error)
        return []
    except Exception:
        # A faulty plugin must not stop the sweep.
        _logger.exception("cannot look for leftovers: kind=%s", kind.name)
        return []
    return [
        _Leftover(kind=kind, name=name, reservation_id=owner)
        for name, owner in sorted(found.items())
        if owner is None or is_canonical_id(owner)
    ]


def _deployed(context: Context, leftovers: list[_Leftover]) -> frozenset[str]:
    """Return the reservations of the leftovers that may have items in the cloud."""
    ids = {each.reservation_id for each in leftovers if each.reservation_id is not None}
    if not ids:
        return frozenset()
    with context.store.read() as transaction:
        return transaction.leases.deployed_reservations(sorted(ids))


def _is_due(context: Context, first_seen: datetime, now: datetime) -> bool:
    # A sweep that failed is repeated soon; such a repetition does not count as the second sighting.
    return first_seen < now and now - first_seen >= context.settings.reconciler.sweep_interval


def _remove(context: Context, leftover: _Leftover) -> bool:
    # Check again: a reservation's id is never reused, but a pass that was in progress may only now have
    # recorded the item.
    if _deployed(context, [leftover]):
        return False
    try:
        return leftover.kind.remove(leftover.name)
    except CloudNotFound:
        return True
    except (CloudConflict, CloudRefused) as error:
        _logger.warning("cannot remove a leftover: object=%s reason=%s", leftover.key, error)
        return False


def _report(context: Context, actor: str, found: list[str], removed: list[str]) -> None:
    if not found:
        return
    _logger.warning(
        "sweep has found leftovers: found=%s removed=%s", ", ".join(found), ", ".join(removed) or "nothing"
    )
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
