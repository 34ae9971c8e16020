"""Pages of lists: every item comes once, in order, and few rows are read for a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count

import pytest
import sqlalchemy as sa
from clocks import EPOCH, ManualClock
from databases import empty_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import HOUR, at, make_floatingip, make_host, make_lease
from statements import counted

from blazar.db.connection import Connection
from blazar.db.store import SqlStore
from blazar.domain.errors import InvalidParameter
from blazar.domain.health import Diagnosis, Health
from blazar.domain.lease import Lease, LeaseId, LeaseStatus, ResourceId
from blazar.domain.paging import Page, SortKey
from blazar.plugins.floatingips.store import FLOATING_IP_STORE, FloatingIPFilter
from blazar.plugins.hosts.store import HOST_STORE, HostFilter
from blazar.ports.allocations import DateRanges
from blazar.ports.store import LeaseFilter

DEFAULT = (SortKey("created_at"),)
KEYS = ("created_at", "start_date", "end_date", "name", "id")
MANY = 3_000
FAILED = Diagnosis(health=Health.FAILED, problem="no response")


def insert(store: SqlStore, *leases: Lease) -> None:
    with store.begin() as transaction:
        transaction.leases.insert_many(leases)
        transaction.commit()


def page(
    store: SqlStore,
    which: LeaseFilter,
    *,
    limit: int = 99,
    sort: tuple[SortKey, ...] = DEFAULT,
    marker: str | None = None,
) -> list[str]:
    with store.read() as transaction:
        return list(transaction.leases.list_page(which, Page(limit=limit, sort=sort, marker=marker)))


def walk(store: SqlStore, which: LeaseFilter, limit: int, sort: tuple[SortKey, ...]) -> list[str]:
    """Return all ids, page by page."""
    found: list[str] = []
    while part := page(store, which, limit=limit, sort=sort, marker=found[-1] if found else None):
        assert len(part) <= limit
        found += part
    return found


SORT = st.lists(st.sampled_from(KEYS), unique=True, min_size=1, max_size=3).flatmap(
    lambda names: st.tuples(*(st.builds(SortKey, st.just(name), st.booleans()) for name in names))
)
STORED = st.tuples(
    st.sampled_from([None, EPOCH, EPOCH + HOUR]),  # created at
    st.integers(0, 2),  # start
    st.integers(0, 2),  # duration
    st.sampled_from("aBä"),  # name
    st.sampled_from(["project", "other"]),
)


def make_leases(values: Sequence[tuple[datetime | None, int, int, str, str]], prefix: str) -> list[Lease]:
    numbers = count()
    return [
        make_lease(
            f"{prefix}{next(numbers)}",
            start=start,
            end=start + 1 + duration,
            created_at=created_at,
            name=name,
            project_id=project_id,
        )
        for created_at, start, duration, name, project_id in values
    ]


def values_of(lease: Lease, key: SortKey) -> object:
    return {"created_at": lease.created_at, "start_date": lease.start, "end_date": lease.end}.get(key.name)


@settings(max_examples=60)
@given(
    values=st.lists(STORED, max_size=12),
    late=st.lists(STORED, max_size=4),
    sort=SORT,
    limit=st.integers(1, 5),
    project_id=st.sampled_from([None, "project"]),
)
def test_walking_yields_each_lease_once_in_order_also_while_others_are_added(
    database: sa.Engine,
    values: list[tuple[datetime | None, int, int, str, str]],
    late: list[tuple[datetime | None, int, int, str, str]],
    sort: tuple[SortKey, ...],
    limit: int,
    project_id: str | None,
) -> None:
    empty_tables(database)
    store = SqlStore(database, ManualClock(), {}, first_number=lambda: 0)
    leases, coming = make_leases(values, "l"), make_leases(late, "m")
    insert(store, *leases)
    which = LeaseFilter(project_id=project_id)
    expected = {each.id for each in leases if project_id in (None, each.project_id)}

    whole = page(store, which, limit=1000, sort=sort)
    assert walk(store, which, limit, sort) == whole
    assert len(whole) == len(expected)
    assert set(whole) == expected
    by_id = {each.id: each for each in leases}
    dates = [values_of(by_id[LeaseId(each)], sort[0]) for each in whole]
    known = [each for each in dates if isinstance(each, datetime)]
    assert known == sorted(known, reverse=sort[0].is_descending)

    found: list[str] = []
    while part := page(store, which, limit=limit, sort=sort, marker=found[-1] if found else None):
        found += part
        if coming:
            insert(store, coming.pop())
    assert [each for each in found if each.startswith("l")] == whole
    assert len(found) == len(set(found))
    empty_tables(database)


def test_a_marker_of_another_project_or_of_no_lease_is_unknown(store: SqlStore) -> None:
    insert(store, make_lease("mine"), make_lease("theirs", project_id="other"))

    for marker in ("theirs", "nowhere", ""):
        with pytest.raises(InvalidParameter, match=r"^marker: "):
            page(store, LeaseFilter(project_id="project"), marker=marker)
    assert page(store, LeaseFilter(), marker="mine") == ["theirs"]


def test_leases_are_filtered_by_all_conditions_at_once(store: SqlStore) -> None:
    first = make_lease("a", start=1, end=5, name="night")
    insert(
        store,
        first,
        make_lease("b", start=2, end=6, name="night", status=LeaseStatus.ACTIVE),
        make_lease("c", start=3, end=7, name="Night", reservations=0),
        make_lease("d", start=1, end=5, name="night", project_id="other", user_id="guest"),
    )

    assert page(store, LeaseFilter(name="night")) == ["a", "b", "d"]
    assert page(store, LeaseFilter(statuses=[LeaseStatus.ACTIVE])) == ["b"]
    assert page(store, LeaseFilter(statuses=[LeaseStatus.ACTIVE, LeaseStatus.PENDING])) == [
        "a",
        "b",
        "c",
        "d",
    ]
    assert page(store, LeaseFilter(user_id="guest")) == ["d"]
    assert page(store, LeaseFilter(user_id="guest", project_id="project")) == []
    assert page(store, LeaseFilter(resource_type="physical:host")) == ["a", "b", "d"]
    assert page(store, LeaseFilter(resource_type="virtual:instance")) == []
    assert page(store, LeaseFilter(dates=DateRanges(starts_after=at(2)))) == ["b", "c"]
    assert page(store, LeaseFilter(dates=DateRanges(starts_before=at(2)))) == ["a", "d"]
    assert page(store, LeaseFilter(dates=DateRanges(ends_after=at(6), ends_before=at(7)))) == ["b"]
    assert page(
        store, LeaseFilter(name="night", project_id="project", dates=DateRanges(ends_before=at(6)))
    ) == ["a"]


def test_hosts_and_addresses_are_listed_in_pages(store: SqlStore) -> None:
    hosts = [make_host(str(number), created_at=EPOCH) for number in range(4)]
    hosts[2] = replace(hosts[2], diagnosis=FAILED, availability_zone="z2")
    addresses = [make_floatingip(number) for number in range(3)]
    addresses[0] = replace(addresses[0], diagnosis=FAILED)
    by_name = (SortKey("hypervisor_hostname", is_descending=True),)
    by_address = (SortKey("floating_ip_address"),)
    with store.begin() as transaction:
        transaction.of(HOST_STORE).insert_many(hosts)
        transaction.of(FLOATING_IP_STORE).insert_many(
            [replace(addresses[0], diagnosis=FAILED), *addresses[1:]]
        )
        transaction.commit()

    with store.read() as transaction:
        host_store, ip_store = transaction.of(HOST_STORE), transaction.of(FLOATING_IP_STORE)

        def listed(marker: str | None = None, **which: object) -> Sequence[ResourceId]:
            asked = Page(limit=2, sort=by_name, marker=marker)
            return host_store.list_page(HostFilter(**which), asked)  # type: ignore[arg-type]

        assert listed() == ["3", "2"]
        assert listed("2") == ["1", "0"]
        assert listed("0") == []
        assert listed(is_reservable=True) == ["3", "1"]
        assert listed(is_reservable=False) == listed(availability_zone="z2") == ["2"]
        assert listed(hypervisor_hostname=hosts[1].hypervisor_hostname) == ["1"]
        asked = Page(limit=2, sort=by_address)
        assert ip_store.list_page(FloatingIPFilter(), asked) == ["fip-0", "fip-1"]
        assert ip_store.list_page(FloatingIPFilter(), replace(asked, marker="fip-1")) == ["fip-2"]
        assert ip_store.list_page(FloatingIPFilter(is_reservable=False), asked) == ["fip-0"]
        assert ip_store.list_page(FloatingIPFilter(address="203.0.113.202"), asked) == ["fip-2"]
        assert ip_store.list_page(FloatingIPFilter(network_id="nowhere"), asked) == []


class TestManyLeases:
    @pytest.fixture(autouse=True)
    def leases(self, store: SqlStore, engine: sa.Engine) -> None:
        """Store many leases that were all created at one instant, as by an import."""
        new = [
            make_lease(f"l{number:05}", start=number % 50, end=60, name="night", reservations=0)
            for number in range(MANY)
        ]
        insert(store, *(replace(each, events=()) for each in new))
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            analyze = {"mysql": "ANALYZE TABLE leases", "postgresql": "ANALYZE leases"}
            connection.exec_driver_sql(analyze.get(engine.dialect.name, "ANALYZE"))

    @pytest.mark.parametrize("name", ["created_at", "start_date", "end_date", "name", "id"])
    @pytest.mark.parametrize("is_descending", [False, True])
    @pytest.mark.parametrize("project_id", [None, "project"])
    def test_a_page_in_the_middle_reads_about_as_many_rows_as_it_has(
        self, store: SqlStore, engine: sa.Engine, name: str, is_descending: bool, project_id: str | None
    ) -> None:
        which, sort = LeaseFilter(project_id=project_id), (SortKey(name, is_descending),)
        marker = f"l{MANY // 2:05}"

        with counted(engine) as statements:
            found = page(store, which, limit=10, sort=sort, marker=marker)

        assert len(found) == 10
        assert statements.count("SELECT") <= 3
        assert rows_read(engine, store, which, sort, marker) <= 100


def rows_read(
    engine: sa.Engine, store: SqlStore, which: LeaseFilter, sort: tuple[SortKey, ...], marker: str
) -> int:
    """Return the rows that the database reads for a page of ten; 0 if it does not count them."""
    if engine.dialect.name != "mysql":
        return 0
    with store.read() as transaction:
        before = count_reads(transaction._connection)
        counting = count_reads(transaction._connection) - before
        transaction.leases.list_page(which, Page(limit=10, sort=sort, marker=marker))
        return count_reads(transaction._connection) - before - 2 * counting


def count_reads(connection: Connection) -> int:
    """Return the rows that MariaDB has read for a connection so far."""
    found = connection.execute(sa.text("SHOW SESSION STATUS LIKE 'Handler_read%'"))
    return sum(int(value) for _, value in found)
