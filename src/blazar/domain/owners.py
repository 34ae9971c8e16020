"""Numbers for the owners of bookings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from blazar.domain.lease import ReservationId

NO_OWNER = -1
"""The number for bookings without a reservation."""


class Owners:
    """Gives reservations numbers, and one more for each instant at which some of their bookings expire.

    A reservation of a lease may have bookings that stay and, by offers for the lease, others that expire.
    """

    def __init__(self) -> None:
        # Apart, because a dictionary for each of a million reservations takes most of the memory of an index.
        self._codes: dict[ReservationId, int] = {}
        self._expiring: dict[ReservationId, dict[int, int]] = {}
        self._next = 0

    def code(self, reservation_id: ReservationId | None, expires_at: int | None = None) -> int:
        """Return the number for bookings of a reservation that expire at this instant, in microseconds."""
        if reservation_id is None:
            return NO_OWNER
        # A number is never used again: keep_only may forget numbers in between.
        if expires_at is None:
            code = self._codes.setdefault(reservation_id, self._next)
        else:
            code = self._expiring.setdefault(reservation_id, {}).setdefault(expires_at, self._next)
        self._next = max(self._next, code + 1)
        return code

    def codes_of(self, reservation_ids: Iterable[ReservationId]) -> Iterator[int]:
        """Yield all numbers of these reservations; those without bookings have none."""
        for each in set(reservation_ids):
            if each in self._codes:
                yield self._codes[each]
            yield from self._expiring.get(each, {}).values()

    def keep_only(self, living: Collection[int]) -> None:
        """Forget all other numbers."""
        self._codes = {key: code for key, code in self._codes.items() if code in living}
        kept = {
            key: {at: code for at, code in codes.items() if code in living}
            for key, codes in self._expiring.items()
        }
        self._expiring = {key: codes for key, codes in kept.items() if codes}
