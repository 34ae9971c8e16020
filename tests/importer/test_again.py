"""A repeated import after changes in the old installation or in this service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import old_schema
import pytest
import sqlalchemy as sa
from clocks import EPOCH, ManualClock
from importer.conftest import ContextOn
from importer.test_importing import FailingEngine, Interrupted
from installation import Asked, OldInstallation, hosts, id_of, instances

from blazar.booking.context import Context
from blazar.db.old_service.reader import SqlOldService
from blazar.domain.interval import Interval
from blazar.domain.lease import Lease
from blazar.importer.importing import Result, import_database
from blazar.importer.ledger import Fate, Kind, Table
from blazar.plugins.hosts.store import HOST_STORE
from blazar.ports.usage import UsageFilter

DAY = timedelta(days=1)


@dataclass(slots=True)
class ImportEnv:
    """An old installation, and this service without a manager."""

    there: OldInstallation
    context: Context
    write: Callable[[OldInstallation], SqlOldService]
    clock: ManualClock

    def add(self, name: str, *asked: Asked, days: int = 1) -> str:
        """Add a lease that starts in a number of days."""
        start = self.there.now + days * DAY
        return self.there.lease(name, start, start + DAY, *asked, status="PENDING")

    def run(self) -> Result:
        return import_database(self.context, self.write(self.there), "operator")

    def wait(self, days: int = 1) -> None:
        """Let time pass here and there."""
        self.clock.advance(days * DAY)
        self.there.now += days * DAY

    def end(self, name: str) -> None:
        """Let the existing service end a lease whose end has passed, and release its hosts."""
        for table, key in ((old_schema.leases, "id"), (old_schema.reservations, "lease_id")):
            for row in self.there.rows[table]:
                if row[key] == id_of(name):
                    row["status"] = "TERMINATED" if table is old_schema.leases else "deleted"
        self.there.rows[old_schema.host_allocations].clear()

    def complete_since(self) -> datetime | None:
        """Return the instant from which reports of usage are complete."""
        with self.context.store.read() as transaction:
            now = self.clock.now()
            return transaction.usage.read(Interval(now - DAY, now), UsageFilter(), now).complete_since

    def lease(self, name: str) -> Lease | None:
        with self.context.store.read() as transaction:
            return transaction.leases.find(id_of(name))

    def remove(self, name: str) -> None:
        """Delete a lease from this service's database; it has no objects in the cloud."""
        lease = self.lease(name)
        assert lease is not None
        with self.context.store.begin() as transaction:
            for each in lease.reservations:
                transaction.allocations.remove(each.id)
            transaction.leases.delete(lease)
            transaction.commit()


@pytest.fixture
def env(
    installation: OldInstallation,
    context_on: ContextOn,
    sqlite: sa.Engine,
    write_old: Callable[[OldInstallation], SqlOldService],
    clock: ManualClock,
) -> ImportEnv:
    for number in (1, 2):
        installation.host(number)
    return ImportEnv(installation, context_on(sqlite), write_old, clock)


def findings(result: Result) -> dict[Kind, list[str]]:
    return {kind: [each.reason for each in found] for kind, found in result.plan.ledger.of(Kind).items()}


def test_what_is_new_there_is_added(env: ImportEnv) -> None:
    env.add("a", hosts("1"))
    env.run()
    env.there.host(3)
    env.add("b", hosts("3"))

    result = env.run()

    assert env.lease("b") is not None
    assert result.plan.ledger.fates[Table.LEASES] == {Fate.IMPORTED: 1, Fate.HERE: 1}
    assert [each.id for each in result.plan.hosts] == ["3"]


def test_what_has_changed_there_is_reported_and_left_alone_here(env: ImportEnv) -> None:
    env.add("a", hosts("1"))
    env.run()
    row = env.there.rows[old_schema.leases][0]
    before, row["end_date"], row["name"] = row["end_date"], row["end_date"] + DAY, "renamed"

    result = env.run()

    (reason,) = findings(result)[Kind.DIFFERS]
    assert reason == (
        f"name is renamed there and a here; end_date is {row['end_date']:%Y-%m-%d %H:%M} there"
        f" and {before:%Y-%m-%d %H:%M} here"
    )
    lease = env.lease("a")
    assert lease is not None
    assert lease.name == "a"


def test_what_was_deleted_here_does_not_come_back(env: ImportEnv) -> None:
    env.add("a", hosts("1"))
    env.run()
    env.remove("a")
    with env.context.store.begin() as transaction:
        (found,) = (each for each in transaction.of(HOST_STORE).list() if each.id == "2")
        transaction.of(HOST_STORE).delete(found.id)
        transaction.commit()

    result = env.run()

    assert env.lease("a") is None
    assert len(findings(result)[Kind.GONE_HERE]) == 2
    assert result.plan.hosts == ()


def test_what_is_promised_here_meanwhile_stays_promised(env: ImportEnv) -> None:
    env.add("a", hosts("1"))
    env.add("slots", *[instances(*["2"] * 12)])
    env.run()
    env.add("b", hosts("1"))
    env.add("more slots", *[instances(*["2"] * 12)])

    found = findings(env.run())

    assert found[Kind.TWICE][0].startswith(f"reservation {id_of('reservation 0 of a')} of this service")
    assert found[Kind.OVERBOOKED][0].startswith(
        "12 instances, but capacity for 4 in addition to reservation "
    )
    for name in ("b", "more slots"):
        lease = env.lease(name)
        assert lease is not None
        assert lease.reservations[0].missing_resources


class TestUsage:
    """Leases that ended before the import are missing in reports of usage."""

    def test_it_is_complete_from_the_import_on(self, env: ImportEnv) -> None:
        assert env.complete_since() is None
        env.add("a", hosts("1"), days=-3)
        env.end("a")

        env.run()

        assert env.complete_since() == EPOCH

    def test_a_dry_run_or_an_import_of_nothing_changes_nothing(self, env: ImportEnv) -> None:
        import_database(env.context, env.write(env.there), "operator", is_dry_run=True)
        env.there.rows.clear()
        env.run()

        assert env.complete_since() is None

    def test_a_repeated_run_changes_nothing(self, env: ImportEnv) -> None:
        env.add("a", hosts("1"))
        env.run()
        env.wait()
        env.there.host(3)

        env.run()

        assert env.complete_since() == EPOCH

    def test_an_interrupted_import_is_complete_from_its_first_run_on(
        self, env: ImportEnv, context_on: ContextOn, sqlite: sa.Engine
    ) -> None:
        env.add("ended", hosts("1"), days=-3)
        env.end("ended")
        env.add("runs", hosts("2"), days=0)
        service = env.write(env.there)
        with pytest.raises(Interrupted):
            import_database(context_on(FailingEngine(sqlite, 2)), service, "operator")  # type: ignore[arg-type]
        env.wait()

        import_database(env.context, service, "operator")

        assert env.lease("ended") is not None
        assert env.complete_since() == EPOCH

    def test_it_is_complete_from_a_later_run_on_that_adds_what_was_created_meanwhile(
        self, env: ImportEnv
    ) -> None:
        env.run()
        env.wait(2)
        env.add("a", hosts("1"), days=-1)
        env.there.rows[old_schema.leases][0]["created_at"] = env.there.now - DAY
        env.end("a")

        env.run()

        assert env.complete_since() == EPOCH + 2 * DAY

    def test_it_is_complete_from_a_first_import_into_a_database_in_use_on(self, env: ImportEnv) -> None:
        with env.context.store.begin() as transaction:
            transaction.usage.start_at(EPOCH - 9 * DAY)
            transaction.commit()

        env.run()

        assert env.complete_since() == EPOCH
