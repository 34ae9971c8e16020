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
        self._codes: dict[ReservationId, dict[int | None, int]] = {}
        self._next = 0

    def code(self, reservation_id: ReservationId | None, expires_at: int | None = None) -> int:
        """Return the number for bookings of a reservation that expire at this instant, in microseconds."""
        if reservation_id is None:
            return NO_OWNER
        codes = self._codes.setdefault(reservation_id, {})
        code = codes.get(expires_at)
        if code is None:
            # A number is never used again: keep_only may forget numbers in between.
            code = codes[expires_at] = self._next
            self._next += 1
        return code

    def codes_of(self, reservation_ids: Iterable[ReservationId]) -> Iterator[int]:
        """Yield all numbers of these reservations; those without bookings have none."""
        for each in set(reservation_ids):
            yield from self._codes.get(each, {}).values()

    def keep_only(self, living: Collection[int]) -> None:
        """Forget all other numbers."""
        kept = {
            key: {at: code for at, code in codes.items() if code in living}
            for key, codes in self._codes.items()
        }
        self._codes = {key: codes for key, codes in kept.items() if codes}
