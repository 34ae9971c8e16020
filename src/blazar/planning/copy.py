"""A copy of everything that searches need, as of one instant: it may be changed, and nothing is stored."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from blazar.booking.context import Context
from blazar.booking.index import AvailabilityIndex
from blazar.domain.errors import CannotChange
from blazar.ports.store import Store, Transaction

if TYPE_CHECKING:
    from blazar.domain.availability import Availability
    from blazar.ports.clock import Clock

HOSTS: Final = "host"
"""The collection of the resources that are planned."""


@contextmanager
def copied(context: Context) -> Iterator[Context]:
    """Yield a context in which searches and plans work on a copy of the present data.

    All of it is read in one transaction, and the clock stands still. Changes of the indexes stay in the copy;
    a transaction that would write is refused.
    """
    now = context.clock.now()
    with context.store.read() as transaction:
        store, clock = CopiedStore(transaction), StandingClock(now)
        inside = replace(context, store=store, clock=clock)
        indexes = {key: CopiedIndex.of(each, store, clock) for key, each in context.indexes.items()}
        yield replace(inside, indexes=indexes)


@dataclass(frozen=True, slots=True)
class StandingClock:
    """A clock that always shows the same instant."""

    instant: datetime

    def now(self) -> datetime:
        """Return the instant."""
        return self.instant

    def wait(self, event: threading.Event, timeout: timedelta) -> bool:
        """Return at once whether the event is set."""
        return event.is_set()


class CopiedStore:
    """The database as one transaction sees it."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    @contextmanager
    def begin(self) -> Iterator[Transaction]:
        """Refuse to write. Raises CannotChange."""
        raise CannotChange("A plan works on a copy of the data and stores nothing")
        yield

    @contextmanager
    def read(self, *, of_one_instant: bool = True) -> Iterator[Transaction]:
        """Yield the transaction."""
        yield self._transaction


class CopiedIndex(AvailabilityIndex):
    """An index that was loaded once and does not follow the database; what it yields may be changed."""

    @classmethod
    def of(cls, index: AvailabilityIndex, store: Store, clock: Clock) -> CopiedIndex:
        """Return a copy of an index, read from *store*."""
        copy = cls(store, clock, index._collection, index._casefold_facts, index._common_facts)
        with super(CopiedIndex, copy).searching():
            pass
        return copy

    @contextmanager
    def searching(self, until: datetime | None = None) -> Iterator[Availability]:
        """Yield the copy."""
        with self.searching_on(until) as availability:
            yield availability

    def confirm(self) -> bool:
        """Return False: there is nothing to compare with."""
        return False


if TYPE_CHECKING:

    def _witnesses(store: CopiedStore, clock: StandingClock) -> tuple[Store, Clock]:
        return store, clock
