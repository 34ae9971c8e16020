"""Choice of hosts for slots: a pure function of the facts and bookings of all hosts.

Upper bounds of the free slots are known for all hosts. The exact number is computed host by host, in the
order of preference, only until enough slots are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blazar.domain.availability import Availability
from blazar.domain.booking_rows import Mask
from blazar.domain.capacity import Demand, Share
from blazar.domain.errors import CannotChange, InvalidRequirement
from blazar.domain.lease import Holdings, ResourceId
from blazar.domain.requirements import Requirement, unknown_keys
from blazar.plugins.contract import Wish
from blazar.plugins.hosts.errors import NotEnoughHosts
from blazar.plugins.hosts.host import HOST_FACTS

_FIRST_CHUNK = 32
"""Number of hosts in the first exact evaluation; it doubles each time."""


def choose_slots(
    wish: Wish[Any],
    availability: Availability,
    *,
    demand: Demand,
    amount: int,
    affinity: bool | None,
    requirement: Requirement,
) -> Holdings:
    """Return the hosts to hold, with the number of slots on each; held slots come first.

    In order of preference: hosts that the reservation holds, hosts that other reservations share, unused
    hosts; in each group, hosts with few scarce properties that are not requested first, then small hosts. An
    active reservation keeps its slots where they are; when it shrinks, it keeps those in use.

    Args:
        wish: The window and the present holdings; its spec is not used.
        availability: All hosts.
        demand: The demand of a slot; it is fixed while a reservation is active.
        amount: The number of slots.
        affinity: True for one host, false for different hosts, None for any.
        requirement: The requirement for a host.

    Raises:
        NotEnoughHosts: Too few slots are free, or too few on the hosts of an active reservation.
        CannotChange: More slots are in use than would remain.
        InvalidRequirement: The requirement names a property that no host has, or that the caller may not see.
    """
    unknown = unknown_keys(requirement, availability.known_facts() - wish.hidden | HOST_FACTS)
    if unknown:
        raise InvalidRequirement("resource_properties", f"no host has a property named {', '.join(unknown)}")
    search = _Search(wish, availability, demand, amount, affinity, requirement)
    found = search.together() if affinity and not search.is_bound else search.apart()
    return {
        availability.resource_at(position).id: Share(slots=slots, demand=demand)
        for position, slots in found.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """The slots that a reservation holds on one host, how many must stay, and how many fit."""

    slots: int
    needed: int
    free: int


class _Search:
    """One search. Hosts are identified by their positions."""

    def __init__(
        self,
        wish: Wish[Any],
        availability: Availability,
        demand: Demand,
        amount: int,
        affinity: bool | None,
        requirement: Requirement,
    ) -> None:
        self._wish = wish
        self._availability = availability
        self._amount = amount
        self._affinity = affinity
        self._asked = requirement.keys
        self._held_mask = availability.mask_of(wish.held)
        self._suitable = (
            availability.matching(requirement)
            & (availability.reservable() | self._held_mask)
            & ~availability.mask_of(wish.excluded)
        )
        self._headroom = availability.headroom(
            demand,
            wish.window,
            now=wish.now,
            cleaning_time=wish.cleaning_time,
            ignoring=wish.ignoring,
            awaited=wish.awaited,
            beside=wish.beside,
            among=self._suitable | self._held_mask,
        )
        self.is_bound = wish.is_active and bool(wish.held)
        """Whether the lessee uses slots that must stay where they are."""
        least = amount if affinity and not self.is_bound else 1
        self._usable = self._suitable & (self._headroom.at_most >= least)
        self._held = self._look_at_held()

    def together(self) -> dict[int, int]:
        """Return one host with room for all slots. Raises NotEnoughHosts."""
        most = 0
        for position, free in self._offers():
            if free >= self._amount:
                return {position: self._amount}
            most = max(most, free)
        raise self._shortage(max(most, self._bound(self._suitable & ~self._usable)))

    def apart(self) -> dict[int, int]:
        """Return hosts that together have room for all slots. Raises NotEnoughHosts."""
        found = self._keep()
        lacking = self._amount - sum(found.values())
        bound = self._bound(self._usable)
        if lacking and bound < self._amount:
            raise self._shortage(bound)
        for position, free in self._offers() if lacking else ():
            more = min(self._limited(free) - found.get(position, 0), lacking)
            if more > 0:
                found[position] = found.get(position, 0) + more
                lacking -= more
            if not lacking:
                break
        if lacking:
            raise self._shortage(self._amount - lacking)
        return found

    def _what_must_stay(self) -> Mapping[ResourceId, int]:
        """Return how many slots must stay on each host: all, or, if the reservation shrinks, those in use.

        Raises:
            CannotChange: More slots must stay than were requested.
        """
        if not self.is_bound:
            return {}
        held = {key: share.slots for key, share in self._wish.held.items() if share}
        if self._amount >= sum(held.values()):
            return held
        in_use = self._wish.in_use
        needed = {key: min(slots, in_use.get(key, 0)) for key, slots in held.items()}
        if sum(needed.values()) > self._amount:
            raise CannotChange(
                f"amount: {sum(needed.values())} servers of the reservation exist, so it needs as many slots",
                amount=self._amount,
                in_use=sum(needed.values()),
            )
        return needed

    def _look_at_held(self) -> dict[int, _Held]:
        """Return the holdings on existing hosts, in the order of preference.

        Raises:
            NotEnoughHosts: A host has no room for slots that must stay.
            CannotChange: As for :meth:`_what_must_stay`.
        """
        needed = self._what_must_stay()
        positions = self._availability.in_order(self._held_mask, self._wish.shuffle)
        held = {}
        for position, free in self._evaluated(positions):
            resource_id = self._availability.resource_at(position).id
            share = self._wish.held[resource_id]
            slots = share.slots if share else 0
            if not self._availability.reservable()[position]:
                free = min(free, slots)  # held slots may stay; none are added
            held[position] = _Held(
                slots=slots,
                needed=needed.get(resource_id, 0),
                free=free if self._usable[position] else 0,
            )
        possible = sum(min(each.needed, each.free) for each in held.values())
        if possible < sum(needed.values()):
            raise NotEnoughHosts(
                "Not enough hosts available: slots in use would have to be released or moved, because their"
                " host no longer fits, or is reserved for another lease in the new period",
                in_use=sum(needed.values()),
                would_remain=possible,
            )
        return held

    def _keep(self) -> dict[int, int]:
        """Return the held slots to keep, by position."""
        kept = {
            position: max(each.needed, min(each.slots, self._limited(each.free)))
            for position, each in self._held.items()
        }
        self._drop(kept, sum(kept.values()) - self._amount)
        return {position: slots for position, slots in kept.items() if slots}

    def _drop(self, kept: dict[int, int], surplus: int) -> None:
        """Remove slots: all slots of a host where possible, starting with the smallest shares."""
        positions = list(kept)[::-1]
        positions.sort(key=lambda position: kept[position])
        for is_all_dropped in (True, False):
            for position in positions:
                dropped = min(kept[position] - self._held[position].needed, surplus)
                if dropped > 0 and (dropped == kept[position] or not is_all_dropped):
                    kept[position] -= dropped
                    surplus -= dropped

    def _offers(self) -> Iterator[tuple[int, int]]:
        """Yield hosts that may have room, in the order of preference, with their free slots."""
        for position, each in self._held.items():
            yield position, each.free
        if self._affinity and self.is_bound:
            return
        others = self._usable & ~self._held_mask
        for group in (others & self._headroom.is_shared, others & ~self._headroom.is_shared):
            in_order = self._availability.in_order(group, self._wish.shuffle)
            yield from self._evaluated(self._availability.common_first(in_order, self._asked))

    def _evaluated(self, positions: Sequence[int]) -> Iterator[tuple[int, int]]:
        begin, size = 0, _FIRST_CHUNK
        while begin < len(positions):
            chunk = np.asarray(positions[begin : begin + size], np.intp)
            yield from zip(chunk.tolist(), self._headroom.slots(chunk).tolist(), strict=True)
            begin, size = begin + size, 2 * size

    def _limited(self, free: int) -> int:
        """Return how many of a host's free slots may be taken."""
        return min(free, 1) if self._affinity is False else free

    def _bound(self, mask: Mask) -> int:
        """Return an upper bound for the slots on one of the hosts (with affinity) or on all of them."""
        bounds = self._headroom.at_most[mask]
        if self._affinity:
            return int(bounds.max(initial=0))
        return int(np.minimum(bounds, 1 if self._affinity is False else self._amount).sum())

    def _shortage(self, at_most: int) -> NotEnoughHosts:
        where = {None: "", True: " on one host", False: " on different hosts"}[self._affinity]
        window = self._wish.window
        return NotEnoughHosts(
            f"Not enough hosts available: {self._amount} slots{where} asked for (amount), at most {at_most}"
            f" fit and are free from {window.start:%Y-%m-%d %H:%M} to {window.end:%Y-%m-%d %H:%M} UTC",
            amount=self._amount,
            available=at_most,
        )
