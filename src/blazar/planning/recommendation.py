"""Which hosts to move into the freepool or out of it, and how much headroom to keep.

The freepool is to hold the most hosts that were or are reserved at the same time, or that the operator
expects to be, and as many more as its largest failure domain has, so that what is reserved there can be
placed elsewhere. If no demand is known, which is so of a new cloud, there is no reason to move any host.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from blazar.domain.lease import ResourceId
from blazar.planning.allocation_table import ClassAmounts, amounts_of
from blazar.planning.hosts import PlannedHost, largest_domain
from blazar.planning.load import Load


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """The demand for hosts on which a recommendation is based, in hosts."""

    past: Load
    """What leases had in the past, as far as it is recorded."""
    booked: Load
    """What leases have from now on."""
    refused: Load = field(default_factory=Load)
    """What refused requests would have had in addition, for information: lessees may have taken others."""
    number_refused: int = 0
    growth_percent: float = 0
    expected: int = 0
    """The most hosts that the operator expects to be reserved at the same time."""

    @property
    def needed(self) -> int:
        """Return how many hosts are to be reservable at the same time, without headroom."""
        highest = max(self.past.peak, self.booked.peak)
        return max(self.expected, math.ceil(round(highest * (1 + self.growth_percent / 100), 6)))

    @property
    def is_known(self) -> bool:
        """Return whether anything was reserved, is booked or is expected."""
        return self.needed > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """Hosts to move, and what is so afterwards."""

    demand: Demand
    headroom: int
    """How many usable hosts to keep free in addition to the demand."""
    target: int
    """How many usable hosts the freepool is to have; as many as now if no demand is known."""
    present: int
    """How many it has."""
    move_in: tuple[PlannedHost, ...]
    move_out: tuple[PlannedHost, ...]
    lacking: int
    """Further hosts that are needed, and that the general pool cannot spare now."""
    to_empty: tuple[PlannedHost, ...]
    """Hosts of the general pool with servers that could be emptied for that, fewest servers first."""
    general_before: tuple[ClassAmounts, ...]
    general_after: tuple[ClassAmounts, ...]
    general_limit_percent: float
    """How much of its capacity the general pool may use after hosts have left it."""


def recommend(
    hosts: Sequence[PlannedHost],
    demand: Demand,
    unbooked: Collection[ResourceId],
    *,
    general_limit_percent: float,
) -> Recommendation:
    """Return which hosts to move.

    Args:
        hosts: All hosts.
        demand: The demand.
        unbooked: The registered hosts that nothing books in the horizon.
        general_limit_percent: How much of its capacity the general pool may use afterwards.
    """
    usable = [each for each in hosts if each.is_reservable and each.is_usable]
    general = [each for each in hosts if not each.is_reservable]
    size = _Size(demand.needed, is_spread=len({each.domain for each in usable}) > 1)
    out = _leaving(usable, size, unbooked) if demand.is_known else []
    kept = [each for each in usable if each not in out]
    into = _joining(kept, general, size, general_limit_percent)
    after = [*kept, *into]
    left = [*(each for each in general if each not in into), *out]
    headroom = size.headroom(after)
    target = demand.needed + headroom if demand.is_known else len(usable)
    lacking = max(0, target - len(after))
    busy = sorted((each for each in left if each.servers and each.is_usable), key=_emptiest)
    return Recommendation(
        demand=demand,
        headroom=headroom,
        target=target,
        present=len(usable),
        move_in=tuple(into),
        move_out=tuple(out),
        lacking=lacking,
        to_empty=tuple(busy[:lacking]),
        general_before=amounts_of(general),
        general_after=amounts_of(left),
        general_limit_percent=general_limit_percent,
    )


@dataclass(frozen=True, slots=True)
class _Size:
    """The number of hosts that a freepool is to have."""

    needed: int
    """Without headroom."""
    is_spread: bool
    """Whether it has several failure domains. Otherwise, nothing can make up for the loss of one."""

    def headroom(self, usable: Iterable[PlannedHost]) -> int:
        """Return how many hosts to keep free, to make up for the loss of a failure domain or of a host."""
        largest = largest_domain(usable)
        if not self.needed:
            return 0
        return len(largest[1]) if self.is_spread and largest is not None else 1

    def suffices(self, usable: Sequence[PlannedHost]) -> bool:
        """Return whether there are enough hosts."""
        return len(usable) >= self.needed + self.headroom(usable)


def _leaving(
    usable: Sequence[PlannedHost], size: _Size, unbooked: Collection[ResourceId]
) -> list[PlannedHost]:
    """Return the hosts that are not needed, those of the largest failure domains first."""
    kept, leaving = list(usable), list[PlannedHost]()
    while True:
        sizes = Counter(each.domain for each in kept)
        free = [each for each in kept if each.resource_id in unbooked]
        candidate = min(free, key=lambda each: (-sizes[each.domain], each.name), default=None)
        if candidate is None:
            return leaving
        rest = [each for each in kept if each is not candidate]
        if not size.suffices(rest):
            return leaving
        kept = rest
        leaving.append(candidate)


def _joining(
    kept: Sequence[PlannedHost], general: Sequence[PlannedHost], size: _Size, limit_percent: float
) -> list[PlannedHost]:
    """Return hosts without servers that join, those of the smallest failure domains first."""
    left, joining = list(general), list[PlannedHost]()
    while True:
        usable = [*kept, *joining]
        if size.suffices(usable):
            return joining
        sizes = Counter(each.domain for each in usable)
        spare = [each for each in left if each.is_usable and not each.servers]
        order = sorted(spare, key=lambda each: (sizes[each.domain], each.name))
        candidate = next((each for each in order if _can_spare(left, each, limit_percent)), None)
        if candidate is None:
            return joining
        left.remove(candidate)
        joining.append(candidate)


def _can_spare(general: Iterable[PlannedHost], leaving: PlannedHost, limit_percent: float) -> bool:
    """Return whether the general pool can do without a host."""
    general = list(general)
    without = amounts_of(each for each in general if each is not leaving)
    if not without:
        return not any(each.used for each in amounts_of(general))
    return all(each.used * 100 <= each.capacity * limit_percent for each in without)


def _emptiest(host: PlannedHost) -> tuple[int, str]:
    return host.servers, host.name
