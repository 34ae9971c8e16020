"""Resolution of double bookings by the existing service.

Claims are processed one by one, better claims first: running leases before others, then older leases. A claim
that conflicts with those before it is not kept; healing finds other resources for its reservation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from blazar.domain.capacity import Share
from blazar.domain.interval import Interval
from blazar.domain.lease import ResourceId
from blazar.domain.levels import Levels
from blazar.domain.providers import HostProvider
from blazar.importer.present import Booking


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The claim of an imported reservation on a resource."""

    resource_id: ResourceId
    window: Interval
    share: Share | None
    holder: str
    has_begun: bool = False
    """Its lessee may be using it, so that no slot of it is released."""
    is_together: bool = False
    """All slots must be on one host, so that some of them are of no use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The kept part of a claim: all of it, some of its slots, or nothing; and the reason if not all."""

    kept: Share | bool
    reason: str = ""
    is_overbooked: bool = False
    """The slots exceed the host's capacity, whether they are kept or not."""


class KeptBookings:
    """The claims that are kept, by resource."""

    def __init__(
        self,
        present: Mapping[ResourceId, tuple[Booking, ...]],
        providers: Mapping[ResourceId, Sequence[HostProvider]],
    ) -> None:
        """Start with the reservations of this service.

        Args:
            present: Their allocations by resource.
            providers: The supply of the hosts.
        """
        self._kept: dict[ResourceId, list[Booking]] = defaultdict(list)
        for resource_id, bookings in present.items():
            self._kept[resource_id] += bookings
        self._providers = providers

    def take(self, claim: Claim) -> Verdict:
        """Keep as much of a claim as possible, and return the verdict."""
        beside = [each for each in self._kept[claim.resource_id] if each.window.overlaps(claim.window)]
        rival = next((each for each in beside if claim.share is None or each.share is None), None)
        if rival is not None:
            when = f"{rival.window.start:%Y-%m-%d %H:%M} to {rival.window.end:%Y-%m-%d %H:%M}"
            return Verdict(kept=False, reason=f"{rival.holder} also holds it from {when}, and keeps it")
        if claim.share is None:
            return self._keep(claim, None)
        return self._take_slots(claim, claim.share, beside)

    def _take_slots(self, claim: Claim, share: Share, beside: Sequence[Booking]) -> Verdict:
        headroom = self._headroom(claim.resource_id, share, claim.window, beside)
        if headroom is None or headroom >= share.slots:
            return self._keep(claim, share)
        others = ", ".join(sorted({each.holder for each in beside})) or "no others"
        reason = f"{share.slots} instances, but capacity for {headroom} in addition to {others}"
        if claim.has_begun:
            self._keep(claim, share)
            return Verdict(kept=share, reason=f"{reason}; they are in use and are kept", is_overbooked=True)
        if headroom <= 0 or claim.is_together:
            return Verdict(kept=False, reason=f"{reason}; managers search for others", is_overbooked=True)
        kept = Share(slots=headroom, demand=share.demand)
        self._keep(claim, kept)
        return Verdict(kept=kept, reason=f"{reason}; managers search for others", is_overbooked=True)

    def _keep(self, claim: Claim, share: Share | None) -> Verdict:
        booking = Booking(window=claim.window, share=share, holder=claim.holder)
        self._kept[claim.resource_id].append(booking)
        return Verdict(kept=True if share is None else share)

    def _headroom(
        self, resource_id: ResourceId, share: Share, window: Interval, beside: Sequence[Booking]
    ) -> int | None:
        """Return the number of slots that fit; None if it is unknown.

        The existing service compares no ``virtual:instance`` slot with Placement's inventories. So a class
        that the host does not have, as far as is known, is no reason to reject a claim.
        """
        headrooms = []
        for name, amount in share.demand.amounts:
            capacity = sum(
                each.inventories[name].capacity
                for each in self._providers.get(resource_id, ())
                if name in each.inventories
            )
            if capacity > 0:
                headrooms.append((capacity - _peak(name, window, beside)) // amount)
        return max(0, min(headrooms)) if headrooms else None


def _peak(resource_class: str, window: Interval, bookings: Iterable[Booking]) -> int:
    """Return the highest amount of a class that is reserved at one instant of a window."""
    levels = Levels()
    for each in bookings:
        if each.share is not None:
            amount = dict(each.share.demand.amounts).get(resource_class, 0) * each.share.slots
            levels.add(each.window.after(window.start), amount)
    return levels.peak()
