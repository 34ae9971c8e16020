"""An index of all bookings in memory, kept up to date by the log of changes.

The log's numbers are handed out before their transactions commit, so they become visible out of
order: a number that is skipped is waited for before it is given up (ADR-0004).
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from blazar.domain.availability import Availability
from blazar.domain.bookings import Booking
from blazar.domain.lease import ResourceId
from blazar.ports.availability import AvailabilityReader, Change
from blazar.ports.clock import Clock
from blazar.ports.store import Store

_LONGEST_TRANSACTION = timedelta(seconds=60)
"""A number that did not appear within this time was rolled back."""
CHANGES_KEPT_FOR = timedelta(hours=1)
"""How long the log goes back."""
_LONGEST_IDLE = CHANGES_KEPT_FOR / 2
"""After so long without a search the log may have forgotten what the index does not know yet."""
_REREAD = 1000
"""How many numbers before a full load are looked at again, for transactions that were under way."""


class Watermark:
    """Which numbers of the log have been dealt with: all up to ``highest``, but for the ``missing`` ones."""

    def __init__(self, highest: int) -> None:
        self.highest = highest
        self._missing_since: dict[int, datetime] = {}

    @property
    def missing(self) -> Collection[int]:
        """Return the numbers that were skipped and may still come."""
        return self._missing_since.keys()

    def is_new(self, number: int) -> bool:
        """Return whether a number has not been dealt with."""
        return number > self.highest or number in self._missing_since

    def advance(self, numbers: Collection[int], now: datetime) -> None:
        """Note numbers that have been dealt with; those that they skip are waited for from now on.

        Of a long gap, as a purge leaves it, only the end can belong to transactions that are under way.
        """
        for number in sorted(numbers):
            for skipped in range(max(self.highest + 1, number - _REREAD), number):
                self._missing_since[skipped] = now
            self.highest = max(self.highest, number)
            self._missing_since.pop(number, None)
        self._missing_since = {
            number: since
            for number, since in self._missing_since.items()
            if now - since < _LONGEST_TRANSACTION
        }


class AvailabilityIndex:
    """The index of one collection of resources; safe for use by several threads."""

    def __init__(
        self, store: Store, clock: Clock, collection: str, casefold_facts: Collection[str] = ()
    ) -> None:
        self._store = store
        self._clock = clock
        self._collection = collection
        self._casefold_facts = frozenset(casefold_facts)
        self._lock = threading.Lock()
        self._availability: Availability | None = None
        self._watermark = Watermark(0)
        self._refreshed_at: datetime | None = None

    @contextmanager
    def searching(self) -> Iterator[Availability]:
        """Yield the bookings as of now; nobody else searches meanwhile, so be quick."""
        with self._lock:
            with self._store.read() as transaction:
                self._refresh(transaction.availability)
            assert self._availability is not None
            yield self._availability

    def refresh(self) -> None:
        """Learn what has changed; without that for half an hour, the next search has to load everything."""
        with self.searching():
            pass

    def amend(self, availability: Availability) -> bool:
        """Ask the database for all generations, and read anew the resources that have moved on.

        To be called inside of :meth:`searching`, before a request is refused.

        Returns:
            Whether anything was amended, so that another search may succeed.
        """
        with self._store.read() as transaction:
            reader = transaction.availability
            present = reader.all_generations(self._collection)
            stale = [each for each, number in present.items() if _is_stale(availability, each, number)]
            if stale:
                self._reload(reader, availability, stale)
        return bool(stale)

    def _refresh(self, reader: AvailabilityReader) -> None:
        now, last = self._clock.now(), self._refreshed_at
        if self._availability is None or last is None or now - last > _LONGEST_IDLE:
            self._load(reader)
            self._refreshed_at = now
            return
        self._refreshed_at = now
        watermark = self._watermark
        logged = reader.changes(self._collection, watermark.highest, watermark.missing)
        new = [change for change in logged if watermark.is_new(change.sequence)]
        self._follow(reader, self._availability, new)
        watermark.advance([change.sequence for change in new], now)

    def _follow(
        self, reader: AvailabilityReader, availability: Availability, changes: Sequence[Change]
    ) -> None:
        changes_of: dict[ResourceId, list[Change]] = defaultdict(list)
        for change in changes:
            changes_of[change.resource_id].append(change)
        with_facts, booked = set(), set()
        for resource_id, own in changes_of.items():
            if own[-1].present is None:
                availability.drop(resource_id)
            elif any(change.facts_changed for change in own):
                with_facts.add(resource_id)
            elif not _add(availability, resource_id, own):
                booked.add(resource_id)
        if with_facts:
            self._reload(reader, availability, with_facts)
        if booked:
            self._reload_bookings(reader, availability, booked)

    def _load(self, reader: AvailabilityReader) -> None:
        watermark = Watermark(max(0, reader.last_change() - _REREAD))
        availability = Availability(self._casefold_facts)
        availability.load(reader.read(self._collection, None), reader.all_bookings(self._collection))
        self._availability, self._watermark = availability, watermark

    def _reload(
        self, reader: AvailabilityReader, availability: Availability, resource_ids: Collection[ResourceId]
    ) -> None:
        # Resources before bookings: what is booked in between shows in a generation that is too old.
        resources = {each.id: each for each in reader.read(self._collection, resource_ids)}
        bookings = _by_resource(reader, resource_ids)
        for resource_id in resource_ids:
            if resource_id in resources:
                availability.put(resources[resource_id], bookings.get(resource_id, ()))
            else:
                availability.drop(resource_id)

    def _reload_bookings(
        self, reader: AvailabilityReader, availability: Availability, resource_ids: Collection[ResourceId]
    ) -> None:
        generations = reader.generations(resource_ids)
        bookings = _by_resource(reader, resource_ids)
        unknown = set()
        for resource_id in resource_ids:
            if resource_id not in generations:
                availability.drop(resource_id)
            elif not availability.put_bookings(
                resource_id, generations[resource_id], bookings.get(resource_id, ())
            ):
                unknown.add(resource_id)
        if unknown:
            self._reload(reader, availability, unknown)


def _add(availability: Availability, resource_id: ResourceId, changes: Sequence[Change]) -> bool:
    """Add what was newly booked of a resource; return whether that is all that happened to it.

    It is if entries tell of every generation between the one that is known and the present one. A generation
    is what all changes up to it have left, so that entries of earlier ones have nothing new.
    """
    known, present = availability.get(resource_id), changes[-1].present
    if known is None or present is None:
        return False
    if present <= known.generation:
        return True
    new = [each for each in changes if each.generation is None or each.generation > known.generation]
    if {each.generation for each in new} != set(range(known.generation + 1, present + 1)):
        return False
    bookings = {each.reservation_id: each.bookings for each in new if each.reservation_id is not None}
    availability.put_bookings_of(resource_id, present, bookings)
    return True


def _by_resource(
    reader: AvailabilityReader, resource_ids: Collection[ResourceId]
) -> Mapping[ResourceId, list[Booking]]:
    grouped: dict[ResourceId, list[Booking]] = defaultdict(list)
    for booking in reader.bookings(resource_ids):
        grouped[booking.resource_id].append(booking)
    return grouped


def _is_stale(availability: Availability, resource_id: ResourceId, generation: int) -> bool:
    known = availability.get(resource_id)
    return known is None or known.generation != generation
