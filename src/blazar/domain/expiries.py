"""The bookings that expire, and when."""

from __future__ import annotations

from collections.abc import Sequence

_NEVER = 2**63 - 1


class Expiries:
    """The expiries of bookings by position and owner, in microseconds; few bookings have one."""

    def __init__(self) -> None:
        self._of: dict[int, dict[int, int]] = {}
        self._next = _NEVER

    def __len__(self) -> int:
        """Return the number of expiries."""
        return sum(map(len, self._of.values()))

    def put(self, position: int, owner: int, at: int) -> None:
        """Set the instant at which the owner's bookings of a position expire."""
        self._of.setdefault(position, {})[owner] = at
        self._next = min(self._next, at)

    def forget(self, position: int, owner: int | None = None) -> None:
        """Remove the expiry of an owner's bookings of a position; None: of all owners."""
        if owner is None:
            self._of.pop(position, None)
        elif position in self._of:
            self._of[position].pop(owner, None)

    def take(self, now: int) -> Sequence[tuple[int, int]]:
        """Remove and return the positions and owners of the bookings that have expired by *now*."""
        if now < self._next:
            return ()
        expired = [
            (position, owner)
            for position, owners in self._of.items()
            for owner, at in owners.items()
            if at <= now
        ]
        for position, owner in expired:
            del self._of[position][owner]
        self._of = {position: owners for position, owners in self._of.items() if owners}
        self._next = min((at for owners in self._of.values() for at in owners.values()), default=_NEVER)
        return expired
