"""Choice of pools: a pure function of the facts and bookings of all of them."""

from __future__ import annotations

from collections.abc import Mapping

from blazar.domain.availability import Availability
from blazar.domain.capacity import Share
from blazar.domain.errors import CannotChange, InvalidRequirement
from blazar.domain.lease import Holdings
from blazar.domain.requirements import unknown_keys
from blazar.plugins.contract import Wish
from blazar.plugins.volumes.errors import NotEnoughStorage
from blazar.plugins.volumes.pools import POOL_FACTS
from blazar.plugins.volumes.spec import VolumeSpec


def choose_pools(wish: Wish[VolumeSpec], availability: Availability) -> Holdings:
    """Return the pools to hold, with the number of parts in each.

    In order of preference: pools that the reservation holds, pools that other reservations share, small
    pools. An active reservation keeps its parts where they are; if it has fewer, those in use stay.

    Raises:
        NotEnoughStorage: Too little is free, or the pools of an active reservation have no room to grow.
        CannotChange: More is in use than would remain.
        InvalidRequirement: The spec names a property that no pool has, or that the caller may not see.
    """
    unknown = unknown_keys(wish.spec.requirement, availability.known_facts() - wish.hidden | POOL_FACTS)
    if unknown:
        raise InvalidRequirement("resource_properties", f"no pool has a property named {', '.join(unknown)}")
    return _Search(wish, availability).run()


class _Search:
    """One search. Pools are identified by their positions."""

    def __init__(self, wish: Wish[VolumeSpec], availability: Availability) -> None:
        self._wish, self._spec, self._availability = wish, wish.spec, availability
        self._held = {
            position: share.slots
            for key, share in wish.held.items()
            for position in [availability.position_of(key)]
            if share is not None and position is not None
        }
        self._free = self._count_free()
        self._is_bound = wish.is_active and bool(self._held)
        """Whether the lessee uses parts that must stay where they are."""
        self._needed = self._count_needed()

    def _count_free(self) -> dict[int, int]:
        """Return the number of parts that each suitable pool has room for, in the order of preference."""
        wish, availability = self._wish, self._availability
        headroom = availability.headroom(
            self._spec.demand,
            wish.window,
            now=wish.now,
            cleaning_time=wish.cleaning_time,
            ignoring=wish.ignoring,
            awaited=wish.awaited,
            beside=wish.beside,
        )
        held = availability.mask_of(wish.held)
        reservable = availability.reservable()
        suitable = availability.matching(self._spec.requirement) & ~availability.mask_of(wish.excluded)
        others = suitable & reservable & ~held
        positions = [
            *availability.in_order(suitable & held),
            *availability.in_order(others & headroom.is_shared, wish.shuffle),
            *availability.in_order(others & ~headroom.is_shared, wish.shuffle),
        ]
        free = dict(zip(positions, headroom.slots(positions).tolist(), strict=True)) if positions else {}
        for position, slots in self._held.items():
            if position in free and not reservable[position]:
                free[position] = min(free[position], slots)  # held parts may stay; none are added
        return free

    def _count_needed(self) -> Mapping[int, int]:
        """Return how many parts must stay in each pool. Raises CannotChange, NotEnoughStorage."""
        if not self._is_bound:
            return {}
        used = {
            position: self._wish.in_use.get(self._availability.resource_at(position).id, 0)
            for position in self._held
        }
        least = {position: -(-amount // self._spec.gibibytes) for position, amount in used.items()}
        if (
            any(least[each] > slots for each, slots in self._held.items())
            or sum(least.values()) > self._spec.amount
        ):
            raise CannotChange(
                f"gibibytes, amount: {sum(used.values())} GiB are in use by volumes and snapshots",
                in_use=sum(used.values()),
            )
        needed = least if self._spec.amount < sum(self._held.values()) else dict(self._held)
        if any(slots > self._free.get(each, 0) for each, slots in needed.items()):
            raise NotEnoughStorage(
                "Not enough storage available: the pools of the active reservation have no room for it,"
                " or are reserved for another lease in the new period"
            )
        return needed

    def run(self) -> Holdings:
        """Return the choice. Raises NotEnoughStorage."""
        chosen = self._together() if self._spec.affinity and not self._is_bound else self._apart()
        return {
            self._availability.resource_at(position).id: Share(slots=slots, demand=self._spec.demand)
            for position, slots in chosen.items()
            if slots
        }

    def _together(self) -> Mapping[int, int]:
        for position, free in self._free.items():
            if free >= self._spec.amount:
                return {position: self._spec.amount}
        raise self._shortage(max(self._free.values(), default=0))

    def _apart(self) -> Mapping[int, int]:
        kept = {each: min(slots, self._limited(each)) for each, slots in self._held.items()}
        chosen = {each: max(slots, self._needed.get(each, 0)) for each, slots in kept.items()}
        surplus = sum(chosen.values()) - self._spec.amount
        for position in sorted(chosen, key=lambda each: chosen[each]):
            dropped = max(0, min(chosen[position] - self._needed.get(position, 0), surplus))
            chosen[position] -= dropped
            surplus -= dropped
        lacking = max(0, -surplus)
        for position in self._free:
            if self._is_bound and self._spec.affinity and position not in self._held:
                continue
            more = max(0, min(lacking, self._limited(position) - chosen.get(position, 0)))
            chosen[position] = chosen.get(position, 0) + more
            lacking -= more
        if lacking:
            raise self._shortage(self._spec.amount - lacking)
        return chosen

    def _limited(self, position: int) -> int:
        """Return how many parts may be in a pool."""
        free = self._free.get(position, 0)
        return min(free, 1) if self._spec.affinity is False else free

    def _shortage(self, available: int) -> NotEnoughStorage:
        where = {None: "", True: " in one pool", False: " in different pools"}[self._spec.affinity]
        window = self._wish.window
        return NotEnoughStorage(
            f"Not enough storage available: {self._spec.amount} x {self._spec.gibibytes} GiB{where} asked for"
            f" (amount, gibibytes), {available} of them fit and are free from"
            f" {window.start:%Y-%m-%d %H:%M} to {window.end:%Y-%m-%d %H:%M} UTC",
            amount=self._spec.amount,
            available=available,
        )
