"""The import of the example database on each database backend; both databases use the same one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import old_schema
import pytest
import sqlalchemy as sa
from importer.conftest import ContextOn, url_of
from installation import OldInstallation, id_of

from blazar.booking.context import Context
from blazar.booking.views import lease_view
from blazar.db import tables
from blazar.db.old_service.reader import SqlOldService
from blazar.domain.errors import ConcurrentUpdate
from blazar.domain.lease import LeaseStatus
from blazar.importer.importing import Result, import_database
from blazar.importer.ledger import Fate, Kind, Table
from blazar.plugins.hosts.store import HOST_STORE
from blazar.plugins.hosts.views import host_view

SOURCES: Mapping[Table, sa.Table] = {
    Table.LEASES: old_schema.leases,
    Table.RESERVATIONS: old_schema.reservations,
    Table.EVENTS: old_schema.events,
    Table.HOST_DETAILS: old_schema.host_details,
    Table.SLOT_DETAILS: old_schema.slot_details,
    Table.FLOATINGIP_DETAILS: old_schema.floatingip_details,
    Table.REQUIRED_ADDRESSES: old_schema.required_floatingips,
    Table.HOST_ALLOCATIONS: old_schema.host_allocations,
    Table.FLOATINGIP_ALLOCATIONS: old_schema.floatingip_allocations,
    Table.HOSTS: old_schema.computehosts,
    Table.PROPERTIES: old_schema.resource_properties,
    Table.CAPABILITIES: old_schema.capabilities,
    Table.INVENTORIES: old_schema.inventories,
    Table.TRAITS: old_schema.traits,
    Table.FLOATINGIPS: old_schema.floatingips,
}


_RANDOM = (tables.work.c.claim_number, tables.resources.c.generation)


def everything(engine: sa.Engine) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of a database of this service, without columns that have random values."""
    with engine.connect() as connection:
        return {
            each.name: [
                tuple(row)
                for row in connection.execute(
                    sa.select(*(column for column in each.columns if column not in _RANDOM)).order_by(
                        *each.primary_key.columns
                    )
                )
            ]
            for each in tables.metadata.sorted_tables
        }


def counts(result: Result, fate: Fate) -> dict[Table, int]:
    """Return the number of rows with a fate, for each table that has any."""
    fates = result.plan.ledger.fates
    return {table: fates[table][fate] for table in Table if fates[table][fate]}


@pytest.fixture
def context(here: sa.Engine, context_on: ContextOn) -> Context:
    return context_on(here)


@pytest.fixture
def service(there: sa.Engine) -> SqlOldService:
    return SqlOldService(url_of(there))


def test_every_row_is_imported_or_said_not_to_be(
    context: Context, service: SqlOldService, example: OldInstallation
) -> None:
    result = import_database(context, service, "operator")

    ledger = result.plan.ledger
    assert {table: fates.total() for table, fates in ledger.fates.items()} == {
        table: len(example.rows[source]) for table, source in SOURCES.items()
    }
    assert counts(result, Fate.HERE) == {}
    assert set(counts(result, Fate.OVER)) == {Table.HOST_ALLOCATIONS, Table.FLOATINGIP_ALLOCATIONS}
    left_out = sum(counts(result, Fate.LEFT_OUT).values())
    # A row that is left out with its lease, host or duplicate has its own finding: at least one per row.
    assert len(ledger.findings) >= left_out > 0
    absent = {Kind.BAD_ID, Kind.NO_REVISION, Kind.PROPERTY_DUPLICATE, Kind.GONE_HERE, Kind.DIFFERS}
    assert {each.kind for each in ledger.findings} == set(Kind) - absent


def test_ids_are_kept(context: Context, service: SqlOldService, example: OldInstallation) -> None:
    result = import_database(context, service, "operator")

    left_out = {each.subject.rpartition(" ")[2] for each in result.plan.ledger.findings}
    for source, table in (
        (old_schema.leases, tables.leases),
        (old_schema.reservations, tables.reservations),
        (old_schema.events, tables.events),
        (old_schema.computehosts, tables.hosts),
        (old_schema.floatingips, tables.floatingips),
        (old_schema.resource_properties, tables.resource_properties),
    ):
        there = {str(row["id"]) for row in example.rows[source]}
        with context.store.read() as transaction:
            here = set(transaction.leases._connection.scalars(sa.select(table.c.id)))  # type: ignore[attr-defined]
        # A lease without an end event gets one.
        assert len(here - there) <= (1 if source is old_schema.events else 0)
        assert there - here <= left_out


def test_what_was_imported_can_be_shown(context: Context, service: SqlOldService) -> None:
    import_database(context, service, "operator")

    with context.store.read() as transaction:
        leases, hosts = transaction.leases.list(), transaction.of(HOST_STORE).list()
        properties = transaction.of(HOST_STORE).list_properties()
        assert transaction.allocations.list_overlaps(10) == ()
    shown = [lease_view(each, context.plugins) for each in leases]
    assert len(shown) >= 1000
    assert {each["status"] for each in shown} >= {each.value for each in LeaseStatus} - {
        "CREATING",
        "UPDATING",
    }
    assert [host_view(each)["rack"] for each in hosts if each.id == "102"] == ["rack of 102"]
    assert {each.name: each.is_private for each, _ in properties} == {"rack": False, "price": True}


def test_a_dry_run_reports_the_same_and_writes_nothing(
    context: Context, service: SqlOldService, here: sa.Engine
) -> None:
    before = everything(here)

    dry = import_database(context, service, "operator", is_dry_run=True)

    assert everything(here) == before
    wet = import_database(context, service, "operator")
    assert wet.plan.ledger.findings == dry.plan.ledger.findings
    assert wet.plan.ledger.fates == dry.plan.ledger.fates


def test_a_second_import_doubles_and_changes_nothing(
    context: Context, service: SqlOldService, here: sa.Engine
) -> None:
    first = import_database(context, service, "operator")
    before = everything(here)

    second = import_database(context, service, "operator")

    assert everything(here) == before
    assert counts(second, Fate.IMPORTED) == {}
    assert counts(second, Fate.HERE)[Table.LEASES] == counts(first, Fate.IMPORTED)[Table.LEASES]
    totals = {table: fates.total() for table, fates in second.plan.ledger.fates.items()}
    assert totals == {table: fates.total() for table, fates in first.plan.ledger.fates.items()}


@pytest.mark.parametrize("commits", [1, 2, 4, 5])
def test_one_that_is_interrupted_is_completed_by_the_next(
    context: Context, service: SqlOldService, here: sa.Engine, context_on: ContextOn, commits: int
) -> None:
    with pytest.raises(Interrupted):
        import_database(context_on(FailingEngine(here, commits)), service, "operator")  # type: ignore[arg-type]
    import_database(context, service, "operator")
    interrupted = everything(here)

    with here.begin() as connection:
        for table in reversed(tables.metadata.sorted_tables):
            connection.execute(sa.delete(table))
    import_database(context, service, "operator")

    whole = everything(here)
    for name in ("leases", "reservations", "events", "hosts", "host_capabilities", "floatingips", "work"):
        assert interrupted[name] == whole[name], name
    held = [{row[1:] for row in found["allocations"]} for found in (interrupted, whole)]
    assert held[0] == held[1]


def test_nothing_is_written_to_the_database_that_is_taken_over(
    context: Context, service: SqlOldService, there: sa.Engine
) -> None:
    def rows() -> dict[str, list[Any]]:
        with there.connect() as connection:
            return {
                each.name: list(connection.execute(sa.select(each).order_by(*each.columns)))
                for each in old_schema.metadata.sorted_tables
            }

    before = rows()
    import_database(context, service, "operator")

    assert rows() == before
    with service._snapshot() as connection, pytest.raises(sa.exc.DBAPIError):
        connection.execute(sa.delete(old_schema.events))


def test_all_of_it_is_read_as_of_one_instant(service: SqlOldService, there: sa.Engine) -> None:
    if there.dialect.name == "sqlite":
        return  # in a file, a reader blocks writers
    event = {"id": "late", "event_type": "inspect", "time": None, "status": "UNDONE"}
    count = sa.select(sa.func.count()).select_from(old_schema.events)
    with service._snapshot() as connection:
        before = connection.scalar(count)
        with there.begin() as other:
            other.execute(sa.insert(old_schema.events), [event])
        try:
            assert connection.scalar(count) == before
        finally:
            with there.begin() as other:
                other.execute(sa.delete(old_schema.events).where(old_schema.events.c.id == "late"))


def test_an_allocation_made_meanwhile_is_noticed(
    context: Context, service: SqlOldService, here: sa.Engine, context_on: ContextOn
) -> None:
    def promise() -> None:
        with context.store.begin() as transaction:
            transaction.allocations.touch(["1"])  # type: ignore[list-item]
            transaction.commit()

    # after everything is read, before the second batch of leases is written
    with pytest.raises(ConcurrentUpdate):
        import_database(context_on(FailingEngine(here, 4, promise)), service, "operator")  # type: ignore[arg-type]


def test_every_lease_has_in_its_journal_that_it_was_imported_and_what_was_found(
    context: Context, service: SqlOldService
) -> None:
    import_database(context, service, "operator")

    lease_id = id_of("second on host 101"), id_of("first on host 101")
    with context.store.read() as transaction:
        entries = [transaction.journal.list(each) for each in lease_id]
        imported = Counter(each.lease_id for each in transaction.journal.list_event("import"))
        leases = transaction.leases.list()
    (loser,) = (each for each in entries if len(each) > 1)
    assert [each.reason for each in loser[:1]] == ["PENDING -> PENDING"]
    assert {each.event for each in loser[1:]} == {"import.finding"}
    assert any(each.reason.startswith("promised-twice: host 101 of reservation ") for each in loser)
    assert all(imported[each.id] == 1 for each in leases)
    assert {each.actor for each in loser} == {"operator"}


class Interrupted(Exception):
    """The process ends."""


class FailingEngine:
    """An engine whose connections fail, or call *then*, after a number of commits."""

    def __init__(self, engine: sa.Engine, commits: int, then: Any = None) -> None:
        self._engine = engine
        self._left = commits
        self._then = then

    def connect(self) -> Any:
        return FailingConnection(self._engine.connect(), self)

    def count(self) -> None:
        self._left -= 1
        if self._left == 0:
            if self._then is None:
                raise Interrupted
            self._then()


class FailingConnection:
    """A connection that counts its commits."""

    def __init__(self, connection: sa.Connection, engine: FailingEngine) -> None:
        self._connection = connection
        self._engine = engine

    def __enter__(self) -> FailingConnection:
        self._connection.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._connection.__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execution_options(self, **options: Any) -> FailingConnection:
        self._connection.execution_options(**options)
        return self

    def commit(self) -> None:
        self._connection.commit()
        self._engine.count()
