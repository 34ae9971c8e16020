"""Lists of a manager that caches leases equal those of one that reads everything."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa
from clocks import EPOCH, ManualClock
from databases import empty_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import HOUR, MINUTE, make_lease
from statements import counted

import blazar
from blazar.app.leases import cache_newest, list_leases
from blazar.booking.context import Context
from blazar.booking.lease_cache import LeaseCache
from blazar.booking.views import lease_view
from blazar.cloud.simulated import SimulatedCloud
from blazar.domain.lease import EventStatus, Lease, LeaseStatus
from blazar.manager.build import build_context
from blazar.ports.manager import JsonObject
from blazar.settings import Settings
from blazar_plugin_testing.service_env import Silent

PROJECTS = ("project", "other")


def make_manager(engine: sa.Engine, clock: ManualClock) -> Context:
    """Return a manager without cached leases and without plugins; reservations show their stored values."""
    return build_context(engine, clock, SimulatedCloud(clock), Settings(), {}, Silent())


def plain(manager: Context, project_id: str | None) -> list[JsonObject]:
    """Return the expected list by reading everything."""
    with manager.store.read() as transaction:
        return [lease_view(each, manager.plugins) for each in transaction.leases.list(project_id)]


def insert(manager: Context, leases: Sequence[Lease]) -> None:
    with manager.store.begin() as transaction:
        transaction.leases.insert_many(leases)
        transaction.commit()


def find(manager: Context, lease_id: str) -> Lease:
    with manager.store.read() as transaction:
        found = transaction.leases.find(lease_id)
    assert found is not None
    return found


def change(manager: Context, before: Lease, after: Lease) -> None:
    with manager.store.begin() as transaction:
        transaction.leases.replace(before, after, EPOCH + HOUR)
        transaction.commit()


def delete(manager: Context, lease: Lease) -> None:
    with manager.store.begin() as transaction:
        transaction.leases.delete(lease)
        transaction.commit()


def with_event_done(lease: Lease) -> Lease:
    first, *rest = lease.events
    return replace(lease, events=(replace(first, status=EventStatus.DONE), *rest))


def with_missing(lease: Lease) -> Lease:
    (first,) = lease.reservations
    return replace(lease, reservations=(replace(first, missing_resources=not first.missing_resources),))


def with_status(lease: Lease) -> Lease:
    return replace(lease, status=LeaseStatus.ERROR, name=f"{lease.name}!")


CHANGES = (with_status, with_event_done, with_missing)


class TestTwoManagers:
    @pytest.fixture
    def managers(self, engine: sa.Engine, clock: ManualClock) -> tuple[Context, Context]:
        """Return two managers that have listed three leases."""
        one, two = make_manager(engine, clock), make_manager(engine, clock)
        insert(one, [make_lease(f"l{number}", created_at=EPOCH - number * HOUR) for number in range(3)])
        for each in (one, two):
            assert [lease["id"] for lease in list_leases(each, "project")] == ["l2", "l1", "l0"]
        return one, two

    @pytest.mark.parametrize("make", CHANGES)
    def test_what_another_manager_has_changed_is_shown_changed(
        self, managers: tuple[Context, Context], make: object
    ) -> None:
        one, two = managers
        lease = find(one, "l1")
        earlier = list(list_leases(two, None))
        assert callable(make)

        change(one, lease, make(lease))

        shown = list(list_leases(two, None))
        assert shown == plain(two, None)
        assert [here == before for here, before in zip(shown, earlier, strict=True)] == [True, False, True]

    def test_what_another_manager_has_deleted_is_gone(self, managers: tuple[Context, Context]) -> None:
        one, two = managers

        delete(one, find(one, "l1"))

        assert [each["id"] for each in list_leases(two, "project")] == ["l2", "l0"]

    def test_what_another_manager_has_created_is_there_in_its_place(
        self, managers: tuple[Context, Context]
    ) -> None:
        one, two = managers

        insert(one, [make_lease("new", created_at=EPOCH - 1.5 * HOUR), make_lease("a", created_at=EPOCH)])

        assert [each["id"] for each in list_leases(two, None)] == ["l2", "new", "l1", "a", "l0"]

    def test_each_project_sees_its_own_though_all_are_known(self, managers: tuple[Context, Context]) -> None:
        one, two = managers
        insert(one, [make_lease("theirs", project_id="other")])
        list_leases(two, None)

        assert [each["id"] for each in list_leases(two, "other")] == ["theirs"]
        assert [each["id"] for each in list_leases(two, "project")] == ["l2", "l1", "l0"]
        assert list(list_leases(two, "none")) == []


def test_of_leases_that_are_known_only_the_revisions_are_read(engine: sa.Engine, clock: ManualClock) -> None:
    manager = make_manager(engine, clock)
    insert(manager, [make_lease(f"l{number}") for number in range(30)])

    with counted(engine) as first:
        assert len(list_leases(manager, "project")) == 30
    with counted(engine) as again:
        assert len(list_leases(manager, "project")) == 30
    change(manager, find(manager, "l1"), with_status(find(manager, "l1")))
    with counted(engine) as changed:
        assert len(list_leases(manager, "project")) == 30

    assert [each.count("SELECT") for each in (first, again, changed)] == [4, 1, 4]


def test_leases_that_were_cached_in_advance_are_not_read(engine: sa.Engine, clock: ManualClock) -> None:
    manager = make_manager(engine, clock)
    insert(manager, [make_lease(f"l{number:04}") for number in range(1_001)])

    cache_newest(manager)

    with counted(engine) as listed:
        assert list(list_leases(manager, None)) == plain(make_manager(engine, clock), None)
    # Those of the list, and of reading everything for comparison.
    assert listed.count("SELECT") == 1 + 3


def test_the_newest_leases_are_cached_until_the_cache_is_nearly_full(
    engine: sa.Engine, clock: ManualClock
) -> None:
    leases = [make_lease(f"l{number:04}", created_at=EPOCH - number * MINUTE) for number in range(2_001)]
    manager = replace(make_manager(engine, clock), lease_cache=LeaseCache(1_000_000))
    insert(manager, leases)

    cache_newest(manager)

    known = manager.lease_cache.recall({each.id: each.revision for each in leases})
    assert list(known) == [each.id for each in leases[: len(known)]]
    assert manager.lease_cache.is_nearly_full


def test_one_module_writes_leases_so_that_no_write_leaves_the_revision_where_it_was() -> None:
    writing = re.compile(r"\b(insert|update|delete)\(\s*(tables\.)?(leases|reservations|events)\b")
    package = Path(blazar.__file__).parent

    found = {path for path in package.rglob("*.py") if writing.search(path.read_text())}

    assert [path.relative_to(package).as_posix() for path in found] == ["db/leases.py"]


def test_more_leases_than_are_read_at_once_are_all_there(engine: sa.Engine, clock: ManualClock) -> None:
    manager = make_manager(engine, clock)
    insert(manager, [make_lease(f"l{number:04}") for number in range(1_001)])

    assert list(list_leases(manager, None)) == plain(manager, None)


STEP = st.one_of(
    st.tuples(st.just("create"), st.integers(0, 1), st.integers(0, 3)),
    st.tuples(st.just("change"), st.integers(0, 20), st.integers(0, len(CHANGES) - 1)),
    st.tuples(st.just("delete"), st.integers(0, 20), st.just(0)),
    st.tuples(st.just("list"), st.integers(0, 1), st.integers(0, 2)),
)


@settings(max_examples=40)
@given(steps=st.lists(STEP, max_size=25), most_characters=st.integers(0, 6_000))
def test_whatever_happens_a_list_is_what_reading_everything_gives(
    database: sa.Engine, steps: list[tuple[str, int, int]], most_characters: int
) -> None:
    empty_tables(database)
    clock, numbers = ManualClock(), count()
    managers = [
        replace(make_manager(database, clock), lease_cache=LeaseCache(most_characters)) for _ in range(2)
    ]
    writer, ids = managers[0], list[str]()
    for act, which, how in steps:
        if act == "create":
            ids.append(f"l{next(numbers)}")
            lease = make_lease(ids[-1], project_id=PROJECTS[which], created_at=EPOCH - how * HOUR)
            insert(writer, [lease])
        elif act == "list":
            project_id = (*PROJECTS, None)[how]
            assert list(list_leases(managers[which], project_id)) == plain(writer, project_id)
            assert managers[which].lease_cache.characters <= most_characters
        elif ids and act == "change":
            lease = find(writer, ids[which % len(ids)])
            change(writer, lease, CHANGES[how](lease))
        elif ids:
            delete(writer, find(writer, ids.pop(which % len(ids))))
    for manager in managers:
        assert list(list_leases(manager, None)) == plain(writer, None)
