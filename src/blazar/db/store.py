"""Transactions, and the translation of database errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import sqlalchemy as sa
from oslo_db import exception as oslo_exception
from sqlalchemy import exc

from blazar.db.allocations import SqlAllocations
from blazar.db.answers import SqlAnswers
from blazar.db.availability import SqlAvailability
from blazar.db.collections import OWN_TABLES
from blazar.db.connection import Connection
from blazar.db.deliveries import SqlDeliveries
from blazar.db.driver_errors import driver_error_of
from blazar.db.drivers import LATEST, WRITES
from blazar.db.feeds import SqlFeeds
from blazar.db.journal import SqlFindings, SqlJournal
from blazar.db.leases import SqlLeases
from blazar.db.maintenance import SqlMaintenances
from blazar.db.notices import SqlNotices
from blazar.db.numbers import first_number
from blazar.db.offers import SqlOffers
from blazar.db.outbox import SqlOutbox
from blazar.db.parts import Parts
from blazar.db.plugin_resources import SqlPluginResources
from blazar.db.quotas import SqlQuotas
from blazar.db.resources import SqlResources
from blazar.db.specs import SpecColumn
from blazar.db.subscriptions import SqlSubscriptions
from blazar.db.tables import NO_DOUBLE_PROMISE, journal
from blazar.db.usage import SqlUsage
from blazar.db.uses import SqlUses
from blazar.db.work import SqlWork
from blazar.domain.errors import AlreadyExecuted, BlazarError, ConcurrentUpdate, Unavailable
from blazar.ports.clock import Clock
from blazar.ports.specs import SpecCodec
from blazar.ports.store import Store, StoreKey, StoreT, Transaction

_NO_ROOM = partial(Unavailable, "The database has no room left")
_MEANINGS: Mapping[str, Callable[[], BlazarError]] = {
    NO_DOUBLE_PROMISE: partial(ConcurrentUpdate, "Another transaction reserved a resource concurrently"),
    # PostgreSQL's library uses this text for every connection that fails, whatever the cause.
    "connection to server": partial(Unavailable, "The database cannot be reached"),
    # A Galera node lost contact to the others during a commit: the outcome is unknown.
    "during COMMIT": partial(Unavailable, "The database cluster did not confirm a commit"),
    "Not connected to Primary Component": partial(Unavailable, "The database cluster has no majority"),
    "Server shutdown in progress": partial(Unavailable, "The database is shutting down"),
    "Query execution was interrupted": partial(Unavailable, "The database interrupted a statement"),
    "database is locked": partial(ConcurrentUpdate, "The database is busy"),
    # SQLite, PostgreSQL and MariaDB on a full disk.
    "disk is full": _NO_ROOM,
    "disk I/O error": _NO_ROOM,
    "No space left on device": _NO_ROOM,
    "Disk full": _NO_ROOM,
}
"""The meaning of errors without a class in the library, by a part of their text."""


class SqlTransaction:
    """One transaction on one connection; collections are created on access."""

    def __init__(
        self, connection: Connection, clock: Clock, specs: SpecColumn, first_number: Callable[[], int]
    ) -> None:
        self._connection = connection
        self._specs = specs
        self._clock = clock
        self._first_number = first_number

    @property
    def leases(self) -> SqlLeases:
        """Return the leases."""
        return SqlLeases(self._connection, self._specs)

    @property
    def allocations(self) -> SqlAllocations:
        """Return the allocations."""
        return SqlAllocations(self._connection, self._clock)

    @property
    def resources(self) -> SqlResources:
        """Return the resources of every type."""
        return SqlResources(self._connection)

    def of(self, key: StoreKey[StoreT]) -> StoreT:
        """Return the store of a collection that has tables of its own."""
        parts = Parts(
            connection=self._connection,
            clock=self._clock,
            specs=self._specs,
            first_number=self._first_number,
        )
        found: StoreT = OWN_TABLES[key.collection].open(parts)
        return found

    @property
    def plugin_resources(self) -> SqlPluginResources:
        """Return the discovered and registered resources of plugins."""
        return SqlPluginResources(self._connection, self._first_number)

    @property
    def availability(self) -> SqlAvailability:
        """Return the reader for searches."""
        return SqlAvailability(self._connection)

    @property
    def work(self) -> SqlWork:
        """Return the planned work and its claims."""
        return SqlWork(self._connection, self._first_number)

    @property
    def journal(self) -> SqlJournal:
        """Return the journal."""
        return SqlJournal(self._connection)

    @property
    def outbox(self) -> SqlOutbox:
        """Return the outbox."""
        return SqlOutbox(self._connection)

    @property
    def findings(self) -> SqlFindings:
        """Return the findings of checks."""
        return SqlFindings(self._connection)

    @property
    def quotas(self) -> SqlQuotas:
        """Return the reserved amounts of projects."""
        return SqlQuotas(self._connection)

    @property
    def uses(self) -> SqlUses:
        """Return the uses of projects."""
        return SqlUses(self._connection)

    @property
    def usage(self) -> SqlUsage:
        """Return the records of usage."""
        return SqlUsage(self._connection, self._specs)

    @property
    def answers(self) -> SqlAnswers:
        """Return the stored answers."""
        return SqlAnswers(self._connection)

    @property
    def offers(self) -> SqlOffers:
        """Return the offers."""
        return SqlOffers(self._connection, self._specs)

    @property
    def maintenances(self) -> SqlMaintenances:
        """Return the maintenances."""
        return SqlMaintenances(self._connection)

    @property
    def feeds(self) -> SqlFeeds:
        """Return the feeds."""
        return SqlFeeds(self._connection)

    @property
    def notices(self) -> SqlNotices:
        """Return the notices for which no deliveries exist yet."""
        return SqlNotices(self._connection)

    @property
    def subscriptions(self) -> SqlSubscriptions:
        """Return the subscriptions."""
        return SqlSubscriptions(self._connection)

    @property
    def deliveries(self) -> SqlDeliveries:
        """Return the deliveries of notices."""
        return SqlDeliveries(self._connection)

    def commit(self) -> None:
        """Commit all changes."""
        self._connection.commit()


class SqlStore:
    """The store on a database whose schema is current."""

    def __init__(
        self,
        engine: sa.Engine,
        clock: Clock,
        codecs: Mapping[str, SpecCodec],
        first_number: Callable[[], int] = first_number,
    ) -> None:
        """Create a store.

        Args:
            engine: The database engine.
            clock: The source of the present time.
            codecs: The codecs of reservations' specs, by resource type.
            first_number: Returns the initial value of a new row's counter; a random one except in tests.
        """
        self._engine = engine
        self._clock = clock
        self._specs = SpecColumn(codecs)
        self._first_number = first_number

    @contextmanager
    def begin(self) -> Iterator[SqlTransaction]:
        """Begin a transaction that may write; without ``commit`` it is rolled back.

        Raises:
            ConcurrentUpdate: A deadlock, the database's rejection of a double booking, or a row that
                another transaction added or removed meanwhile.
            Unavailable: The connection failed or was lost, or the disk is full.
        """
        with translated(), self._engine.connect() as connection:
            writing = connection.execution_options(**{WRITES: True})
            yield SqlTransaction(Connection(writing), self._clock, self._specs, self._first_number)

    @contextmanager
    def read(self, *, of_one_instant: bool = True) -> Iterator[SqlTransaction]:
        """Begin a read-only transaction. Raises Unavailable."""
        with translated(writes=False), self._engine.connect() as connection:
            reading = connection if of_one_instant else connection.execution_options(**{LATEST: True})
            yield SqlTransaction(Connection(reading), self._clock, self._specs, self._first_number)


@contextmanager
def translated(*, writes: bool = True) -> Iterator[None]:
    """Convert database errors to ConcurrentUpdate or Unavailable where they have that meaning.

    A transaction that only reads has no part in a deadlock. But a node of a Galera cluster reports one for
    each statement that waits for changes of other nodes while the node is separated from them.
    """
    try:
        yield
    except oslo_exception.DBConnectionError as error:
        raise Unavailable("The database cannot be reached") from error
    except oslo_exception.DBDeadlock as error:
        if not writes:
            raise Unavailable("The database is separated from the other nodes of its cluster") from error
        raise ConcurrentUpdate("The database resolved a deadlock") from error
    except (oslo_exception.DBDuplicateEntry, oslo_exception.DBReferenceError) as error:
        raise _conflict(error) from error
    except (oslo_exception.DBError, exc.DBAPIError) as error:
        text = str(driver_error_of(error))
        meaning = next((meaning for part, meaning in _MEANINGS.items() if part in text), None)
        if meaning is None:
            raise
        raise meaning() from error
    except exc.TimeoutError as error:
        raise Unavailable("No database connection became free in time") from error


def _conflict(error: Exception) -> BlazarError:
    """Return what it means that a row exists already, or that one to which it refers does not."""
    if journal.c.executed_request_id.name in str(driver_error_of(error)):
        return AlreadyExecuted("The request has been executed before")
    return ConcurrentUpdate("Another transaction added or removed the same row concurrently")


if TYPE_CHECKING:

    def _witness(store: SqlStore, transaction: SqlTransaction) -> tuple[Store, Transaction]:
        return store, transaction
