"""May this server run on that host? Decided from plain values; the table is in ``BlazarFilter``."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

HINT = "reservation"
"""The scheduler hint: the id of a reservation, or a list of ids."""
RESERVATION_EXTRA_SPEC = "aggregate_instance_extra_specs:reservation"
"""Extra spec of the flavor of an instance reservation; its value is the reservation's id."""
PREEMPTIBLE_EXTRA_SPEC = "blazar:preemptible"
LEGACY_AVAILABILITY_ZONE_PREFIX = "blazar:"
CLOSED_KEY = "blazar:closed:"
"""Metadata of an aggregate: this, and the name of a host that preemptible servers may use no more."""

_TRUE_WORDS = frozenset({"1", "t", "true", "on", "y", "yes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterSettings:
    """The configuration, see ``blazarnova.options``."""

    freepool_name: str = "freepool"
    owner_key: str = "blazar:owner"
    availability_zone_prefix: str = "blazar_"
    allow_preemptibles: bool = False
    preemptible_aggregate: str = "freepool"
    allow_preemptibles_on_ordinary_hosts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """An aggregate that the host is a member of."""

    name: str
    availability_zone: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The server that is to be placed; ``hint`` is as Nova gives it."""

    project_id: str | None
    hint: object = None
    extra_specs: Mapping[str, str] = field(default_factory=dict)


class Verdict(enum.Enum):
    """The row of the table that decided, and whether the host passes."""

    SHARED = (1, True)
    OWNED = (2, True)
    HINT_NAMES_RESERVATION_OF_FLAVOR = (3, True)
    SOMEBODY_ELSES_POOL = (4, False)
    NOT_IN_A_POOL_OF_THE_HINT = (5, False)
    RESERVATION_FLAVOR = (6, True)
    CLOSED_TO_PREEMPTIBLES = (7, False)
    PREEMPTIBLE_ON_PREEMPTIBLE_HOST = (8, True)
    PREEMPTIBLE_ON_ORDINARY_HOST = (9, True)
    NO_HOST_FOR_PREEMPTIBLES = (10, False)
    IN_A_POOL = (11, False)
    ORDINARY_HOST = (12, True)

    def __init__(self, row: int, passes: bool) -> None:
        self.row = row
        """The number of the row in the docstring of ``BlazarFilter``."""
        self.passes = passes
        """Whether the host may take the server."""


def closed_hosts(aggregates: Sequence[Aggregate]) -> frozenset[str]:
    """Return the names of the hosts that these aggregates close to preemptible servers."""
    return frozenset(
        key.removeprefix(CLOSED_KEY)
        for each in aggregates
        for key in each.metadata
        if key.startswith(CLOSED_KEY)
    )


def decide(
    request: Request, aggregates: Sequence[Aggregate], settings: FilterSettings, *, is_closed: bool = False
) -> Verdict:
    """Return whether a host that is in exactly these *aggregates* may take the requested server.

    Args:
        request: The server.
        aggregates: Those that the host is in.
        settings: The configuration.
        is_closed: Whether the host is among :func:`closed_hosts` of its aggregates.
    """
    pools = [aggregate for aggregate in aggregates if _is_pool(aggregate, settings)]
    if request.hint:
        return _with_hint(request, pools, settings.owner_key)
    if RESERVATION_EXTRA_SPEC in request.extra_specs:
        return Verdict.RESERVATION_FLAVOR
    if settings.allow_preemptibles and _is_preemptible(request):
        return Verdict.CLOSED_TO_PREEMPTIBLES if is_closed else _preemptible(pools, settings)
    return Verdict.IN_A_POOL if pools else Verdict.ORDINARY_HOST


def _is_pool(aggregate: Aggregate, settings: FilterSettings) -> bool:
    """Return whether membership makes a host Blazar's.

    Aggregates of instance reservations have no availability zone; they are no pools, and their hosts
    stay in the freepool.
    """
    prefixes = (settings.availability_zone_prefix, LEGACY_AVAILABILITY_ZONE_PREFIX)
    zone = aggregate.availability_zone
    return aggregate.name in (settings.freepool_name, settings.preemptible_aggregate) or (
        zone is not None and zone.startswith(prefixes)
    )


def _with_hint(request: Request, pools: Sequence[Aggregate], owner_key: str) -> Verdict:
    wanted = _reservation_ids(request.hint)
    named = [pool for pool in pools if pool.name in wanted]
    project_id = request.project_id
    # A request without a project owns nothing, not even an aggregate without an owner.
    if project_id and any(pool.metadata.get(project_id) for pool in named):
        return Verdict.SHARED
    if project_id and any(pool.metadata.get(owner_key) == project_id for pool in named):
        return Verdict.OWNED
    if request.extra_specs.get(RESERVATION_EXTRA_SPEC) in wanted:
        return Verdict.HINT_NAMES_RESERVATION_OF_FLAVOR
    return Verdict.SOMEBODY_ELSES_POOL if named else Verdict.NOT_IN_A_POOL_OF_THE_HINT


def _reservation_ids(hint: object) -> frozenset[str]:
    """Return the ids in a hint; what is neither text nor a list of text names none."""
    items = hint if isinstance(hint, list | tuple) else (hint,)
    return frozenset(item for item in items if isinstance(item, str))


def _is_preemptible(request: Request) -> bool:
    word = request.extra_specs.get(PREEMPTIBLE_EXTRA_SPEC, "")
    return word.strip().lower() in _TRUE_WORDS


def _preemptible(pools: Sequence[Aggregate], settings: FilterSettings) -> Verdict:
    if [pool.name for pool in pools] == [settings.preemptible_aggregate]:
        return Verdict.PREEMPTIBLE_ON_PREEMPTIBLE_HOST
    if not pools and settings.allow_preemptibles_on_ordinary_hosts:
        return Verdict.PREEMPTIBLE_ON_ORDINARY_HOST
    return Verdict.NO_HOST_FOR_PREEMPTIBLES
