"""An in-memory index of all bookings, kept current by the change log.

Sequence numbers of the log are assigned before their transactions commit, so they become visible out of
order. The index waits for a skipped number before it gives up on it (ADR-0004).
"""

from __future__ import annotations

import hashlib
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta

from blazar.booking.contention import FairLock
from blazar.domain.availability import Availability, Resource
from blazar.domain.bookings import Booking
from blazar.domain.errors import Unavailable
from blazar.domain.lease import ResourceId
from blazar.domain.offers import EXPIRY_GRACE
from blazar.domain.requirements import Fact, Requirement
from blazar.ports.availability import AvailabilityReader, Change
from blazar.ports.clock import Clock
from blazar.ports.store import Store

_LONGEST_TRANSACTION = timedelta(seconds=10)
"""Time after which a missing number counts as rolled back.

If its transaction was delayed for longer, the index misses a change until the first claim that relies on it
fails; see :meth:`AvailabilityIndex.doubt`. Waiting has a cost: cluster nodes skip two of three numbers, and
each search queries every number that is still awaited.
"""
CHANGES_KEPT_FOR = timedelta(hours=1)
"""Retention of the change log."""
_LONGEST_IDLE = CHANGES_KEPT_FOR / 2
"""Longest time without a search; after it, the log may have lost changes that the index has not read."""
_REREAD = 1000
"""Numbers before a full load that are read again, because their transactions may have been open."""


class Watermark:
    """The processed numbers of the log: all up to ``highest``, except for the ``missing`` ones."""

    def __init__(self, highest: int) -> None:
        self.highest = highest
        self._missing_since: dict[int, datetime] = {}

    @property
    def missing(self) -> Collection[int]:
        """Return the numbers that were skipped and may still appear."""
        return self._missing_since.keys()

    def is_new(self, number: int) -> bool:
        """Return whether a number has not been processed."""
        return number > self.highest or number in self._missing_since

    def advance(self, numbers: Collection[int], now: datetime) -> None:
        """Record processed numbers; from now on, wait for the numbers that they skip.

        In a long gap, such as one left by a purge, only the end can belong to open transactions.
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
    """The index of one collection of resources; thread-safe.

    Args:
        store: The store.
        clock: The clock.
        collection: The collection.
        casefold_facts: Names of facts whose texts are compared without regard to case.
        common_facts: Facts of all resources. A fact of a resource with the same name overrides one of these.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        collection: str,
        casefold_facts: Collection[str] = (),
        common_facts: Mapping[str, Fact] | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._collection = collection
        self._casefold_facts = frozenset(casefold_facts)
        self._common_facts = dict(common_facts or {})
        self._lock = FairLock()
        self._doubted: set[ResourceId] = set()
        self._doubting = threading.Lock()
        self._availability: Availability | None = None
        self._until: datetime | None = None
        """While only the first bookings are loaded: the time from which bookings may be missing."""
        self._has_all = threading.Event()
        self._has_all.set()
        self._watermark = Watermark(0)
        self._refreshed_at: datetime | None = None
        self._version: str | None = None
        self._clock_error: Callable[[], timedelta] = timedelta

    def correct_clock(self, error: Callable[[], timedelta]) -> None:
        """Subtract what *error* returns from the clock to judge whether a booking has expired."""
        self._clock_error = error

    def load_first(self, until: datetime) -> None:
        """Load the bookings that start before *until*, for searches until :meth:`load_all` has returned.

        Raises:
            Unavailable: The database cannot be read.
        """
        now = self._clock.now()
        with self._lock, self._store.read() as transaction:
            self._take(self._read_bookings(transaction.availability, until), now, until)

    def load_all(self) -> None:
        """Load all bookings; meanwhile, other threads can search among the first ones.

        Raises:
            Unavailable: The database cannot be read. The next search loads the bookings.
        """
        now, loaded = self._clock.now(), None
        with self._lock:
            known = () if self._availability is None else self._availability.resources()
            followed = self._watermark.highest
        try:
            with self._store.read() as transaction:
                loaded = self._read_bookings(transaction.availability, None, known, followed)
        finally:
            with self._lock:
                self._take(loaded or (None, Watermark(0)), now)

    @property
    def has_all(self) -> bool:
        """Return whether searches at any time can begin."""
        return self._has_all.is_set()

    @contextmanager
    def searching_on(self, until: datetime | None = None) -> Iterator[Availability]:
        """Yield the bookings as last read, for a further search of a request that has just searched.

        Other requests may search between two searches of a request. *until* is as for :meth:`searching`.
        """
        with self._locked(until):
            if self._availability is None:
                raise Unavailable("The bookings cannot be read")
            yield self._availability

    @contextmanager
    def searching(self, until: datetime | None = None) -> Iterator[Availability]:
        """Yield the current bookings. Holds the lock: other searches wait, so keep the block short.

        Args:
            until: The search needs no bookings that start at this time or later; None if it needs all. While
                a manager starts, it waits for fewer of them.
        """
        with self._locked(until):
            # Changes are read by one statement. What they make it necessary to read again is read in an order
            # in which a later commit shows as a generation that is too old.
            with self._store.read(of_one_instant=self._must_load) as transaction:
                self._refresh(transaction.availability)
            assert self._availability is not None
            self._availability.bookings.drop_expired(self._clock.now() - self._clock_error() - EXPIRY_GRACE)
            yield self._availability

    @contextmanager
    def _locked(self, until: datetime | None) -> Iterator[None]:
        """Hold the lock as soon as the needed bookings are loaded."""
        known = self._until
        if known is not None and (until is None or until > known):
            self._has_all.wait()
        with self._lock:
            yield

    def doubt(self, resource_ids: Collection[str]) -> None:
        """Read these resources from the database before the next search; ignore those of other collections.

        Call this with the stale resources that the error names after a claim that relied on the index was
        refused. Otherwise each further attempt would rely on the same outdated entries.
        """
        with self._doubting:
            self._doubted |= {ResourceId(each) for each in resource_ids}

    def version(self) -> str:
        """Return a string that changes with every change of a resource or of its bookings.

        Every change but the expiry of a booking increments a generation. So the string is the same on all
        managers that have read the same changes. Call this inside :meth:`searching`.
        """
        assert self._availability is not None
        if self._version is None:
            digest = hashlib.blake2b(digest_size=16)
            for resource_id, generation in sorted(self._availability.generations().items()):
                digest.update(f"{resource_id} {generation}\n".encode())
            self._version = digest.hexdigest()
        # With the same generations, the same bookings can expire, and they do so in the same order.
        return f"{self._version}-{len(self._availability.bookings.expiries)}"

    def prepare(self, requirement: Requirement) -> None:
        """Match a requirement outside the lock; a search reuses the result unless facts change first."""
        with self._lock:
            columns = None if self._availability is None else self._availability.columns()
        if columns is not None:
            columns.matching(requirement)

    def refresh(self) -> None:
        """Apply recent changes. If this is not done for half an hour, the next search reloads everything."""
        with self.searching():
            pass

    def confirm(self) -> bool:
        """Compare all generations with those in the database and reload the resources that differ.

        Call this outside :meth:`searching`, before a request is refused; then search once more.

        Returns:
            Whether any resource differed.
        """
        with self._store.read(of_one_instant=False) as transaction:
            summary = transaction.availability.generation_summary(self._collection)
        with self._lock:
            if self._availability is None or self._availability.summary() == summary:
                return False
        # Without the lock, because reading thousands of rows would delay other searches for too long.
        with self._store.read(of_one_instant=False) as transaction:
            present = transaction.availability.all_generations(self._collection)
        with self._lock:
            availability = self._availability
            known = availability.generations()
            stale = [each for each in known.keys() | present.keys() if known.get(each) != present.get(each)]
            if stale:
                with self._store.read() as transaction:
                    self._reload(transaction.availability, availability, stale)
            return bool(stale)

    @property
    def _must_load(self) -> bool:
        last = self._refreshed_at
        return self._availability is None or last is None or self._clock.now() - last > _LONGEST_IDLE

    def _refresh(self, reader: AvailabilityReader) -> None:
        now, must_load = self._clock.now(), self._must_load
        with self._doubting:
            doubted, self._doubted = self._doubted, set()
        if self._availability is None or must_load:
            self._take(self._read_bookings(reader, None), now)
            return
        self._refreshed_at = now
        watermark = self._watermark
        logged = reader.changes(self._collection, watermark.highest, watermark.missing)
        new = [change for change in logged if watermark.is_new(change.sequence)]
        if new:
            self._version = None
        self._follow(reader, self._availability, new)
        watermark.advance([change.sequence for change in new], now)
        known = [each for each in sorted(doubted) if self._availability.get(each) is not None]
        if known:
            self._reload(reader, self._availability, known)

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

    def _take(
        self, loaded: tuple[Availability | None, Watermark], at: datetime, until: datetime | None = None
    ) -> None:
        """Search among what was loaded: the bookings that start before *until*; all for None."""
        self._availability, self._watermark = loaded
        self._refreshed_at, self._until, self._version = at, until, None
        if until is None:
            self._has_all.set()
        else:
            self._has_all.clear()

    def _read_bookings(
        self,
        reader: AvailabilityReader,
        until: datetime | None,
        known: Collection[Resource] = (),
        followed: int = sys.maxsize,
    ) -> tuple[Availability, Watermark]:
        """Return the bookings that start before *until*, and where the log has to be followed from.

        The resources *known* by the log up to the number *followed* are read only if they have changed.
        """
        watermark = Watermark(max(0, min(reader.last_change(), followed) - _REREAD))
        availability = Availability(self._casefold_facts)
        resources = self._read_changed(reader, known) if known else self._read(reader, None)
        parts = reader.all_bookings(self._collection, until)
        availability.load(resources, parts, reader.without_lease(self._collection))
        return availability, watermark

    def _read_changed(self, reader: AvailabilityReader, known: Collection[Resource]) -> Iterable[Resource]:
        """Return all present resources, of which those with another generation are read."""
        generations = reader.all_generations(self._collection)
        same = {each.id: each for each in known if generations.get(each.id) == each.generation}
        changed = [each for each in generations if each not in same]
        read = {each.id: each for each in self._read(reader, changed)} if changed else {}
        return [found for each in generations if (found := same.get(each) or read.get(each)) is not None]

    def _read(
        self, reader: AvailabilityReader, resource_ids: Collection[ResourceId] | None
    ) -> Iterable[Resource]:
        found = reader.read(self._collection, resource_ids)
        if not self._common_facts:
            return found
        return [replace(each, facts={**self._common_facts, **each.facts}) for each in found]

    def _reload(
        self, reader: AvailabilityReader, availability: Availability, resource_ids: Collection[ResourceId]
    ) -> None:
        self._version = None
        # Resources before bookings: a booking made in between then shows as a generation that is too old.
        resources = {each.id: each for each in self._read(reader, resource_ids)}
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
    """Add and drop bookings of a resource; return whether these were all its changes.

    They were if the entries cover every generation between the known one and the present one. A generation
    includes all changes up to it, so entries of earlier generations add nothing.
    """
    known, present = availability.get(resource_id), changes[-1].present
    if known is None or present is None:
        return False
    if present == known.generation:
        return True
    new = [each for each in changes if each.generation is None or each.generation > known.generation]
    # A resource that was registered again has an arbitrary generation, because generations start at random.
    if not 0 < present - known.generation <= len(new):
        return False
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
