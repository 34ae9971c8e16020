"""Filled databases of earlier releases are upgraded to the newest schema, and the store reads every row.

A released schema is one that an installation can have: the newest revision of a release, listed in
``schema.RELEASED``. Revisions between two releases were on no installation. The program of each release, run
by its own code, creates its schema and fills all its tables.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import sqlalchemy as sa
from clocks import EPOCH, ManualClock
from databases import KINDS, make_empty_database
from db import previous_release
from installations import require_previous_release
from plugin_cases import CASES

from blazar.db.revisions import (
    OLDEST_TABLE,
    current_revision,
    head_revision,
    is_usable,
    oldest_usable_revision,
)
from blazar.db.schema import RELEASED, contract, upgrade
from blazar.db.store import SqlStore
from blazar.domain.health import Health
from blazar.domain.lease import ReservationId, StoredSpec
from blazar.plugins.floatingips.store import FLOATING_IP_STORE
from blazar.plugins.hosts.store import HOST_STORE
from blazar.settings import Settings
from rig import releases

PROGRAMS: Final = {"0009": Path(previous_release.__file__)}
"""The program that fills a database, by the newest revision of its release."""
Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""The rows of each table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A database of an earlier release after its upgrade."""

    engine: sa.Engine
    revision: str
    said: Mapping[str, Any]
    """What the program of that release said: the number of rows of its tables, and what its store reads."""
    before: Rows
    """All rows before the upgrade."""


@pytest.fixture(scope="module", params=[(kind, revision) for kind in KINDS for revision in RELEASED], ids=str)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    require_previous_release()
    kind, revision = request.param
    with make_empty_database(kind, tmp_path_factory.mktemp("database")) as engine:
        said = fill(engine, PROGRAMS[revision])
        before = rows(engine)
        upgrade(engine)
        yield Filled(engine=engine, revision=revision, said=said, before=before)


def fill(engine: sa.Engine, program: Path) -> Mapping[str, Any]:
    python = releases.programs("previous") / "python"
    url = engine.url.render_as_string(hide_password=False)
    done = subprocess.run([str(python), str(program), url], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said: Mapping[str, Any] = json.loads(done.stdout)
    return said


def rows(engine: sa.Engine) -> Rows:
    """Return the rows of all tables but the one with the revision, in any order."""
    names = [each for each in sa.inspect(engine).get_table_names() if each != OLDEST_TABLE]
    with engine.connect() as connection:
        # Reflection would warn of the keys of MariaDB that it does not know.
        return {
            name: [dict(row) for row in connection.exec_driver_sql(f"SELECT * FROM {name}").mappings()]
            for name in names
        }


def in_order(found: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted(repr(sorted(each.items())) for each in found)


@pytest.fixture
def store(filled: Filled) -> SqlStore:
    """Return the store of this release, with the plugins of all types that the earlier one had."""
    plugins = [each.make(Settings(), None) for each in CASES.values()]
    return SqlStore(filled.engine, ManualClock(), {each.resource_type: each for each in plugins})


def test_every_released_schema_has_a_program_that_fills_it() -> None:
    assert tuple(PROGRAMS) == RELEASED


def test_every_table_of_the_earlier_release_had_rows(filled: Filled) -> None:
    assert filled.said["counts"] == {name: len(found) for name, found in filled.before.items()}
    assert min(filled.said["counts"].values()) > 0


def test_an_upgrade_keeps_every_row_and_every_value(filled: Filled) -> None:
    after = rows(filled.engine)

    for name, found in filled.before.items():
        kept = [{key: each[key] for key in found[0]} for each in after[name]]
        assert in_order(kept) == in_order(found), name


def test_leases_of_every_status_and_type_are_read_as_before(filled: Filled) -> None:
    with SqlStore(filled.engine, ManualClock(), {}).read() as transaction:
        found = json.loads(json.dumps(previous_release.read(transaction)))

    assert found == {name: filled.said[name] for name in found}
    assert len(found["leases"]) > 0


def test_the_plugins_understand_every_reservation(store: SqlStore) -> None:
    with store.read() as transaction:
        reservations = [each for lease in transaction.leases.list() for each in lease.reservations]

    assert {each.resource_type for each in reservations} == set(previous_release.TYPES.values())
    assert [each.id for each in reservations if isinstance(each.spec, StoredSpec)] == []


def test_resources_are_read_with_all_their_parts(store: SqlStore) -> None:
    with store.read() as transaction:
        first, second = sorted(transaction.of(HOST_STORE).list(), key=lambda host: host.id)
        providers = transaction.of(HOST_STORE).list_providers()
        properties = transaction.of(HOST_STORE).all_properties()
        addresses = [each.address for each in transaction.of(FLOATING_IP_STORE).list()]
        (thing,) = transaction.plugin_resources.list("other")

    assert dict(first.capabilities) == {"gpu": "true", "rack": "7"}
    assert (second.diagnosis.health, second.diagnosis.problem) == (Health.FAILED, "down")
    assert [each.name for each in providers[first.id]] == ["node-1.example.org"]
    assert {each.name: each.is_private for each in properties} == {"gpu": False, "rack": True}
    assert sorted(addresses) == ["203.0.113.201", "203.0.113.202"]
    assert (thing.name, dict(thing.facts)) == ("thing", {"size": 3})


def test_allocations_of_every_kind_are_read(store: SqlStore) -> None:
    ids = [ReservationId(f"lease-1-{each}") for each in previous_release.TYPES]
    with store.read() as transaction:
        found = transaction.allocations.of_reservations(ids)
        overlaps = transaction.allocations.list_overlaps(10)

    shares = {each.reservation_id.removeprefix("lease-1-"): each.share for each in found}
    assert overlaps == ()
    assert (shares["hosts"], shares["floatingips"]) == (None, None)
    for kind in ("instances", "flavors"):
        share = shares[kind]
        assert share is not None
        assert (share.slots, dict(share.demand.amounts)) == (2, {"VCPU": 2, "MEMORY_MB": 1024})


def test_the_work_of_managers_goes_on(filled: Filled, store: SqlStore) -> None:
    count, now = len(filled.said["leases"]), EPOCH.replace(year=EPOCH.year + 100)
    with store.begin() as transaction:
        claims = transaction.work.claim_due("manager-2", now, now, count + 1)
        messages = transaction.outbox.take(now, now, count + 1)

    assert len(claims) == len(messages) == count


def test_the_contraction_ends_the_use_by_the_earlier_release(filled: Filled) -> None:
    engine = filled.engine
    assert (current_revision(engine), oldest_usable_revision(engine)) == (head_revision(), filled.revision)

    contract(engine)

    assert oldest_usable_revision(engine) == head_revision()
    assert is_usable(engine)
